"""Why a file cannot be read."""


class Unreadable(Exception):
    """A file's text cannot be had.

    Args:
        code: Why; `memory.upload_words` has the sentence.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

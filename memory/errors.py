"""What can go wrong in memory; callers decide by class."""


class RememberingError(Exception):
    """Memory did not do what it was asked for."""


class DocumentTooLong(RememberingError):
    """A document would be longer than it may be.

    Args:
        tokens: What it would have.
        most: What it may have.
    """

    def __init__(self, tokens: int, most: int) -> None:
        super().__init__(f"{tokens} tokens, at most {most}")
        self.tokens = tokens
        self.most = most


class DocumentChanged(RememberingError):
    """Somebody wrote a new version meanwhile.

    Args:
        version: The number that it has now.
    """

    def __init__(self, version: int) -> None:
        super().__init__(f"it is version {version} by now")
        self.version = version


class FolderRefused(RememberingError):
    """A command on the folder of memory was not carried out; the text is for the model."""


class NotShareable(RememberingError):
    """A fact cannot be shared: it holds no longer, came from outside, or is shared already."""


class UploadRefused(RememberingError):
    """A file is not taken in as a document.

    Args:
        code: Why; `memory.upload_words` has the sentence.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

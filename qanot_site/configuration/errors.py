"""What can be wrong with a file.

ConfigurationError
├── FileRefused      it says what cannot be: each mistake with its line
├── OwnedByOther     another file owns what it names
└── Overtaken        somebody changed a row after the plan was shown
"""

from collections.abc import Sequence
from dataclasses import dataclass


class ConfigurationError(Exception):
    """A file was not applied; nothing was written."""


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One thing that is wrong.

    Args:
        line: In the file, from 1; 0 where it is no line's.
    """

    line: int
    text: str


class FileRefused(ConfigurationError):
    """The file cannot be applied to this deployment.

    Args:
        file: How it was named.
    """

    def __init__(self, file: str, mistakes: Sequence[Mistake]) -> None:
        self.file = file
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """Return a line a mistake, as compilers write them."""
        return [
            f"{self.file}:{mistake.line}: {mistake.text}"
            if mistake.line
            else f"{self.file}: {mistake.text}"
            for mistake in self.mistakes
        ]


class OwnedByOther(ConfigurationError):
    """Another file owns rows that this one names."""


class Overtaken(ConfigurationError):
    """The rows are not any more what the plan was made from."""

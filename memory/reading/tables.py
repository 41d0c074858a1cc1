"""Rows of tables as lines that are understood by themselves."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

TITLE_CHARACTERS: Final = 60


def lines_of(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each row; under a row of titles, each value behind its own title.

    A piece of a table is found and read without its beginning, which is why the titles are said
    again. Empty rows are empty lines, so that a line's number is the row's.
    """
    titles: Sequence[str] = ()
    for number, row in enumerate(rows):
        cells = [" ".join(cell.split()) for cell in row]
        if number == 0 and _are_titles(cells):
            titles = cells
            yield " | ".join(cells)
        elif titles:
            yield _named(titles, cells)
        else:
            yield " | ".join(cell for cell in cells if cell)


def _named(titles: Sequence[str], cells: Sequence[str]) -> str:
    said = []
    for place, cell in enumerate(cells):
        title = titles[place] if place < len(titles) else ""
        if cell:
            said.append(f"{title}: {cell}" if title else cell)
    return "; ".join(said)


def _are_titles(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return (
        len(filled) > 1
        and len(set(filled)) == len(filled)
        and not any(_is_number(cell) or len(cell) > TITLE_CHARACTERS for cell in filled)
    )


def _is_number(cell: str) -> bool:
    return any(letter.isdigit() for letter in cell) and not any(map(str.isalpha, cell))

"""What a pack's expressions are written in."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from memory.detector.patterns import Expression, ReadyPack
from memory.detector.scanning import _packs


def _expressions(value: object) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _expressions(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _expressions(getattr(value, field.name))


@pytest.mark.parametrize("pack", _packs())
def test_every_expression_of_a_pack_compiles(pack: ReadyPack) -> None:
    """They are compiled at their first search, which a phrase's first reader must not fail at."""
    found = list(_expressions(pack))
    assert len(found) > 50
    for expression in found:
        expression.search(b"")

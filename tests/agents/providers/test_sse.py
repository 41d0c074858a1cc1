"""Events come whole, however the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.errors import StreamBroken
from agents.providers import sse
from agents.providers.sse import EventReader

STREAM = (
    b"\xef\xbb\xbf: hello\n\nevent: a\ndata: {1}\n\ndata:{2}\r\n\r\n: ping\n\n"
    b"data: first\ndata: second\nid: 7\n\nretry: 10\n\ndata\n\ndata: \xd0\xa5\xd0\xb8\n\ndata: end"
)
EVENTS = [b"{1}", b"{2}", b"first\nsecond", b"\xd0\xa5\xd0\xb8", b"end"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_cuts_do_not_matter(places: list[int]) -> None:
    reader = EventReader()
    bounds = [0, *sorted(places), len(STREAM)]
    chunks = [STREAM[a:b] for a, b in pairwise(bounds)]
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    assert events + reader.finish() == EVENTS


def test_nothing_gives_nothing() -> None:
    assert EventReader().feed(b"") == []
    assert EventReader().finish() == []


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_LINE_BYTES", 100)
    reader = EventReader()
    reader.feed(b"data: " + b"x" * 80)
    with pytest.raises(StreamBroken):
        reader.feed(b"x" * 80)

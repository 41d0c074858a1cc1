"""Figures are computed from what was noted, and from nothing else."""

import json
from uuid import UUID

import pytest

from qanot_site.bench import report
from qanot_site.bench.streams import CHUNKS, _read
from qanot_site.bench.tabs import NS_PER_MS, Exchange

TURN = UUID("01900000-0000-7000-8000-000000000000")


def _exchange(*pieces: tuple[int, int, str]) -> Exchange:
    """Make an exchange of text frames: arrival in ms, number, text."""
    accepted = {"type": "accepted", "turn": str(TURN)}
    exchange = Exchange("hello", sent_ns=0)
    exchange.frames.append((1 * NS_PER_MS, json.dumps(accepted, separators=(",", ":"))))
    for at_ms, n, text in pieces:
        frame = {"v": 1, "attempt": 1, "n": n, "type": "text", "text": text}
        exchange.frames.append((at_ms * NS_PER_MS, json.dumps(frame, separators=(",", ":"))))
    return exchange


def _stamp(*sent_ms: int) -> str:
    return "".join(f"t={at * NS_PER_MS} " for at in sent_ms)


def test_percentile_takes_the_nearest_rank() -> None:
    values = [float(number) for number in range(1, 101)]
    assert report.percentile(values, 0.95) == 95
    assert report.percentile([7.0], 0.95) == 7
    with pytest.raises(ValueError, match="no values"):
        report.percentile([], 0.5)


def test_a_chunk_is_late_by_its_coming_minus_its_sending() -> None:
    exchange = _exchange((12, 2, _stamp(10)), (60, 3, _stamp(20, 55)))
    assert exchange.turn == TURN
    late = [(came - sent) // NS_PER_MS for sent, came in exchange.chunks]
    assert late == [2, 40, 5]


def test_a_frame_that_a_replay_brings_again_counts_once() -> None:
    exchange = _exchange((12, 2, _stamp(10)), (13, 2, _stamp(10)), (20, 3, _stamp(18)))
    assert len(exchange.chunks) == 2


def test_streams_count_what_is_missing_and_what_overtook() -> None:
    whole = _exchange(*((at + 1, at + 2, _stamp(at)) for at in range(CHUNKS)))
    broken = _exchange(
        *((at + 1, at + 2, _stamp(at)) for at in range(CHUNKS) if at not in (5, 40)),
        (500, 400, _stamp(5)),
    )
    found = _read([whole, broken])
    assert (found.lost, found.out_of_order) == (1, 1)


def test_streams_at_once_are_those_that_overlap() -> None:
    early, late = (
        _exchange(*((begin + at, at + 2, _stamp(begin + at)) for at in range(CHUNKS)))
        for begin in (0, 1_000)
    )
    assert _read([early, late]).at_once == 1
    assert _read([early, early, late]).at_once == 2

"""Which frames a client of the REST channel still needs."""

import json

import pytest

from sessions.channels.rest.following import Follower, FrameHead, Position, newest_whole


def frame(attempt: int, n: int, kind: str = "text") -> str:
    return json.dumps({"v": 1, "turn": "t", "attempt": attempt, "n": n, "type": kind})


def head(attempt: int, n: int, kind: str = "text") -> FrameHead:
    return FrameHead(turn="t", attempt=attempt, n=n, type=kind)


def test_positions_are_read_and_written() -> None:
    position = Position.parse("2-13")

    assert position == Position(2, 13)
    assert str(position) == "2-13"


@pytest.mark.parametrize(
    "text", ["", "-", "1", "1-", "-1", "a-b", "1-2-3", "1--2", "١-٢", "9" * 40 + "-1"]
)
def test_what_is_no_frame_id_has_no_position(text: str) -> None:
    assert Position.parse(text) is None


def test_a_later_attempt_comes_after_an_earlier_one() -> None:
    assert Position(2, 1) > Position(1, 999)


def test_a_gap_is_seen() -> None:
    follower = Follower(Position(1, 4))

    assert follower.is_next(Position(1, 5))
    assert not follower.is_next(Position(1, 6))
    assert follower.is_next(Position(2, 1))
    assert not follower.is_next(Position(2, 2))
    assert follower.has(Position(1, 4))
    assert not follower.has(Position(1, 5))


def test_after_a_gap_only_a_snapshot_makes_the_text_whole() -> None:
    follower = Follower(Position(1, 4))

    follower.note(head(1, 6))
    assert not follower.is_whole
    follower.seen = Position(1, 6)
    follower.note(head(1, 7))
    assert not follower.is_whole
    follower.note(head(1, 8, "snapshot"))
    assert follower.is_whole


def test_a_new_client_gets_the_newest_attempt_only() -> None:
    frames = [frame(1, 1, "turn.started"), frame(1, 2), frame(2, 1, "turn.started"), frame(2, 2)]

    assert list(newest_whole(frames)) == frames[2:]


def test_a_new_client_gets_nothing_older_than_the_last_snapshot() -> None:
    frames = [frame(1, 1, "turn.started"), frame(1, 2), frame(1, 3, "snapshot"), frame(1, 4)]

    assert list(newest_whole(frames)) == frames[2:]


def test_no_frames_are_no_frames() -> None:
    assert list(newest_whole([])) == []

"""The bench's browser shows what the page would show."""

from qanot_site.bench.faults.browser import Frame, View


def _frame(n: int, kind: str = "text", *, attempt: int = 1, **fields: object) -> Frame:
    return {"v": 1, "turn": "t", "attempt": attempt, "n": n, "type": kind, **fields}


def _view(*frames: Frame) -> View:
    view = View("t")
    for frame in frames:
        view.take(frame)
    return view


def test_a_frame_that_comes_twice_is_shown_once() -> None:
    view = _view(
        _frame(1, "turn.started"), _frame(2, text="a"), _frame(2, text="a"), _frame(3, text="b")
    )
    assert view.live_text == "ab"


def test_frames_behind_a_gap_wait_for_what_is_missing() -> None:
    view = _view(_frame(1, "turn.started"))
    assert view.take(_frame(3, text="b")) == "gap"
    assert view.live_text == ""
    assert view.take(_frame(2, text="a")) is None
    assert (view.live_text, view.has_skipped) == ("ab", False)


def test_a_gap_that_the_replay_does_not_fill_is_skipped_and_known() -> None:
    view = _view(_frame(1, "turn.started"), _frame(3, text="b"))
    view.replayed()
    assert (view.live_text, view.has_skipped) == ("b", True)


def test_a_later_attempt_begins_anew() -> None:
    view = _view(
        _frame(1, "turn.started"),
        _frame(2, text="old"),
        _frame(1, "turn.started", attempt=2),
        _frame(3, text="late words of the first attempt"),
        _frame(2, text="new", attempt=2),
    )
    assert view.live_text == "new"


def test_a_snapshot_replaces_what_is_shown() -> None:
    view = _view(_frame(1, "turn.started"), _frame(7, "snapshot", text="all so far", tools=[]))
    assert view.live_text == "all so far"


def test_the_end_is_noticed_behind_all_text() -> None:
    view = _view(_frame(1, "turn.started"), _frame(2, text="a"))
    assert view.take(_frame(3, "turn.ended", state="answered")) == "ended"
    assert view.has_seen_end

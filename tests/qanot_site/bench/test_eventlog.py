"""The log is read the moment it is written, and a trap springs once."""

import json
import os

import pytest

from qanot_site.bench.faults.eventlog import Event, EventLog, NotSeen


def _line(event: str, **values: object) -> bytes:
    return json.dumps({"event": event, "process": 7, **values}).encode() + b"\n"


async def test_a_trap_springs_at_the_first_event_that_matches() -> None:
    log = EventLog()
    log.open()
    seen: list[Event] = []
    trap = log.trap(lambda event: event.name == "lease.taken", seen.append)
    os.write(log.writer, b"Preparing the database\n" + _line("bell.rung", args=[3]))
    os.write(log.writer, _line("lease.taken", turn=1, session=3) + _line("lease.taken", turn=2))
    event = await log.wait(trap, 5)
    assert seen == [event]
    assert (event.process, event.values["turn"]) == (7, 1)
    assert [found.name for found in log.events] == ["bell.rung", "lease.taken", "lease.taken"]
    log.close()


async def test_an_event_that_does_not_come_is_told_with_the_last_lines() -> None:
    log = EventLog()
    log.open()
    os.write(log.writer, b"Something else\n")
    with pytest.raises(NotSeen, match="Something else"):
        await log.wait(log.trap(lambda event: False), 0.05)
    log.close()


def test_an_event_is_of_a_session_by_whatever_it_names() -> None:
    assert Event("a", 1, {"session": 3}).is_about(session=3, turn=None)
    assert not Event("a", 1, {"session": 4}).is_about(session=3, turn=None)
    assert not Event("a", 1, {"args": [4]}).is_about(session=3, turn=None)
    assert Event("a", 1, {"turn": 9}).is_about(session=3, turn=9)
    assert not Event("a", 1, {"turn": 8}).is_about(session=3, turn=9)

"""What a turn causes anywhere says in the log whose it is."""

import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest

from qanot_site import logs
from sessions.turns.worker import Worker
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

# The model SDKs' HTTP libraries: they know nothing of turns.
LIBRARIES = ("httpx", "httpx2")


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """Collect what the libraries log, as production writes it."""
    stream = io.StringIO()
    settings = logs.configure("json")["formatters"]["lines"]
    handler = logging.StreamHandler(stream)
    handler.setFormatter(settings.pop("()")(**settings))
    loggers = [logging.getLogger(name) for name in LIBRARIES]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    yield stream
    for logger, level in zip(loggers, before, strict=True):
        logger.removeHandler(handler)
        logger.setLevel(level)


def test_lines_of_libraries_name_the_turn_and_its_session(
    scene: Scene, start_worker: Callable[[], Worker], lines: io.StringIO
) -> None:
    start_worker()
    scene.fake.play("One.", "Two.")
    turns = []
    for number in range(2):
        turn = scene.say("Hello", session=scene.conversation(f"t{number}")).turn
        wait_until(lambda turn=turn: ended(turn))  # type: ignore[misc]  # bound at once
        turns.append(turn)

    said = [json.loads(line) for line in lines.getvalue().splitlines()]
    told = [(line.get("turn"), line.get("session")) for line in said if "turn" in line]
    assert told == [(turn.pk, turn.session_id) for turn in turns]

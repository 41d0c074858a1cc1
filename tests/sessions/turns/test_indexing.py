"""A worker lets what was said be found, by word and by meaning, and ends in order."""

from collections.abc import Callable

import pytest
from pytest_django import Settings

from memory.index import legs, scopes, terms
from memory.models import MemorySettings
from sessions.turns.worker import Worker
from tests.fakes.script import answer
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_exchange_is_found_after_its_turn_by_whoever_had_it(
    scene: Scene, settings: Settings, start_worker: Callable[[], Worker]
) -> None:
    settings.QANOT_INDEX_S = 0.05
    MemorySettings.objects.create(team=scene.agent.team, embedder=MemorySettings.Embedder.BUILTIN)
    worker = start_worker()
    scene.fake.play(answer("The plov is at noon, then."))
    turn = scene.say("Where shall we eat on flight QX-4471-B?").turn
    wait_until(lambda: ended(turn))
    wait_until(lambda: scopes.visible(turn.viewer).vectors >= 2)
    visible = scopes.visible(turn.viewer)
    found = legs.keyword(visible, terms.of_query("qx-4471-b"))
    rows = legs.passages(visible, [one.id for one in found if one.is_exact])
    assert [(row.text, row.source, row.author_id) for row in rows.values()] == [
        ("Where shall we eat on flight QX-4471-B?", turn.ref, scene.person.pk)
    ]
    worker.close()

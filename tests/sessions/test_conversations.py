"""Conversations and their printed keys."""

import pytest

from sessions import conversations
from sessions.models import Generation
from tests.sessions.conftest import Scene

pytestmark = pytest.mark.django_db(transaction=True)


def test_conversation_is_found_again_by_its_route(scene: Scene) -> None:
    again = scene.conversation("first")
    assert again == scene.session
    assert Generation.objects.filter(session=again).count() == 1


def test_printed_key_tells_the_route(scene: Scene) -> None:
    assert scene.session.key == (
        f"agent:{scene.agent.public_id}:webchat:direct:{scene.person.public_id}:first"
    )


def test_person_sees_own_conversations_newest_first(scene: Scene) -> None:
    other = scene.conversation("second")
    scene.say("older")
    scene.say("newer", session=other)
    assert list(conversations.of_person(scene.person)) == [other, scene.session]

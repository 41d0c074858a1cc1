"""Who may reach which web conversation: the statement by hand says what the queryset says."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.utils import timezone

from agents.models import Agent, Membership, Team, User
from agents.services import people
from sessions import conversations
from sessions.channels.webchat import access
from sessions.models import ChannelAccount, ChatSession, Turn
from tests import factories
from tests.sessions.channels.webchat_rows import make_someone

pytestmark = pytest.mark.django_db

CHANGES: dict[str, Callable[[], object]] = {
    "none": lambda: None,
    "left the team": lambda: Membership.objects.all().delete(),
    "left it as a superuser": lambda: (
        Membership.objects.all().delete(),
        User.objects.update(is_superuser=True),
    ),
    "archived team": lambda: Team.objects.update(archived_at=timezone.now()),
    "archived team of a superuser": lambda: (
        Team.objects.update(archived_at=timezone.now()),
        User.objects.update(is_superuser=True),
    ),
    "archived agent": lambda: Agent.objects.update(archived_at=timezone.now()),
    "archived conversation": lambda: ChatSession.objects.update(archived_at=timezone.now()),
    "another channel": lambda: ChannelAccount.objects.update(channel="rest"),
    "a group": lambda: ChatSession.objects.update(kind=ChatSession.Kind.GROUP),
    "nobody's": lambda: ChatSession.objects.update(person=None),
    "a turn that is over": lambda: Turn.objects.update(state=Turn.State.ANSWERED),
}


@pytest.mark.parametrize("change", CHANGES)
def test_single_look_finds_what_the_list_shows(change: str) -> None:
    owner = make_someone()
    others = [make_someone("bobur", owner.team), make_someone("gulnora")]
    session = conversations.open_direct(
        agent=owner.agent,
        account=conversations.channel_account(owner.team, ChannelAccount.Channel.WEBCHAT),
        person=people.person_of(owner.user, owner.team),
        thread=str(uuid4()),
    )
    turn = factories.turn(session=session)
    CHANGES[change]()

    for someone in (owner, *others):
        user = User.objects.get(pk=someone.user.pk)
        listed = access.conversations_of(user).filter(pk=session.pk).first()
        found = access.conversation(user, session.public_id)
        assert found == listed
        if found is not None and listed is not None:
            assert vars(found)["is_running"] == vars(listed)["is_running"]
            assert (found.agent, found.account, found.person) == (
                listed.agent,
                listed.account,
                listed.person,
            )
        by_turn = access.turn(user, turn.public_id)
        assert (by_turn.session if by_turn else None) == listed

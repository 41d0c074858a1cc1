"""Rows to begin with: people who may log in, their conversations, and what they said before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import transaction
from django.utils import timezone

from agents.core.messages import AssistantMessage, Reply, TextBlock, Usage, dump_reply
from agents.models import (
    Agent,
    AgentDocument,
    ChainLink,
    Membership,
    Person,
    ProviderAccount,
    Team,
    UsageRecord,
    User,
)
from agents.services import people, ritual
from memory import notes, wal
from qanot_site.bench.deployment import KEY_VARIABLE
from sessions import conversations, inbox
from sessions.models import (
    ChannelAccount,
    ChatSession,
    Content,
    Generation,
    InboundMessage,
    Outgoing,
    TranscriptEntry,
    Turn,
    TurnStep,
)

# A model whose price is known, so that every call is priced as a real one.
MODEL: Final = "claude-sonnet-5-5"
APART: Final = timedelta(minutes=2)

_QUESTIONS: Final = (
    "What did we decide about the delivery dates for the northern shops, and who told them?",
    "Can you put the three offers side by side, with prices, and say what you would take?",
    "Which of the open points from last week are still waiting for an answer from the bank?",
    "Write two polite sentences to the supplier: the pallets came wet and we want new ones.",
    "How many orders came in since yesterday, and are there more than in the week before?",
)
_ANSWERS: Final = (
    "The northern shops get their goods on Tuesdays and Fridays from the second week of the month "
    "on. Two of them have confirmed. The third wanted to look at its staff plan first and has not "
    "answered yet; I would ask again today, because the carrier needs the final list by Thursday.",
    "Here is the short version. The first offer is the cheapest, but it leaves out the insurance. "
    "The second one costs a little more and includes everything that you asked for. The third is "
    "only cheaper from the hundredth piece on. I would take the second, and ask for a discount.",
)
# Facts that a person told: found by the detector, kept in MEMORY.md and in the prompt.
_FACTS: Final = (
    "My name is Bobur and I prefer short answers.",
    "Remember that the warehouse closes at six on Fridays.",
)


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody who is logged in, as their browser knows it."""

    person: Person
    cookie: str


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation of a guest."""

    guest: Guest
    session: ChatSession

    @property
    def id(self) -> UUID:
        """Return the conversation's public id."""
        return self.session.public_id


def agent_with(provider_url: str) -> Agent:
    """Return the first agent, asking the fake provider; its first conversation is over."""
    agent = Agent.objects.select_related("team").order_by("id")[0]
    account = ProviderAccount.objects.create(
        team=agent.team,
        name="Fake",
        kind=ProviderAccount.Kind.ANTHROPIC,
        base_url=provider_url,
        may_reach_private=True,
        key_reference=f"env:{KEY_VARIABLE}",
    )
    ChainLink.objects.create(agent=agent, account=account, model=MODEL, window_tokens=200_000)
    # A day's cap is counted, as for everybody, but thousands of turns must fit below it.
    agent.daily_cap_usd = Decimal(999_999)
    agent.save(update_fields=["daily_cap_usd"])
    # What is measured is an ordinary turn, not the one conversation that follows BOOTSTRAP.md.
    AgentDocument.objects.filter(agent=agent, name=ritual.DOCUMENT).update(
        archived_at=timezone.now()
    )
    return agent


@transaction.atomic
def talks(agent: Agent, count: int, *, prefix: str, earlier: int = 0) -> list[Talk]:
    """Make people with one conversation each.

    Args:
        prefix: Begins their names, which are theirs alone.
        earlier: Messages that each of them has sent and had answered.
    """
    account = conversations.channel_account(agent.team, ChannelAccount.Channel.WEBCHAT)
    made = []
    for number in range(count):
        guest = _guest(agent.team, f"{prefix}{number}")
        session = conversations.open_direct(
            agent=agent, account=account, person=guest.person, thread="bench"
        )
        made.append(Talk(guest, session))
        if earlier:
            _tell_facts(session)
            _exchanges(session, earlier)
    return made


def _guest(team: Team, name: str) -> Guest:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, team=team)
    return Guest(person=people.person_of(user, team), cookie=_login(user))


def _login(user: User) -> str:
    """Open a login session as the login page does; return its cookie."""
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    store[SESSION_KEY] = str(user.pk)
    # The first one only counts failed logins.
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return f"{settings.SESSION_COOKIE_NAME}={store.session_key}"


def _tell_facts(session: ChatSession) -> None:
    for number, fact in enumerate(_FACTS):
        wal.append(
            fact,
            viewer=inbox.viewer_of(session),
            source=f"seed:{session.pk}.{number}",
            thread=f"session:{session.pk}/1",
            author_id=session.person_id,
            at=timezone.now(),
        )


def _exchanges(session: ChatSession, count: int) -> None:
    """Write answered messages as the turns that answered them would have left them."""
    generation = Generation.objects.get(session=session, closed_at=None)
    begin = timezone.now() - APART * (count + 1)
    times = [begin + APART * number for number in range(count)]
    questions = [f"{number}: {_QUESTIONS[number % len(_QUESTIONS)]}" for number in range(count)]
    answers = [_ANSWERS[number % len(_ANSWERS)] for number in range(count)]
    turns = Turn.objects.bulk_create(
        [_turn(session, generation, at) for at in times], batch_size=500
    )
    asked = _contents(session, questions)
    replied = _contents(session, [_reply(answer) for answer in answers])
    messages = InboundMessage.objects.bulk_create(
        [_message(session, *columns) for columns in zip(turns, asked, strict=True)],
        batch_size=500,
    )
    TurnStep.objects.bulk_create(
        [_step(*columns) for columns in zip(turns, replied, strict=True)], batch_size=500
    )
    TranscriptEntry.objects.bulk_create(
        [
            entry
            for turn, message, reply in zip(turns, messages, replied, strict=True)
            for entry in _entries(turn, message, reply)
        ],
        batch_size=500,
    )
    _afterwards(session, turns)
    for turn, question, answer in zip(turns[-20:], questions[-20:], answers[-20:], strict=True):
        notes.add_exchange(
            viewer=inbox.viewer_of(session),
            question=question,
            answer=answer,
            at=turn.accepted_at,
            time_zone=session.agent.time_zone,
            source=turn.ref,
        )


def _turn(session: ChatSession, generation: Generation, at: datetime) -> Turn:
    end = at + timedelta(seconds=4)
    return Turn(
        session=session,
        generation=generation,
        state=Turn.State.ANSWERED,
        viewer_person_id=session.person_id,
        is_private=True,
        attempt=1,
        accepted_at=at,
        claimed_at=at,
        request_sent_at=at,
        first_token_at=at + timedelta(seconds=1),
        last_token_at=end,
        committed_at=end,
        delivered_at=end,
    )


def _contents(session: ChatSession, texts: Sequence[str]) -> list[Content]:
    return Content.objects.bulk_create(
        [Content(team_id=session.team_id, text=text) for text in texts], batch_size=500
    )


def _reply(text: str) -> str:
    usage = Usage(input_tokens=900, output_tokens=80)
    return dump_reply(Reply(AssistantMessage((TextBlock(text),)), "end", usage, MODEL))


def _message(session: ChatSession, turn: Turn, content: Content) -> InboundMessage:
    return InboundMessage(
        account_id=session.account_id,
        sender=f"person:{session.peer}",
        external_id=f"seed-{turn.pk}",
        body_digest=f"{turn.pk:064x}",
        session=session,
        person_id=session.person_id,
        turn=turn,
        content=content,
        status=InboundMessage.Status.ANSWERED,
        received_at=turn.accepted_at,
    )


def _step(turn: Turn, content: Content) -> TurnStep:
    return TurnStep(
        turn=turn,
        number=1,
        kind=TurnStep.Kind.MODEL,
        name=MODEL,
        attempt=1,
        content=content,
        started_at=turn.accepted_at,
        finished_at=turn.committed_at,
    )


def _entries(turn: Turn, message: InboundMessage, reply: Content) -> list[TranscriptEntry]:
    columns = {"generation_id": turn.generation_id, "turn": turn, "created_at": turn.committed_at}
    return [
        TranscriptEntry(
            **columns,
            role=TranscriptEntry.Role.USER,
            content_id=message.content_id,
            message=message,
        ),
        TranscriptEntry(**columns, role=TranscriptEntry.Role.ASSISTANT, content=reply),
    ]


def _afterwards(session: ChatSession, turns: Sequence[Turn]) -> None:
    Outgoing.objects.bulk_create(
        [
            Outgoing(
                account=session.account,
                session=session,
                turn=turn,
                state=Outgoing.State.SENT,
                created_at=turn.accepted_at,
                sent_at=turn.committed_at,
            )
            for turn in turns
        ],
        batch_size=500,
    )
    UsageRecord.objects.bulk_create(
        [
            UsageRecord(
                origin=turn.ref,
                team_id=session.team_id,
                agent_id=session.agent_id,
                person_id=session.person_id,
                channel=ChannelAccount.Channel.WEBCHAT,
                model=MODEL,
                input_tokens=900,
                output_tokens=80,
            )
            for turn in turns
        ],
        batch_size=500,
    )

"""Two teams with one row of everything, for the admin's tests."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from agents.core.messages import AssistantMessage, Reply, TextBlock, ToolCall, dump_reply
from agents.models import (
    Agent,
    AgentDocument,
    ApiToken,
    AuditEvent,
    ChainLink,
    Chat,
    DocumentProposal,
    File,
    Identity,
    Invitation,
    LoginRecord,
    Membership,
    Person,
    ProviderAccount,
    Team,
    ToolGrant,
    UsageRecord,
    User,
)
from agents.services import documents, files
from memory.models import (
    DailyNote,
    MemoryDocument,
    MemoryDocumentVersion,
    MemoryProposal,
    MemorySettings,
    Origin,
    Scope,
    UploadedDocument,
    WalEntry,
)
from sessions.models import (
    Attachment,
    ChannelAccount,
    ChannelContact,
    ChatSession,
    Content,
    Generation,
    InboundMessage,
    Outgoing,
    PairingRequest,
    TranscriptEntry,
    Turn,
    TurnStep,
)

Role = Membership.Role
EVIL = "<img src=x onerror=alert(1)>"
AGENT_DEFAULTS: dict[str, Any] = {
    "keeps_memory": "on",
    "auto_recall": "on",
    "extracts_facts": "on",
    "detector_pack": "standard",
    "private_facts": "private",
    "speech_model": "whisper-1",
}
"""What an agent's page sends of memory and hearing where nobody chose anything else."""
# Stands in every text that belongs to a person, and nowhere else.
PRIVATE = "zaytun-private"
SHARED = "zaytun-shared"


@dataclass
class Side:
    """One team, its people by role, and its rows by model."""

    team: Team
    users: dict[str, User] = field(default_factory=dict)
    rows: dict[type[models.Model], list[Any]] = field(default_factory=dict)

    def add(self, row: Any) -> Any:
        """Remember a row under its model."""
        self.rows.setdefault(type(row), []).append(row)
        return row

    def make(self, model: type[models.Model], /, **values: Any) -> Any:
        """Store a row and remember it."""
        return self.add(model._default_manager.create(**values))

    def one(self, model: type[models.Model]) -> Any:
        """Return the first row of a model."""
        return self.rows[model][0]


def build_side(name: str, *, at: datetime | None = None) -> Side:
    """Store a team with one private and one shared conversation and all that hangs on them."""
    at = at or timezone.now()
    team = Team.objects.create(name=f"Team {name} {EVIL}", slug=name)
    side = Side(team)
    side.add(team)
    for role in Role.values:
        user = side.users[role] = side.make(User, username=f"{name}-{role}")
        side.make(Membership, user=user, team=team, role=role)
    # The person whose private texts these are: reads the admin as an operator.
    human = side.users["person"] = side.make(User, username=f"{name}-person")
    side.make(Membership, user=human, team=team, role=Role.OPERATOR)
    person = side.make(Person, team=team, user=human, display_name=f"Person {name} {EVIL}")
    side.make(Identity, team=team, person=person, channel="telegram", external_id=f"id-{name}")
    chat = side.make(
        Chat, team=team, channel="telegram", external_id=f"chat-{name}", title=f"Chat {name} {EVIL}"
    )
    agent = side.make(Agent, team=team, name=f"Agent {name} {EVIL}", slug=name)
    account = side.make(
        ProviderAccount, team=team, name=f"Account {name}", kind=ProviderAccount.Kind.ANTHROPIC
    )
    side.make(ChainLink, agent=agent, account=account, model="claude-x")
    side.make(ToolGrant, agent=agent, tool="current_time")
    side.make(
        ApiToken, team=team, person=person, name="Token", prefix="qanot_x", digest=name.ljust(64)
    )
    side.make(
        Invitation,
        team=team,
        note=f"For {name} {EVIL}",
        digest=f"i{name}".ljust(64),
        created_by=side.users["owner"],
        expires_at=at + timedelta(days=36_500),
    )
    side.make(LoginRecord, user=human, session_key=f"key-{name}", user_agent=f"Browser {EVIL}")
    _build_bot(side, agent, person, at)
    _build_documents(side, agent, person)
    side.make(
        DocumentProposal,
        agent=agent,
        name="IDENTITY.md",
        text=f"Name: {SHARED} {EVIL}",
        reason=f"Reason {EVIL}",
        source=f"turn:{name}",
        person=person,
    )
    _build_conversation(side, agent, person=person, at=at)
    _build_conversation(side, agent, chat=chat, at=at)
    _build_memory(side, agent, person, at)
    side.make(
        File,
        team=team,
        person=person,
        name=f"{PRIVATE}.txt",
        media_type="text/plain",
        size_bytes=3,
        sha256="0" * 64,
        origin="message:1",
        content="files/x",
    )
    side.make(UsageRecord, origin="turn:1", team_id=team.pk, agent_id=agent.pk, model="claude-x")
    side.make(AuditEvent, team_id=team.pk, actor="user:1", action="test", subject="agent:1")
    # What services wrote meanwhile.
    side.rows[AuditEvent] = list(AuditEvent.objects.filter(team_id=team.pk))
    return side


def _build_bot(side: Side, agent: Agent, person: Person, at: datetime) -> None:
    """Store a bot, somebody who writes to it, and their wish to be let in."""
    name = side.team.slug
    bot = side.make(
        ChannelAccount,
        team=side.team,
        agent=agent,
        channel=ChannelAccount.Channel.TELEGRAM,
        name=f"Bot {name} {EVIL}",
        bot_id=10_000_000_000 + side.team.pk,
        username=f"{name}_bot",
    )
    contact = side.make(
        ChannelContact,
        account=bot,
        external_id=f"contact-{name}",
        person=person,
        username=f"u_{name}",
        display_name=f"Contact {name} {EVIL}",
    )
    side.make(
        PairingRequest,
        contact=contact,
        code="7KX4PM",
        created_at=at,
        expires_at=at + timedelta(days=36_500),
    )


def _build_documents(side: Side, agent: Agent, person: Person) -> None:
    shared = AgentDocument(agent=agent, name="SOUL.md")
    private = AgentDocument(agent=agent, name="USER.md", person=person)
    for document, text in ((shared, SHARED), (private, PRIVATE)):
        side.add(documents.save(document, text=text, author=None, reason="first"))
        side.add(document)


def _build_conversation(
    side: Side,
    agent: Agent,
    *,
    at: datetime,
    person: Person | None = None,
    chat: Chat | None = None,
) -> None:
    """Store a session with one finished turn: a message, a tool call, an answer."""
    team = side.team
    text = f"{PRIVATE if person else SHARED} {EVIL}"
    channel, _ = ChannelAccount.objects.get_or_create(
        team=team, channel=ChannelAccount.Channel.WEBCHAT, name="default"
    )
    if channel not in side.rows.get(ChannelAccount, []):
        side.add(channel)
    session = side.make(
        ChatSession,
        team=team,
        agent=agent,
        account=channel,
        kind=ChatSession.Kind.DIRECT if person else ChatSession.Kind.GROUP,
        peer="p" if person else "g",
        person=person,
        chat=chat,
        title=text,
        last_interaction_at=at,
    )
    generation = side.make(Generation, session=session)
    turn = side.make(
        Turn,
        session=session,
        generation=generation,
        state=Turn.State.ANSWERED,
        is_private=person is not None,
        attempt=1,
        notice={"v": 1, "code": "repeated_call", "values": {"tool": text}},
        manifest={"v": 1, "parts": [{"name": "SOUL.md", "characters": 10}]},
        accepted_at=at,
        claimed_at=at + timedelta(milliseconds=8),
        request_sent_at=at + timedelta(milliseconds=21),
        first_token_at=at + timedelta(milliseconds=640),
        last_token_at=at + timedelta(milliseconds=2140),
        committed_at=at + timedelta(milliseconds=2152),
        delivered_at=at + timedelta(milliseconds=2160),
    )
    asked = side.make(Content, team=team, text=text)
    message = side.make(
        InboundMessage,
        account=channel,
        sender="s",
        external_id=f"{session.pk}",
        body_digest="0" * 64,
        session=session,
        person=person,
        turn=turn,
        content=asked,
        payload={"text": text},
        received_at=at,
    )
    file = side.add(
        files.store(
            text.encode(),
            name=f"{PRIVATE if person else SHARED}.txt",
            media_type="text/plain",
            team_id=team.pk,
            person_id=person.pk if person else None,
            chat_id=chat.pk if chat else None,
            origin=message.ref,
        )
    )
    side.make(
        Attachment,
        message=message,
        number=1,
        kind=Attachment.Kind.DOCUMENT,
        name=file.name,
        file=file,
        state=Attachment.State.FETCHED,
    )
    reply = Reply(
        message=AssistantMessage(
            blocks=(TextBlock(text), ToolCall(id="c1", name="current_time", arguments={}))
        ),
        stop_reason="end",
        usage=None,
        model="claude-x",
    )
    answered = side.make(Content, team=team, text=dump_reply(reply))
    for number, kind, name, content in (
        (1, TurnStep.Kind.MODEL, "claude-x", answered),
        (2, TurnStep.Kind.TOOL, "current_time", asked),
    ):
        side.make(
            TurnStep,
            turn=turn,
            number=number,
            kind=kind,
            name=name,
            attempt=1,
            content=content,
            error=text,
            started_at=at,
            finished_at=at + timedelta(seconds=1),
        )
    for role, content in (
        (TranscriptEntry.Role.USER, asked),
        (TranscriptEntry.Role.ASSISTANT, answered),
    ):
        side.make(
            TranscriptEntry,
            generation=generation,
            turn=turn,
            role=role,
            content=content,
            message=message if role == TranscriptEntry.Role.USER else None,
            created_at=at,
        )
    side.make(
        Outgoing,
        account=session.account,
        session=session,
        turn=turn,
        state=Outgoing.State.SENT,
        created_at=at,
    )


def _build_memory(side: Side, agent: Agent, person: Person, at: datetime) -> None:
    team = side.team
    scopes: Iterator[tuple[dict[str, Any], str]] = iter(
        (
            ({"scope": Scope.PERSON, "agent": agent, "person": person}, PRIVATE),
            ({"scope": Scope.AGENT, "agent": agent}, SHARED),
        )
    )
    for scope, word in scopes:
        text = f"{word} {EVIL}"
        side.make(
            WalEntry,
            team=team,
            **scope,
            category=WalEntry.Category.REMEMBER,
            text=text,
            is_durable=True,
            origin=Origin.PERSON,
            source="message:1",
            thread="session:1/1",
            created_at=at,
        )
        document = side.make(MemoryDocument, team=team, **scope, text=text, version_number=1)
        side.make(MemoryDocumentVersion, document=document, number=1, text=text, source="message:1")
        side.make(
            MemoryProposal, document=document, base_version=1, text=text, source="consolidation:1"
        )
        side.make(
            DailyNote,
            team=team,
            **scope,
            day=at.date(),
            occurred_at=at,
            question=text,
            answer=text,
            source=f"turn:{team.pk}-{scope['scope']}",
        )
        _build_upload(side, scope, word)
    side.make(MemorySettings, team=team)


def _build_upload(side: Side, scope: dict[str, Any], word: str) -> None:
    person = scope.get("person")
    name = f"{word}-document.txt"
    digest = scope["scope"].encode().hex().ljust(64, "0")
    file = side.make(
        File,
        team=side.team,
        person=person,
        name=name,
        media_type="text/plain",
        size_bytes=3,
        sha256=digest,
        origin="document",
        content="files/y",
    )
    side.make(
        UploadedDocument,
        team=side.team,
        **scope,
        file=file,
        name=name,
        sha256=digest,
        state=UploadedDocument.State.READY,
        parts={"v": 1, "parts": [{"text": f"{word} {EVIL}"}]},
        source="user:1",
    )

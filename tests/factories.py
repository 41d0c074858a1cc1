"""One factory a model, with the fewest fields that make a row; what a test is about it names.

A factory makes the rows that its own row needs where the test gives none, in the same team.
"""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from django.core.files.base import ContentFile
from django.utils import timezone

from agents.core.messages import AssistantMessage, Reply, TextBlock, dump_reply
from agents.models import (
    Agent,
    AgentDocument,
    AgentDocumentVersion,
    ApiToken,
    AuditEvent,
    BootstrapRitual,
    ChainLink,
    Chat,
    DocumentProposal,
    File,
    Identity,
    Invitation,
    LoginLink,
    LoginRecord,
    Membership,
    Person,
    ProviderAccount,
    Team,
    ToolGrant,
    UsageRecord,
    User,
)
from memory.models import (
    DailyNote,
    EmbeddingSpace,
    FreshTerms,
    IndexVersion,
    MemoryDocument,
    MemoryDocumentVersion,
    MemoryProposal,
    MemoryScope,
    MemorySettings,
    MemoryThread,
    Origin,
    Passage,
    PassageVector,
    Posting,
    Scope,
    UploadedDocument,
    WalEntry,
)
from memory.models.index import POSITION_BITS
from sessions.models import (
    Attachment,
    ChannelAccount,
    ChannelContact,
    ChannelUpdate,
    ChatSession,
    Content,
    Extraction,
    Generation,
    InboundMessage,
    Outgoing,
    OutgoingPart,
    OverheardMessage,
    PairingLink,
    PairingRequest,
    TranscriptEntry,
    Turn,
    TurnFreeze,
    TurnStep,
    WorkerProcess,
)

# Any: columns of the row, by name; the model checks them.
Columns = Any

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
_numbers = count(1)


def _row(given: Mapping[str, Columns], **fewest: Columns) -> dict[str, Columns]:
    """Return the columns of a row: what the test gave, and the fewest others."""
    return {**fewest, **given}


# --- agents ------------------------------------------------------------------------------------


def team(**given: Columns) -> Team:
    """Make a team."""
    number = next(_numbers)
    return Team.objects.create(**_row(given, name=f"Team {number}", slug=f"team-{number}"))


def user(**given: Columns) -> User:
    """Make a user who may log in, without a password."""
    return User.objects.create_user(**_row(given, username=f"user{next(_numbers)}"))


def membership(**given: Columns) -> Membership:
    """Make a user a member of a team."""
    return Membership.objects.create(
        **_row(given, user=given.get("user") or user(), team=given.get("team") or team())
    )


def person(**given: Columns) -> Person:
    """Make a person without a login."""
    return Person.objects.create(
        **_row(given, team=given.get("team") or team(), display_name=f"Person {next(_numbers)}")
    )


def member(**given: Columns) -> Person:
    """Make a person whose user is a member of the person's team."""
    owner = given.get("user") or user()
    made = person(**_row(given, user=owner))
    Membership.objects.create(user=owner, team=made.team)
    return made


def identity(**given: Columns) -> Identity:
    """Make a person known on a channel."""
    owner = given.get("person") or person()
    return Identity.objects.create(
        **_row(
            given,
            person=owner,
            team=owner.team,
            channel="telegram",
            external_id=str(next(_numbers)),
        )
    )


def chat(**given: Columns) -> Chat:
    """Make a group on a channel."""
    return Chat.objects.create(
        **_row(
            given,
            team=given.get("team") or team(),
            channel="telegram",
            external_id=str(-next(_numbers)),
        )
    )


def api_token(**given: Columns) -> ApiToken:
    """Make a token's row; for one whose secret is known call ``tokens.issue``."""
    owner = given.get("person") or person()
    number = next(_numbers)
    return ApiToken.objects.create(
        **_row(
            given,
            person=owner,
            team=owner.team,
            name=f"Token {number}",
            prefix=f"qanot_{number:06d}",
            digest=f"{number:064x}",
            scopes=[ApiToken.Scope.CHAT],
        )
    )


def invitation(**given: Columns) -> Invitation:
    """Make an invitation that still holds; its secret is nobody's."""
    return Invitation.objects.create(
        **_row(
            given,
            team=given.get("team") or team(),
            digest=f"{next(_numbers):064x}",
            expires_at=timezone.now() + timedelta(days=1),
        )
    )


def login_record(**given: Columns) -> LoginRecord:
    """Make the record of a log-in whose session is gone."""
    return LoginRecord.objects.create(
        **_row(given, user=given.get("user") or user(), session_key=f"key{next(_numbers)}")
    )


def login_link(**given: Columns) -> LoginLink:
    """Make a link's row; for one whose secret is known call ``login_links.issue``."""
    return LoginLink.objects.create(
        **_row(
            given,
            user=given.get("user") or user(),
            digest=f"{next(_numbers):064x}",
            expires_at=timezone.now() + timedelta(hours=1),
        )
    )


def agent(**given: Columns) -> Agent:
    """Make an agent without documents, tools or providers."""
    number = next(_numbers)
    return Agent.objects.create(
        **_row(
            given,
            team=given.get("team") or team(),
            name=f"Agent {number}",
            slug=f"agent-{number}",
        )
    )


def agent_document(**given: Columns) -> AgentDocument:
    """Make a persona document, without a version."""
    return AgentDocument.objects.create(
        **_row(given, agent=given.get("agent") or agent(), name="SOUL.md")
    )


def agent_document_version(**given: Columns) -> AgentDocumentVersion:
    """Make one version of a persona document."""
    return AgentDocumentVersion.objects.create(
        **_row(given, document=given.get("document") or agent_document(), number=1)
    )


def document_proposal(**given: Columns) -> DocumentProposal:
    """Make an agent's open proposal for its IDENTITY.md."""
    return DocumentProposal.objects.create(
        **_row(
            given,
            agent=given.get("agent") or agent(),
            name="IDENTITY.md",
            text="Name: Bee",
            source=f"turn:{next(_numbers)}",
        )
    )


def bootstrap_ritual(**given: Columns) -> BootstrapRitual:
    """Make an agent's first conversation."""
    return BootstrapRitual.objects.create(
        **_row(given, agent=given.get("agent") or agent(), session="session:1")
    )


def tool_grant(**given: Columns) -> ToolGrant:
    """Grant an agent a tool."""
    return ToolGrant.objects.create(
        **_row(given, agent=given.get("agent") or agent(), tool="current_time")
    )


def provider_account(**given: Columns) -> ProviderAccount:
    """Make an account at a provider."""
    return ProviderAccount.objects.create(
        **_row(
            given,
            team=given.get("team") or team(),
            name=f"Account {next(_numbers)}",
            kind=ProviderAccount.Kind.ANTHROPIC,
            key_reference="env:FAKE_KEY",
        )
    )


def chain_link(**given: Columns) -> ChainLink:
    """Put an account into an agent's chain."""
    owner = given.get("agent") or agent()
    return ChainLink.objects.create(
        **_row(
            given,
            agent=owner,
            account=given.get("account") or provider_account(team=owner.team),
            model="fake-model",
        )
    )


def file(**given: Columns) -> File:
    """Make a file of two bytes."""
    return File.objects.create(
        **_row(
            given,
            team=given.get("team") or team(),
            name="note.txt",
            media_type="text/plain",
            size_bytes=2,
            sha256="8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",
            origin="message:1",
            content=ContentFile(b"hi", name="note.txt"),
        )
    )


def usage_record(**given: Columns) -> UsageRecord:
    """Make the record of one model call that used nothing."""
    return UsageRecord.objects.create(**_row(given, origin="turn:1", team_id=1, model="fake-model"))


def audit_event(**given: Columns) -> AuditEvent:
    """Make one audited act."""
    return AuditEvent.objects.create(
        **_row(given, actor="user:1", action="view", subject="content:1")
    )


# --- memory ------------------------------------------------------------------------------------


def _scoped(given: Mapping[str, Columns]) -> dict[str, Columns]:
    """Return the columns of the scope that was given, or of a person's."""
    if "scope" in given:
        return {}
    keeper = given.get("agent") or agent()
    return {
        "agent": keeper,
        "team": keeper.team,
        "scope": Scope.PERSON,
        "person": given.get("person") or person(team=keeper.team),
    }


def wal_entry(**given: Columns) -> WalEntry:
    """Make a noted fact, in a person's scope if no other is given."""
    return WalEntry.objects.create(
        **_row(
            given,
            **_scoped(given),
            category=WalEntry.Category.REMEMBER,
            text="The gate code changes on Monday",
            is_durable=True,
            origin=Origin.PERSON,
            source="message:1",
            thread="session:1/1",
            created_at=timezone.now(),
        )
    )


def memory_document(**given: Columns) -> MemoryDocument:
    """Make a MEMORY.md, in a person's scope if no other is given."""
    return MemoryDocument.objects.create(**_row(given, **_scoped(given)))


def memory_document_version(**given: Columns) -> MemoryDocumentVersion:
    """Make one version of a memory document."""
    return MemoryDocumentVersion.objects.create(
        **_row(
            given,
            document=given.get("document") or memory_document(),
            number=1,
            source="message:1",
        )
    )


def memory_proposal(**given: Columns) -> MemoryProposal:
    """Make a text that was proposed for a memory document."""
    return MemoryProposal.objects.create(
        **_row(
            given,
            document=given.get("document") or memory_document(),
            base_version=0,
            text="# MEMORY.md -- Long-Term Memory\n\n- [2025-01-15] The gate is green\n",
            source="consolidation:2025-W03",
        )
    )


def daily_note(**given: Columns) -> DailyNote:
    """Make one exchange of a day's notes, in a person's scope if no other is given."""
    return DailyNote.objects.create(
        **_row(
            given,
            **_scoped(given),
            day=NOON.date(),
            occurred_at=NOON,
            question="What is new?",
            answer="Nothing yet.",
            source=f"turn:{next(_numbers)}",
        )
    )


# --- sessions ----------------------------------------------------------------------------------


def channel_account(**given: Columns) -> ChannelAccount:
    """Make a team's web chat."""
    return ChannelAccount.objects.create(
        **_row(
            given,
            team=given.get("team") or team(),
            channel=ChannelAccount.Channel.WEBCHAT,
            name=f"door {next(_numbers)}",
        )
    )


def chat_session(**given: Columns) -> ChatSession:
    """Make one person's conversation with an agent, with its open generation."""
    owner = given.get("agent") or agent()
    speaker = given.get("person") or person(team=owner.team)
    made = ChatSession.objects.create(
        **_row(
            given,
            agent=owner,
            team=owner.team,
            account=given.get("account") or channel_account(team=owner.team),
            kind=ChatSession.Kind.DIRECT,
            person=speaker,
            peer=str(speaker.public_id),
            thread=str(next(_numbers)),
        )
    )
    Generation.objects.create(session=made)
    return made


def generation(**given: Columns) -> Generation:
    """Return a session's open generation, or make the one that is described."""
    session = given.get("session") or chat_session()
    if set(given) <= {"session"}:
        return Generation.objects.get(session=session, closed_at=None)
    return Generation.objects.create(**_row(given, session=session))


def content(**given: Columns) -> Content:
    """Make a text."""
    return Content.objects.create(**_row(given, team=given.get("team") or team(), text="Hello"))


def reply_text(text: str) -> str:
    """Return what the content of an assistant's entry or of a model's step holds."""
    return dump_reply(Reply(AssistantMessage((TextBlock(text),)), "end", None, "fake-model"))


def turn(**given: Columns) -> Turn:
    """Make a queued turn that answers nothing yet."""
    session = given.get("session") or chat_session()
    return Turn.objects.create(
        **_row(
            given,
            session=session,
            generation=given.get("generation") or generation(session=session),
            viewer_person_id=session.person_id,
            is_private=session.kind == ChatSession.Kind.DIRECT,
            accepted_at=timezone.now(),
        )
    )


def turn_freeze(**given: Columns) -> TurnFreeze:
    """Make a turn's frozen prompt."""
    return TurnFreeze.objects.create(
        **_row(
            given,
            turn=given.get("turn") or turn(),
            prompt='{"v":1,"system":[],"tool_names":[],"history_from":null}',
        )
    )


def turn_step(**given: Columns) -> TurnStep:
    """Make a model call that began."""
    return TurnStep.objects.create(
        **_row(
            given,
            turn=given.get("turn") or turn(),
            number=1,
            kind=TurnStep.Kind.MODEL,
            name="fake-model",
            attempt=1,
            started_at=timezone.now(),
        )
    )


def inbound_message(**given: Columns) -> InboundMessage:
    """Make a stored message with the turn that will answer it."""
    answering = given.get("turn") or turn(
        **({"session": given["session"]} if "session" in given else {})
    )
    session = answering.session
    return InboundMessage.objects.create(
        **_row(
            given,
            turn=answering,
            session=session,
            account=session.account,
            person=session.person,
            sender=f"person:{session.peer}",
            external_id=f"key-{next(_numbers)}",
            body_digest=f"{next(_numbers):064x}",
            content=given.get("content") or content(team=session.team),
            received_at=answering.accepted_at,
        )
    )


def transcript_entry(**given: Columns) -> TranscriptEntry:
    """Make a person's entry in the transcript."""
    of = given.get("turn") or turn()
    return TranscriptEntry.objects.create(
        **_row(
            given,
            turn=of,
            generation=of.generation,
            role=TranscriptEntry.Role.USER,
            content=given.get("content") or content(team=of.session.team),
            created_at=timezone.now(),
        )
    )


def outgoing(**given: Columns) -> Outgoing:
    """Make a queued answer."""
    of = given.get("turn") or turn()
    return Outgoing.objects.create(
        **_row(
            given,
            turn=of,
            session=of.session,
            account=of.session.account,
            created_at=timezone.now(),
        )
    )


def worker_process(**given: Columns) -> WorkerProcess:
    """Make a worker's row; nobody holds its lock."""
    return WorkerProcess.objects.create(**_row(given, name=f"tests:{next(_numbers)}"))


def telegram_account(**given: Columns) -> ChannelAccount:
    """Make a bot of Telegram, open to everybody."""
    number = next(_numbers)
    of = given.get("agent") or agent()
    return ChannelAccount.objects.create(
        **_row(
            given,
            team=of.team,
            agent=of,
            channel=ChannelAccount.Channel.TELEGRAM,
            name=f"bot {number}",
            bot_id=1_000_000 + number,
            username=f"bot{number}_bot",
            access=ChannelAccount.Access.OPEN,
        )
    )


def channel_update(**given: Columns) -> ChannelUpdate:
    """Make an update that a bot received."""
    account = given.get("account") or telegram_account()
    return ChannelUpdate.objects.create(
        **_row(
            given,
            account=account,
            update_id=next(_numbers),
            kind="message",
            received_at=timezone.now(),
        )
    )


def channel_contact(**given: Columns) -> ChannelContact:
    """Make somebody as a bot knows them, with their person."""
    account = given.get("account") or telegram_account()
    number = next(_numbers)
    return ChannelContact.objects.create(
        **_row(
            given,
            account=account,
            external_id=str(number),
            person=given.get("person") or person(team=account.team),
            display_name=f"Contact {number}",
        )
    )


def pairing_request(**given: Columns) -> PairingRequest:
    """Make an open request that is good for an hour."""
    now = timezone.now()
    return PairingRequest.objects.create(
        **_row(
            given,
            contact=given.get("contact") or channel_contact(),
            code=f"{next(_numbers):06d}",
            created_at=now,
            expires_at=now + timedelta(hours=1),
        )
    )


def pairing_link(**given: Columns) -> PairingLink:
    """Make a deep link that is good for an hour."""
    account = given.get("account") or telegram_account()
    return PairingLink.objects.create(
        **_row(
            given,
            account=account,
            person=given.get("person") or person(team=account.team),
            digest=f"{next(_numbers):064x}",
            expires_at=timezone.now() + timedelta(hours=1),
        )
    )


def overheard_message(**given: Columns) -> OverheardMessage:
    """Make a message that a group said to somebody else."""
    account = given.get("account") or telegram_account()
    return OverheardMessage.objects.create(
        **_row(
            given,
            account=account,
            chat=given.get("chat") or chat(team=account.team),
            author_name="Somebody",
            content=given.get("content") or content(team=account.team),
            said_at=timezone.now(),
        )
    )


def outgoing_part(**given: Columns) -> OutgoingPart:
    """Make the first part of an outgoing row."""
    return OutgoingPart.objects.create(
        **_row(
            given,
            outgoing=given.get("outgoing") or outgoing(),
            number=1,
            tried_at=timezone.now(),
        )
    )


def attachment(**given: Columns) -> Attachment:
    """Make a picture that waits to be fetched."""
    return Attachment.objects.create(
        **_row(
            given,
            message=given.get("message") or inbound_message(),
            number=1,
            kind=Attachment.Kind.PHOTO,
            reference=f"file-{next(_numbers)}",
        )
    )


def memory_settings(**given: Columns) -> MemorySettings:
    """Make a team's memory settings: the built-in embedder."""
    return MemorySettings.objects.create(**_row(given, team=given.get("team") or team()))


def embedding_space(**given: Columns) -> EmbeddingSpace:
    """Make a space of three dimensions, without an index."""
    return EmbeddingSpace.objects.create(
        **_row(given, identity=f"fake {next(_numbers)}", dimensions=3)
    )


def index_version(**given: Columns) -> IndexVersion:
    """Make a team's active index, searched by words only."""
    return IndexVersion.objects.create(
        **_row(
            given,
            team=given.get("team") or team(),
            chunk_characters=900,
            chunk_overlap=100,
            pack="1",
            state=IndexVersion.State.ACTIVE,
            is_filled=True,
            activated_at=timezone.now(),
        )
    )


def memory_scope(**given: Columns) -> MemoryScope:
    """Make a person's scope in an index, if no other is given."""
    scoped = _scoped(given)
    columns = _row(given, **scoped)
    columns["version"] = given.get("version") or index_version(team=columns["team"])
    return MemoryScope.objects.create(**columns)


def memory_thread(**given: Columns) -> MemoryThread:
    """Make an empty thread."""
    return MemoryThread.objects.create(
        **_row(given, scope=given.get("scope") or memory_scope(), name="session:1/1")
    )


def passage(**given: Columns) -> Passage:
    """Make what somebody said, not yet indexed."""
    thread = given.get("thread") or memory_thread()
    position = thread.next_position
    MemoryThread.objects.filter(pk=thread.pk).update(next_position=position + 1)
    text = str(given.get("text", "The gate code changes on Monday"))
    return Passage.objects.create(
        **_row(
            given,
            id=thread.pk << POSITION_BITS | position,
            scope=thread.scope,
            thread=thread,
            position=position,
            kind=Passage.Kind.EXCHANGE,
            origin=Origin.PERSON,
            source=f"turn:{next(_numbers)}",
            occurred_at=timezone.now(),
            text=text,
            folded=text.casefold(),
            digest=uuid.uuid4(),
        )
    )


def posting(**given: Columns) -> Posting:
    """Make a block of one entry."""
    made = given.get("passage") or passage()
    given = {name: value for name, value in given.items() if name != "passage"}
    return Posting.objects.create(
        **_row(
            given,
            scope=made.scope,
            term=next(_numbers),
            first=made.pk,
            entries=[made.pk << 15 | 1 << 8 | 6],
        )
    )


def passage_vector(**given: Columns) -> PassageVector:
    """Make a passage's vector of three dimensions."""
    made = given.get("passage") or passage()
    return PassageVector.objects.create(
        **_row(
            given,
            passage=made,
            scope=made.scope,
            space=given.get("space") or embedding_space(),
            digest=made.digest,
            vector=[1.0, 0.0, 0.0],
        )
    )


def uploaded_document(**given: Columns) -> UploadedDocument:
    """Make a document that waits to be read, in a person's scope if no other is given."""
    columns = _row(given, **_scoped(given), name="note.txt", source="user:1")
    made = given.get("file") or file(team=columns["team"])
    return UploadedDocument.objects.create(**columns | {"file": made, "sha256": made.sha256})


def extraction(**given: Columns) -> Extraction:
    """Make a stretch of one turn that waits to be read for facts, and is due."""
    turns = given.get("turn") or turn()
    given = {name: value for name, value in given.items() if name != "turn"}
    return Extraction.objects.create(
        **_row(
            given,
            session=turns.session,
            generation=turns.generation,
            first_turn_id=turns.pk,
            last_turn_id=turns.pk,
            due_at=timezone.now() - timedelta(seconds=1),
        )
    )


def fresh_terms(**given: Columns) -> FreshTerms:
    """Make the terms of a passage that stand in no block yet: one."""
    made = given.get("passage") or passage()
    term = (next(_numbers)).to_bytes(8, "little")
    return FreshTerms.objects.create(
        **_row(given, scope=made.scope, passage=made, terms=term + b"\x01\x06")
    )

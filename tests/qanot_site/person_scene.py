"""Somebody who told an agent much, in private and in a group, beside somebody else."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.files.base import ContentFile
from django.db import models
from django.db.models import F, Value
from django.db.models.functions import Concat

from agents.core.viewer import Viewer
from agents.models import Agent, AgentDocument, Chat, Person
from agents.services import audit, documents
from agents.services.portability import subject_of, tables
from memory import documents as memory_documents
from memory import notes, sharing, wal
from memory.index import exchanges, postings
from memory.index.work import finish
from memory.models import MemorySettings, Scope, WalEntry
from sessions.models import ChatSession, InboundMessage, Turn
from tests import factories

# Stands in every text of the person, and nowhere else.
CANARY = "zqcanary"
SAID = f"My name is Z{CANARY[1:].title()} and I prefer {CANARY} tea."
OTHERS = "I prefer black coffee in the garden."
NOON = datetime(2025, 1, 15, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Scene:
    """One person's data, and another's beside it."""

    agent: Agent
    person: Person
    other: Person
    chat: Chat
    group: ChatSession
    other_said: InboundMessage

    def viewer(self, person: Person) -> Viewer:
        """Return a person in their private chat."""
        return Viewer(self.agent.team_id, self.agent.pk, person_id=person.pk, is_private=True)

    @property
    def in_group(self) -> Viewer:
        """Return the other person in the group."""
        return Viewer(
            self.agent.team_id, self.agent.pk, person_id=self.other.pk, chat_id=self.chat.pk
        )


def build(*, with_vectors: bool = False) -> Scene:
    """Store the scene: rows by the services that write them, and one of every other kind."""
    agent = factories.agent()
    team = agent.team
    if not with_vectors:
        factories.memory_settings(team=team, embedder=MemorySettings.Embedder.NONE)
    person = factories.member(team=team, display_name=f"Aziza {CANARY}")
    merged = factories.person(team=team, display_name=f"Az {CANARY}", merged_into=person)
    other = factories.person(team=team, display_name="Bobur")
    chat = factories.chat(team=team)
    bot = factories.telegram_account(team=team, agent=agent)
    private = factories.chat_session(agent=agent, account=bot, person=person, title=SAID)
    group = ChatSession.objects.create(
        agent=agent, team=team, account=bot, kind=ChatSession.Kind.GROUP, peer="-1", chat=chat
    )
    factories.generation(session=group, number=1)
    factories.identity(person=person, external_id=f"4242{CANARY}")
    contact = factories.channel_contact(account=bot, person=merged, display_name=CANARY)
    factories.pairing_request(contact=contact)
    factories.pairing_link(account=bot, person=person)
    factories.api_token(person=person, team=team, name=f"Phone of {CANARY}")
    _say(private, person, SAID)
    finish()
    # Terms of what was said stand in blocks, those of what follows in rows of their own.
    postings.join_fresh(1)
    _say(group, person, SAID)
    quoted = factories.content(team=team, text=f'[#1 quotes "Aziza"]\n{SAID}\n[#1 end]')
    other_said = _say(group, other, OTHERS, context=quoted)
    factories.overheard_message(
        account=bot, chat=chat, person=person, content=factories.content(team=team, text=SAID)
    )
    fact = WalEntry.objects.filter(person=person, is_durable=True).first()
    assert fact is not None
    assert person.user is not None
    sharing.share(fact, to="agent", by=person.user, at=NOON)
    _write_documents(agent, person)
    turn = Turn.objects.filter(session=private).latest("pk")
    factories.extraction(turn=turn)
    factories.turn_freeze(turn=turn, prompt=SAID)
    factories.uploaded_document(
        agent=agent,
        team=team,
        scope=Scope.PERSON,
        person=person,
        name=f"{CANARY}.txt",
        file=factories.file(team=team, person=person),
        parts={"v": 1, "x": SAID},
    )
    factories.bootstrap_ritual(agent=agent, person=person)
    factories.usage_record(team_id=team.pk, person_id=person.pk, origin="turn:1")
    audit.record(
        team_id=team.pk,
        actor=contact.external_id,
        action="person.changed",
        subject=f"person:{person.pk}",
        reason=f"Aziza {CANARY}",
        changes={"display_name": [CANARY, f"Aziza {CANARY}"]},
    )
    LogEntry.objects.create(
        user=person.user,
        content_type=ContentType.objects.get_for_model(Person),
        object_id=str(person.pk),
        object_repr=f"Aziza {CANARY}",
        action_flag=CHANGE,
    )
    finish()
    return Scene(agent, person, other, chat, group, other_said)


def _say(session: ChatSession, person: Person, text: str, **message: Any) -> InboundMessage:
    """Let somebody say something, and all that follows from it."""
    team = session.team
    content = factories.content(team=team, text=text)
    turn = factories.turn(session=session, viewer_person_id=person.pk, state=Turn.State.ANSWERED)
    said = factories.inbound_message(
        session=session, turn=turn, person=person, content=content, **message
    )
    answer = factories.content(team=team, text=factories.reply_text(f"Noted: {text}"))
    factories.turn_step(turn=turn, content=answer)
    factories.transcript_entry(turn=turn, content=content, message=said)
    factories.transcript_entry(turn=turn, content=answer, role="assistant")
    sent = factories.outgoing(turn=turn)
    factories.outgoing_part(outgoing=sent)
    file = factories.file(
        team=team,
        person=None if session.chat_id else person,
        chat=session.chat,
        origin=said.ref,
        content=ContentFile(text.encode(), name="note.txt"),
    )
    factories.attachment(
        message=said, file=file, transcript=factories.content(team=team, text=text)
    )
    viewer = Viewer(
        team.pk,
        session.agent_id,
        person_id=person.pk,
        chat_id=session.chat_id,
        is_private=session.chat_id is None,
    )
    thread = f"session:{session.pk}/1"
    wal.append(text, viewer=viewer, source=said.ref, thread=thread, author_id=person.pk, at=NOON)
    wal.note(
        f"Told about: {text}", viewer=viewer, source=f"{turn.ref} call_1", thread=thread, at=NOON
    )
    exchanges.add(
        viewer=viewer, said=text, answer=f"Noted: {text}", at=NOON, time_zone="UTC",
        source=turn.ref, thread=thread,
    )  # fmt: skip
    notes.add_exchange(
        viewer=viewer, question=text, answer=text, at=NOON, time_zone="UTC", source=turn.ref
    )
    if session.chat_id:
        home = {"team_id": team.pk, "agent_id": session.agent_id, "scope": Scope.CHAT,
                "chat_id": session.chat_id}  # fmt: skip
        with memory_documents.locked(home, "memory/group.md") as document:
            before = document.text
        memory_documents.save(home, "memory/group.md", f"{before}{text}\n", source=f"{turn.ref} c2")
    return said


def _write_documents(agent: Agent, person: Person) -> None:
    document = AgentDocument(agent=agent, name="USER.md", person=person)
    documents.save(document, text=f"Likes {CANARY}", author=None, reason=CANARY)
    factories.document_proposal(agent=agent, person=person, text=SAID, reason=SAID)
    home = {"team_id": agent.team_id, "agent_id": agent.pk, "scope": Scope.PERSON,
            "person_id": person.pk}  # fmt: skip
    own = memory_documents.save(home, "memory/plans.md", SAID, source="user:1")
    factories.memory_proposal(document=own, text=SAID)


def fill(person: Person) -> set[tuple[type[models.Model], str]]:
    """Write the canary into every text column of the person's rows that are said to be emptied.

    So a column that comes later is looked at without anybody thinking of it.
    """
    subject = subject_of(person, by="test")
    filled = set()
    for table in tables():
        if getattr(table.model, "append_only", False) or not table.is_exported:
            continue
        keys = list(table.rows(subject).values_list("pk", flat=True))
        kept = {"source", "origin", "thread", "scope", "content", "language", "state", *table.keeps}
        for column in text_columns(table.model):
            if column.choices or column.unique or column.name in kept:
                continue
            rows = table.model._default_manager.filter(pk__in=keys)
            # What has it already may be what another row is found by.
            rows.exclude(**{f"{column.name}__icontains": CANARY}).update(
                **{
                    column.name: {"v": 1, "x": CANARY}
                    if isinstance(column, models.JSONField)
                    else Concat(Value(CANARY), F("pk"), output_field=models.TextField())
                }
            )
            filled.add((table.model, column.name))
    return filled


def text_columns(model: type[models.Model]) -> "list[models.Field[Any, Any]]":
    """Return a model's columns that hold text or JSON."""
    kinds = (models.CharField, models.TextField, models.JSONField)
    return [column for column in model._meta.concrete_fields if isinstance(column, kinds)]

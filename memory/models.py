"""Rows of what an agent keeps. Each belongs to one scope, and every read names its viewer."""

from typing import ClassVar, Self, TypeVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.core.viewer import Viewer
from agents.models import Agent, Chat, Person, Team, User


class Scope(models.TextChoices):
    """Whose part of memory a row lies in."""

    PERSON = "person", _("a person")
    CHAT = "chat", _("a group chat")
    AGENT = "agent", _("the agent")
    TEAM = "team", _("the team")


M = TypeVar("M", bound=models.Model)

# `visible_to` for statements written by hand (agents/sql.py); a test holds both against each
# other for every kind of viewer.
VISIBLE_SQL = """(team_id = %s AND (
    (scope = 'team' AND agent_id IS NULL)
    OR (scope = 'agent' AND agent_id = %s)
    OR (scope = 'chat' AND agent_id = %s AND chat_id = %s)
    OR (scope = 'person' AND agent_id = %s AND person_id = %s)))"""


def visible_values(viewer: Viewer) -> list[int | None]:
    """Return the values of ``VISIBLE_SQL``; a scope that is not the viewer's equals NULL."""
    agent_id, person_id = viewer.agent_id, viewer.person_id if viewer.sees_person else None
    return [viewer.team_id, agent_id, agent_id, viewer.chat_id, agent_id, person_id]


class ScopedQuerySet(models.QuerySet[M]):
    """Reads narrowed by viewer or by scope."""

    def visible_to(self, viewer: Viewer) -> Self:
        """Return the rows that may be shown to this viewer: what is not theirs is not there."""
        visible = models.Q(scope=Scope.TEAM, agent=None)
        visible |= models.Q(scope=Scope.AGENT, agent_id=viewer.agent_id)
        if viewer.chat_id is not None:
            visible |= models.Q(scope=Scope.CHAT, agent_id=viewer.agent_id, chat_id=viewer.chat_id)
        if viewer.sees_person:
            visible |= models.Q(
                scope=Scope.PERSON, agent_id=viewer.agent_id, person_id=viewer.person_id
            )
        return self.filter(visible, team_id=viewer.team_id)


class ScopedModel(models.Model):
    """A row in exactly one scope."""

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="+", verbose_name=_("team")
    )
    scope = models.CharField(_("scope"), max_length=8, choices=Scope)
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("agent"),
    )
    person = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("person"),
    )
    chat = models.ForeignKey(
        Chat,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("chat"),
    )

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(
                    scope=Scope.PERSON, agent__isnull=False, person__isnull=False, chat__isnull=True
                )
                | models.Q(
                    scope=Scope.CHAT, agent__isnull=False, person__isnull=True, chat__isnull=False
                )
                | models.Q(
                    scope=Scope.AGENT, agent__isnull=False, person__isnull=True, chat__isnull=True
                )
                | models.Q(
                    scope=Scope.TEAM, agent__isnull=True, person__isnull=True, chat__isnull=True
                ),
                name="%(class)s_scope_has_its_owner",
            ),
        ]


def scope_of(viewer: Viewer) -> dict[str, object]:
    """Return the columns of the scope in which this viewer's own words are kept.

    A private chat's facts go into the person's part, a group's into the group's; with neither
    they are nobody's and go into no scope.

    Raises:
        ValueError: The viewer has neither a private person nor a group.
    """
    if viewer.chat_id is not None:
        return {
            "team_id": viewer.team_id,
            "agent_id": viewer.agent_id,
            "scope": Scope.CHAT,
            "chat_id": viewer.chat_id,
        }
    if viewer.sees_person:
        return {
            "team_id": viewer.team_id,
            "agent_id": viewer.agent_id,
            "scope": Scope.PERSON,
            "person_id": viewer.person_id,
        }
    raise ValueError("a viewer without a private person or a group owns no scope")


def owns_scope(viewer: Viewer) -> bool:
    """Return whether there is a scope for what this viewer says."""
    return viewer.chat_id is not None or viewer.sees_person


class Origin(models.TextChoices):
    """Where a remembered text comes from."""

    PERSON = "person", _("said by a person")
    AGENT = "agent", _("noted by the agent")
    UNTRUSTED = "untrusted", _("from outside, untrusted")
    SYSTEM = "system", _("the platform")


class WalEntry(ScopedModel):
    """One fact noted before the agent answered (write-ahead log)."""

    class Category(models.TextChoices):
        """The six kinds of Qanot AI's log, and the wish that something be forgotten."""

        CORRECTION = "correction", _("correction")
        PROPER_NOUN = "proper_noun", _("name")
        PREFERENCE = "preference", _("preference")
        DECISION = "decision", _("decision")
        SPECIFIC_VALUE = "specific_value", _("value")
        REMEMBER = "remember", _("to remember")
        FORGET = "forget", _("to forget")

    category = models.CharField(_("category"), max_length=16, choices=Category)
    text = models.TextField(_("text"))
    value = models.CharField(
        _("value"),
        max_length=300,
        blank=True,
        help_text=_("What the fact is about, without the words around it."),
    )
    is_negated = models.BooleanField(_("negated"), default=False)
    language = models.CharField(_("language"), max_length=8, blank=True)
    # Of the folded text: the same fact in other words of case, script, apostrophe is one row.
    fingerprint = models.CharField(max_length=64, blank=True, editable=False)
    mentions = models.PositiveIntegerField(_("said so often"), default=1)
    last_said_at = models.DateTimeField(_("last said at"), null=True, blank=True)
    confidence = models.FloatField(
        _("confidence"), null=True, blank=True, help_text=_("Where a model noted it: 0 to 1.")
    )
    evidence = models.TextField(
        _("evidence"), blank=True, help_text=_("The person's own words, where a model noted it.")
    )
    is_durable = models.BooleanField(_("kept in MEMORY.md"))
    author = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    origin = models.CharField(_("origin"), max_length=16, choices=Origin)
    source = models.CharField(_("source"), max_length=200, help_text="message:12")
    thread = models.CharField(_("conversation"), max_length=64, help_text="session:3/1")
    created_at = models.DateTimeField(_("created at"))
    retracted_at = models.DateTimeField(
        _("taken back at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("Its person said that it should not have been noted, or to forget it."),
    )
    superseded_by = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="supersedes",
        verbose_name=_("replaced by"),
    )
    superseded_at = models.DateTimeField(_("replaced at"), null=True, blank=True, editable=False)
    shared_from = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="shares",
        verbose_name=_("shared from"),
    )
    accepted_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("accepted by"),
        help_text=_("Who let an untrusted text count as a fact."),
    )
    accepted_at = models.DateTimeField(_("accepted at"), null=True, blank=True, editable=False)

    objects = ScopedQuerySet.as_manager()

    class Meta(ScopedModel.Meta):
        verbose_name = _("noted fact")
        verbose_name_plural = _("noted facts")
        ordering = ("-created_at", "-id")
        indexes: ClassVar = [
            models.Index(fields=["agent", "person", "created_at"], name="wal_by_person"),
            models.Index(fields=["agent", "chat", "created_at"], name="wal_by_chat"),
            # The few rows of agents and teams: each way that a row may be visible has its index.
            models.Index(
                fields=["team", "scope", "created_at"],
                name="wal_by_shared_scope",
                condition=models.Q(scope__in=["agent", "team"]),
            ),
            models.Index(fields=["thread", "created_at"], name="wal_by_thread"),
            models.Index(fields=["source"], name="wal_by_source"),
            models.Index(fields=["agent", "fingerprint"], name="wal_by_fingerprint"),
            models.Index(fields=["-created_at", "-id"], name="wal_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.get_category_display()} · {self.source}"


class MemoryDocument(ScopedModel):
    """A scope's MEMORY.md (or another document of its memory); the text is the newest version."""

    name = models.CharField(_("name"), max_length=100, default="MEMORY.md")
    text = models.TextField(_("text"), blank=True)
    version_number = models.PositiveIntegerField(_("version"), default=0, editable=False)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    objects = ScopedQuerySet.as_manager()

    class Meta(ScopedModel.Meta):
        verbose_name = _("memory document")
        verbose_name_plural = _("memory documents")
        constraints: ClassVar = [
            *ScopedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["team", "agent", "scope", "person", "chat", "name"],
                nulls_distinct=False,
                name="memory_document_once_a_scope",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-updated_at", "-id"], name="memory_newest_first"),
        ]

    def __str__(self) -> str:
        return self.name


class MemoryDocumentVersion(models.Model):
    """What a memory document said from one write to the next."""

    document = models.ForeignKey(
        MemoryDocument,
        on_delete=models.PROTECT,
        related_name="versions",
        verbose_name=_("document"),
    )
    number = models.PositiveIntegerField(_("number"))
    text = models.TextField(_("text"), blank=True)
    source = models.CharField(_("source"), max_length=200)
    author = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
        help_text=_("Who changed it in the admin; empty where the platform or the agent did."),
    )
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("memory document version")
        verbose_name_plural = _("memory document versions")
        ordering = ("document", "-number")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document", "number"], name="memory_version_number_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-created_at", "-id"], name="memory_version_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.document} v{self.number}"


class DailyNote(ScopedModel):
    """One entry in a day's notes: a cut of what was asked and answered, or the agent's own note."""

    day = models.DateField(_("day"))
    occurred_at = models.DateTimeField(_("at"))
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    question = models.CharField(_("question"), max_length=120, blank=True)
    answer = models.CharField(_("answer"), max_length=220, blank=True)
    text = models.TextField(
        _("note"), blank=True, help_text=_("The agent's own note, where it is no exchange.")
    )
    source = models.CharField(_("source"), max_length=64, help_text="turn:81")

    objects = ScopedQuerySet.as_manager()

    class Meta(ScopedModel.Meta):
        verbose_name = _("daily note")
        verbose_name_plural = _("daily notes")
        ordering = ("-occurred_at", "-id")
        constraints: ClassVar = [
            *ScopedModel.Meta.constraints,
            models.UniqueConstraint(fields=["source"], name="daily_note_once_a_turn"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-occurred_at", "-id"], name="note_newest_first"),
            models.Index(fields=["agent", "person", "day"], name="note_by_person_and_day"),
            models.Index(fields=["agent", "chat", "day"], name="note_by_chat_and_day"),
            models.Index(
                fields=["team", "scope", "day"],
                name="note_by_shared_scope",
                condition=models.Q(scope__in=["agent", "team"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day} · {self.source}"

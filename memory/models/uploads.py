"""Uploaded documents: what an agent can look things up in."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import File, User
from agents.models.base import PublicIdModel
from memory.models.scopes import ScopedModel, ScopedQuerySet


class UploadedDocument(PublicIdModel, ScopedModel):
    """One file of a scope, with its text as it was read; its pieces are passages.

    The same file is there once a scope, however often it is brought.
    """

    class State(models.TextChoices):
        """How far it is."""

        WAITING = "waiting", _("waiting")
        READING = "reading", _("being read")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    file = models.ForeignKey(
        File, on_delete=models.PROTECT, related_name="+", verbose_name=_("file")
    )
    name = models.CharField(_("name"), max_length=120)
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.WAITING)
    error = models.CharField(_("error"), max_length=32, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    # Who has it now: only they may say what became of it.
    claimed_at = models.DateTimeField(_("being read since"), null=True, blank=True, editable=False)
    # A memory.reading.parts.Parts: the text by pages, sheets and headings, secrets masked.
    parts = models.JSONField(_("text"), null=True, blank=True, editable=False)
    characters = models.PositiveIntegerField(_("characters"), default=0)
    pieces = models.PositiveIntegerField(_("pieces"), default=0)
    source = models.CharField(_("brought by"), max_length=200, help_text="turn:81, user:3")
    author = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("uploaded by"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    read_at = models.DateTimeField(_("read at"), null=True, blank=True)

    objects = ScopedQuerySet.as_manager()

    class Meta(ScopedModel.Meta):
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        constraints: ClassVar = [
            *ScopedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["team", "agent", "scope", "person", "chat", "sha256"],
                nulls_distinct=False,
                name="memory_upload_once_a_scope",
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-created_at", "-id"], name="memory_upload_newest_first"),
            models.Index(
                fields=["id"],
                name="memory_upload_unread",
                condition=models.Q(state__in=["waiting", "reading"]),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> str:
        """Return what its passages name as their source."""
        return f"document:{self.pk}"

    @property
    def home(self) -> dict[str, object]:
        """Return the columns of its scope."""
        return {
            "team_id": self.team_id,
            "scope": self.scope,
            "agent_id": self.agent_id,
            "person_id": self.person_id,
            "chat_id": self.chat_id,
        }

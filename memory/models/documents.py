"""Memory documents and what they said before."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import User
from memory.models.scopes import ScopedModel, ScopedQuerySet


class MemoryDocument(ScopedModel):
    """A scope's MEMORY.md (or another document of its memory); the text is the newest version."""

    name = models.CharField(_("name"), max_length=100, default="MEMORY.md")
    text = models.TextField(_("text"), blank=True)
    version_number = models.PositiveIntegerField(_("version"), default=0, editable=False)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)
    deleted_at = models.DateTimeField(
        _("deleted at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("It is empty and listed no more; its versions stay."),
    )

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

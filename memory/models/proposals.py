"""New texts for memory documents that wait for a decision."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import User
from memory.models.documents import MemoryDocument


class MemoryProposal(models.Model):
    """A new text for a memory document, to be read and accepted or refused once."""

    class State(models.TextChoices):
        """Open until somebody decides."""

        OPEN = "open", _("waiting")
        ACCEPTED = "accepted", _("accepted")
        REFUSED = "refused", _("refused")

    document = models.ForeignKey(
        MemoryDocument,
        on_delete=models.PROTECT,
        related_name="proposals",
        verbose_name=_("document"),
    )
    base_version = models.PositiveIntegerField(_("version it started from"))
    text = models.TextField(_("text"))
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    source = models.CharField(_("source"), max_length=64, help_text="consolidation:2025-W03")
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.OPEN)
    decided_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("decided by"),
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("memory proposal")
        verbose_name_plural = _("memory proposals")
        ordering = ("-id",)
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document", "source"], name="memory_proposal_once_a_source"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.document} · {self.source}"

"""Stretches of conversations in which a model looks for facts, each once."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from sessions.models.chats import ChatSession, Generation


class Extraction(models.Model):
    """A stretch of a conversation that waits to be read for facts, or was.

    While it waits it grows with every answered turn; from its first claim on it is what it is,
    and what is said then goes into the next one.
    """

    class State(models.TextChoices):
        """Waiting ones grow; a running one that nobody holds is tried again when it is due."""

        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("given up")

    session = models.ForeignKey(
        ChatSession,
        on_delete=models.PROTECT,
        related_name="extractions",
        verbose_name=_("session"),
    )
    generation = models.ForeignKey(
        Generation,
        on_delete=models.PROTECT,
        related_name="extractions",
        verbose_name=_("generation"),
    )
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.WAITING)
    first_turn_id = models.BigIntegerField(_("first turn"))
    last_turn_id = models.BigIntegerField(_("last turn"))
    exchanges = models.PositiveIntegerField(_("exchanges"), default=1)
    due_at = models.DateTimeField(_("due at"))
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    lease_token = models.UUIDField(null=True, editable=False)
    leased_until = models.DateTimeField(null=True, editable=False)
    # A code of ours: why it was tried again, given up, or asked nobody.
    reason = models.CharField(_("reason"), max_length=32, blank=True)
    facts = models.PositiveSmallIntegerField(_("facts"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    class Meta:
        verbose_name = _("look for facts")
        verbose_name_plural = _("looks for facts")
        ordering = ("-id",)
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["generation"],
                condition=models.Q(state="waiting"),
                name="extraction_one_waiting",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["due_at"],
                name="extraction_unfinished",
                condition=models.Q(state__in=["waiting", "running"]),
            ),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def ref(self) -> str:
        """Return its reference as text."""
        return f"extraction:{self.pk}"

"""A turn is a row, and so is each of its steps; the workers that run them are rows too."""

from typing import ClassVar, Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.core.viewer import Viewer
from agents.models.base import PublicIdModel
from sessions.models.chats import ChatSession, Generation
from sessions.models.messages import Content


class WorkerProcess(models.Model):
    """One worker process; it holds the advisory lock of its row's number while it lives."""

    name = models.CharField(_("name"), max_length=200)
    started_at = models.DateTimeField(_("started at"), auto_now_add=True)

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")

    def __str__(self) -> str:
        return self.name


class TurnQuerySet(models.QuerySet["Turn"]):
    """Turns by how far they are."""

    def unfinished(self) -> Self:
        """Return turns that still owe an answer."""
        return self.filter(state__in=(Turn.State.QUEUED, Turn.State.RUNNING))


class Turn(PublicIdModel):
    """The work that answers one or more messages of one session."""

    class State(models.TextChoices):
        """Queued and running turns owe an answer; the others are over."""

        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        ANSWERED = "answered", _("answered")
        STOPPED = "stopped", _("stopped")
        ENDED = "ended", _("ended by the platform")
        FAILED = "failed", _("failed")

    session = models.ForeignKey(
        ChatSession, on_delete=models.PROTECT, related_name="turns", verbose_name=_("session")
    )
    generation = models.ForeignKey(
        Generation, on_delete=models.PROTECT, related_name="turns", verbose_name=_("generation")
    )
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.QUEUED)
    viewer_person_id = models.BigIntegerField(null=True, editable=False)
    is_private = models.BooleanField(_("private"), default=False)
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    orphaned = models.PositiveIntegerField(_("orphaned"), default=0)
    quarantine_attempts = models.PositiveIntegerField(_("attempts in quarantine"), default=0)
    stop_requested_at = models.DateTimeField(_("stop requested at"), null=True, blank=True)
    notice = models.JSONField(_("notice"), null=True, blank=True)
    manifest = models.JSONField(_("prompt manifest"), null=True, blank=True)
    accepted_at = models.DateTimeField(_("accepted at"))
    # Until then more messages of the same person may join it.
    not_before = models.DateTimeField(_("not before"), null=True, blank=True)
    claimed_at = models.DateTimeField(_("claimed at"), null=True)
    request_sent_at = models.DateTimeField(_("request sent at"), null=True)
    first_token_at = models.DateTimeField(_("first token at"), null=True)
    last_token_at = models.DateTimeField(_("last token at"), null=True)
    committed_at = models.DateTimeField(_("committed at"), null=True)
    delivered_at = models.DateTimeField(_("delivered at"), null=True)
    # The channel's message in which the answer grows; it becomes the answer's first part.
    shown_in = models.CharField(
        max_length=64, blank=True, default="", db_default="", editable=False
    )

    objects = TurnQuerySet.as_manager()

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        ordering = ("-id",)
        indexes: ClassVar = [
            models.Index(
                fields=["session", "id"],
                name="turn_unfinished",
                condition=models.Q(state__in=["queued", "running"]),
            ),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def ref(self) -> str:
        """Return the turn's reference as text."""
        return f"turn:{self.pk}"

    @property
    def is_over(self) -> bool:
        """Return whether nothing more will happen to it."""
        return self.state not in (self.State.QUEUED, self.State.RUNNING)

    @property
    def viewer(self) -> Viewer:
        """Return on whose behalf the turn reads; needs ``session`` loaded."""
        return Viewer(
            team_id=self.session.team_id,
            agent_id=self.session.agent_id,
            person_id=self.viewer_person_id,
            chat_id=self.session.chat_id,
            is_private=self.is_private,
        )


class TurnFreeze(models.Model):
    """What the first attempt decided, for later attempts; deleted when the turn is over."""

    turn = models.OneToOneField(
        Turn, on_delete=models.CASCADE, primary_key=True, related_name="freeze"
    )
    prompt = models.TextField()

    class Meta:
        verbose_name = _("frozen prompt")
        verbose_name_plural = _("frozen prompts")

    def __str__(self) -> str:
        return f"turn:{self.turn_id}"


class TurnStep(models.Model):
    """One model call or one tool call, written when started, completed when finished."""

    class Kind(models.TextChoices):
        """What was asked."""

        MODEL = "model", _("model call")
        TOOL = "tool", _("tool call")

    turn = models.ForeignKey(
        Turn, on_delete=models.PROTECT, related_name="steps", verbose_name=_("turn")
    )
    number = models.PositiveIntegerField(_("number"))
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    name = models.CharField(_("model or tool"), max_length=200)
    call_id = models.CharField(_("tool call"), max_length=200, blank=True)
    attempt = models.PositiveIntegerField(_("attempt"))
    content = models.ForeignKey(
        Content, on_delete=models.PROTECT, null=True, blank=True, related_name="steps"
    )
    is_error = models.BooleanField(_("error"), default=False)
    error = models.CharField(_("error text"), max_length=500, blank=True)
    started_at = models.DateTimeField(_("started at"))
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    class Meta:
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        ordering = ("turn", "number")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["turn", "number"], name="step_number_once_a_turn"),
        ]

    def __str__(self) -> str:
        return f"turn:{self.turn_id} #{self.number}"

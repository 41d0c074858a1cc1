"""What was said: inbound messages, the transcript, and what is on its way out."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import Person, Team
from agents.models.base import AppendOnlyModel, PublicIdModel
from sessions.models.chats import ChannelAccount, ChatSession, Generation


class Content(AppendOnlyModel):
    """The text of a transcript entry or step: the one place to blank on erasure.

    The application may add rows and read them; only the database function
    ``qanot_erase_content`` blanks one, and leaves an audit row.
    """

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    text = models.TextField()
    erased_at = models.DateTimeField(_("erased at"), null=True, editable=False)

    class Meta:
        verbose_name = _("content")
        verbose_name_plural = _("contents")

    def __str__(self) -> str:
        return f"content:{self.pk}"


class InboundMessage(PublicIdModel):
    """One message as a channel brought it, stored before anything is answered."""

    class Status(models.TextChoices):
        """What became of it."""

        ACCEPTED = "accepted", _("accepted")
        ANSWERED = "answered", _("answered")

    account = models.ForeignKey(
        ChannelAccount,
        on_delete=models.PROTECT,
        related_name="inbound_messages",
        verbose_name=_("channel account"),
    )
    sender = models.CharField(_("sender"), max_length=200, null=True, blank=True)  # noqa: DJ001 — part of a key in which "no sender" differs from ""
    external_id = models.CharField(_("external id"), max_length=200, null=True, blank=True)  # noqa: DJ001 — as above
    body_digest = models.CharField(max_length=64, editable=False)
    session = models.ForeignKey(
        ChatSession,
        on_delete=models.PROTECT,
        related_name="inbound_messages",
        verbose_name=_("session"),
    )
    person = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="inbound_messages",
        verbose_name=_("person"),
    )
    turn = models.ForeignKey(
        "Turn", on_delete=models.PROTECT, related_name="messages", verbose_name=_("turn")
    )
    content = models.ForeignKey(Content, on_delete=models.PROTECT, related_name="+")
    payload = models.JSONField(_("payload"), null=True)
    status = models.CharField(_("status"), max_length=16, choices=Status, default=Status.ACCEPTED)
    received_at = models.DateTimeField(_("received at"))

    class Meta:
        verbose_name = _("inbound message")
        verbose_name_plural = _("inbound messages")
        ordering = ("-id",)
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "sender", "external_id"],
                nulls_distinct=False,
                name="inbound_once_a_sender",
            ),
        ]

    def __str__(self) -> str:
        return self.ref

    @property
    def ref(self) -> str:
        """Return the message's reference as text."""
        return f"message:{self.pk}"


class TranscriptEntry(AppendOnlyModel):
    """One message of the conversation as the model knows it; its text lies in ``Content``.

    The content of a ``user`` or ``tool`` entry is plain text, that of an ``assistant`` entry a
    stored reply (``agents.core.messages.dump_reply``).
    """

    class Role(models.TextChoices):
        """Who speaks."""

        USER = "user", _("person")
        ASSISTANT = "assistant", _("agent")
        TOOL = "tool", _("tool")

    generation = models.ForeignKey(
        Generation, on_delete=models.PROTECT, related_name="entries", verbose_name=_("generation")
    )
    turn = models.ForeignKey(
        "Turn", on_delete=models.PROTECT, related_name="entries", verbose_name=_("turn")
    )
    role = models.CharField(_("role"), max_length=16, choices=Role)
    content = models.ForeignKey(Content, on_delete=models.PROTECT, related_name="entries")
    message = models.ForeignKey(
        InboundMessage,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="entries",
        verbose_name=_("message"),
    )
    is_partial = models.BooleanField(_("stopped early"), default=False)
    tool_call_id = models.CharField(_("tool call"), max_length=200, blank=True)
    tool_name = models.CharField(_("tool"), max_length=200, blank=True)
    is_error = models.BooleanField(_("error"), default=False)
    created_at = models.DateTimeField(_("created at"))

    class Meta:
        verbose_name = _("transcript entry")
        verbose_name_plural = _("transcript entries")
        ordering = ("generation", "id")
        indexes: ClassVar = [
            models.Index(fields=["generation", "-id"], name="entry_newest_first"),
            models.Index(fields=["turn", "id"], name="entry_by_turn"),
        ]

    def __str__(self) -> str:
        return f"{self.role} · turn:{self.turn_id}"


class Outgoing(PublicIdModel):
    """One logical send: delivery works from the row, so a crash neither loses nor doubles it."""

    class State(models.TextChoices):
        """How far the send is; ``unknown`` is neither lost in silence nor blindly repeated."""

        QUEUED = "queued", _("queued")
        SENDING = "sending", _("sending")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")
        UNKNOWN = "unknown", _("unknown")

    session = models.ForeignKey(
        ChatSession, on_delete=models.PROTECT, related_name="outgoing", verbose_name=_("session")
    )
    turn = models.OneToOneField(
        "Turn", on_delete=models.PROTECT, related_name="outgoing", verbose_name=_("turn")
    )
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    error = models.CharField(_("error"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created at"))
    tried_at = models.DateTimeField(_("last tried at"), null=True, blank=True)
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)

    class Meta:
        verbose_name = _("outgoing message")
        verbose_name_plural = _("outgoing messages")
        ordering = ("-id",)
        indexes: ClassVar = [
            models.Index(
                fields=["id"],
                name="outgoing_unsent",
                condition=models.Q(state__in=["queued", "sending"]),
            ),
        ]

    def __str__(self) -> str:
        return f"outgoing:{self.pk} · {self.get_state_display()}"

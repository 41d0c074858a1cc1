"""What was said: inbound messages, the transcript, and what is on its way out."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import File, Person, Team
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
    # What comes with it and is not the person's own words: a quote, a forwarded text. The model
    # sees it marked as such; no fact is ever read from it.
    context = models.ForeignKey(
        Content, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    payload = models.JSONField(_("payload"), null=True)
    author_name = models.CharField(
        _("author"), max_length=200, blank=True, help_text=_("As a group knows them.")
    )
    channel_message_id = models.CharField(
        _("message on the channel"),
        max_length=64,
        blank=True,
        help_text=_("What answers reply to."),
    )
    edited_at = models.DateTimeField(_("edited at"), null=True, blank=True)
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

    class Kind(models.TextChoices):
        """What is sent."""

        ANSWER = "answer", _("an answer")
        NOTICE = "notice", _("a notice")
        FILE = "file", _("a file")

    kind = models.CharField(_("kind"), max_length=16, choices=Kind, default=Kind.ANSWER)
    account = models.ForeignKey(
        ChannelAccount,
        on_delete=models.PROTECT,
        null=True,
        related_name="outgoing",
        verbose_name=_("channel account"),
    )
    # None for a notice to somebody who has no conversation.
    session = models.ForeignKey(
        ChatSession,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="outgoing",
        verbose_name=_("session"),
    )
    # Of an answer; a notice or file that a turn causes names it in `key`.
    turn = models.OneToOneField(
        "Turn",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="outgoing",
        verbose_name=_("turn"),
    )
    # The same key is the same send: "command:<account>:<update>", "turn:81/file:2".
    key = models.CharField(max_length=200, null=True, unique=True, editable=False)  # noqa: DJ001 — unique where there is one
    peer = models.CharField(
        _("to"), max_length=64, blank=True, help_text=_("The chat on the channel.")
    )
    thread = models.CharField(_("thread"), max_length=64, blank=True)
    reply_to = models.CharField(_("reply to"), max_length=64, blank=True)
    # Of a notice, or a file's caption; an answer's text is its turn's transcript.
    content = models.ForeignKey(
        Content, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    file = models.ForeignKey(
        File, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    buttons = models.JSONField(_("buttons"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    error = models.CharField(_("error"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created at"))
    tried_at = models.DateTimeField(_("last tried at"), null=True, blank=True)
    # Not tried before: what the channel asked for when it was asked too often.
    not_before = models.DateTimeField(_("not before"), null=True, blank=True)
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    # The worker at work on it; where that worker is gone, nobody is.
    sent_by = models.BigIntegerField(null=True, editable=False)

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
            models.Index(
                fields=["account", "peer", "id"],
                name="outgoing_unsent_of_chat",
                condition=models.Q(state__in=["queued", "sending"]),
            ),
        ]

    def __str__(self) -> str:
        return f"outgoing:{self.pk} · {self.get_state_display()}"

    @property
    def channel(self) -> str:
        """Return the name of the channel that it leaves by."""
        if self.account is None:
            raise AssertionError("every row has its account")
        return self.account.channel


class OutgoingPart(models.Model):
    """One message on the channel that an outgoing row became: sent once, then known by its id.

    Parts are cut from the row's text by the same rules each time, so only their numbers are kept.
    """

    outgoing = models.ForeignKey(
        Outgoing, on_delete=models.CASCADE, related_name="parts", verbose_name=_("outgoing message")
    )
    number = models.PositiveSmallIntegerField(_("number"))
    state = models.CharField(
        _("state"), max_length=16, choices=Outgoing.State, default=Outgoing.State.SENDING
    )
    external_id = models.CharField(_("message on the channel"), max_length=64, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=1)
    error = models.CharField(_("error"), max_length=300, blank=True)
    tried_at = models.DateTimeField(_("last tried at"))
    sent_at = models.DateTimeField(_("sent at"), null=True, blank=True)

    class Meta:
        verbose_name = _("part of an outgoing message")
        verbose_name_plural = _("parts of outgoing messages")
        ordering = ("outgoing", "number")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["outgoing", "number"], name="outgoing_part_once"),
        ]

    def __str__(self) -> str:
        return f"outgoing:{self.outgoing_id} #{self.number}"


class Attachment(models.Model):
    """A file, picture or voice message that came with a message; fetched before its turn runs."""

    class Kind(models.TextChoices):
        """What it is."""

        PHOTO = "photo", _("picture")
        DOCUMENT = "document", _("file")
        VOICE = "voice", _("voice message")
        AUDIO = "audio", _("audio")
        VIDEO = "video", _("video")

    class State(models.TextChoices):
        """How far it is."""

        WAITING = "waiting", _("not fetched yet")
        FETCHED = "fetched", _("fetched")
        FAILED = "failed", _("could not be fetched")

    message = models.ForeignKey(
        InboundMessage,
        on_delete=models.PROTECT,
        related_name="attachments",
        verbose_name=_("message"),
    )
    number = models.PositiveSmallIntegerField(_("number"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    # How the channel names it, such as Telegram's file_id; empty where the file came with it.
    reference = models.CharField(max_length=300, blank=True, editable=False)
    name = models.CharField(_("name"), max_length=255, blank=True)
    media_type = models.CharField(_("type"), max_length=127, blank=True)
    size_bytes = models.PositiveBigIntegerField(_("size (bytes)"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.WAITING)
    error = models.CharField(_("error"), max_length=64, blank=True)
    file = models.ForeignKey(
        File,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("file"),
    )
    # What models are shown of a picture; of a photo it is the file itself.
    picture = models.ForeignKey(
        File,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("picture for models"),
    )
    # What a voice message says.
    transcript = models.ForeignKey(
        Content, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name = _("attachment")
        verbose_name_plural = _("attachments")
        ordering = ("message", "number")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["message", "number"], name="attachment_number_once"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · message:{self.message_id}"

"""Where conversations happen: channel accounts, sessions, and their stretches of history."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, Chat, Person, Team
from agents.models.base import ArchivableModel, PublicIdModel


class ChannelAccount(ArchivableModel):
    """One door on a channel: the team's web chat, its REST API, or a bot.

    A bot is bound to one agent. Of its token only the sealed form is kept
    (``agents.services.secrets``), or a reference to where it stands.
    """

    class Channel(models.TextChoices):
        """Where people chat."""

        WEBCHAT = "webchat", _("web chat")
        REST = "rest", "REST"
        TELEGRAM = "telegram", "Telegram"

    class Receives(models.TextChoices):
        """How messages reach us."""

        POLLING = "polling", _("we ask for them")
        WEBHOOK = "webhook", _("they are brought to us")

    class AnswerMode(models.TextChoices):
        """How an answer appears while it is written."""

        AUTO = "auto", _("the best that the chat allows")
        STREAM = "stream", _("as a draft that grows")
        PARTIAL = "partial", _("as a message that is edited")
        BLOCKED = "blocked", _("when it is whole")

    class UnknownPolicy(models.TextChoices):
        """What becomes of a send of which nobody knows whether it left."""

        RESEND = "resend", _("send it again, marked")
        HOLD = "hold", _("hold it back and show it here")

    class Access(models.TextChoices):
        """Who may talk with the bot."""

        ALLOWLIST = "allowlist", _("whom you allow")
        PAIRING = "pairing", _("whoever asks with a code that you accept")
        OPEN = "open", _("everybody")

    class Groups(models.TextChoices):
        """When the bot answers in a group."""

        OFF = "off", _("never")
        MENTION = "mention", _("when it is spoken to")
        ALL = "all", _("every message")

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="channel_accounts", verbose_name=_("team")
    )
    channel = models.CharField(_("channel"), max_length=32, choices=Channel)
    name = models.CharField(_("name"), max_length=100)
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="channel_accounts",
        verbose_name=_("agent"),
        help_text=_("Who answers here. The web chat and REST let people choose."),
    )
    # Sealed by agents/services/secrets.py; in clear only inside the channel's client.
    sealed_token = models.TextField(blank=True, editable=False)
    token_reference = models.CharField(
        _("token reference"),
        max_length=200,
        blank=True,
        help_text=_("env:NAME or file:/path — where the token stands, never the token."),
    )
    bot_id = models.BigIntegerField(_("bot"), null=True, blank=True, editable=False)
    username = models.CharField(_("user name"), max_length=64, blank=True, editable=False)
    base_url = models.URLField(
        _("address"), blank=True, help_text=_("Of an own Bot API server; empty for Telegram's.")
    )
    may_reach_private = models.BooleanField(
        _("may reach private addresses"),
        default=False,
        editable=False,
        help_text=_("Its address was given by a superuser."),
    )
    reads_all_group_messages = models.BooleanField(
        _("reads all group messages"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("Off while the bot's privacy mode is on."),
    )
    receives = models.CharField(
        _("receiving"), max_length=16, choices=Receives, default=Receives.POLLING
    )
    answer_mode = models.CharField(
        _("answers appear"), max_length=16, choices=AnswerMode, default=AnswerMode.AUTO
    )
    unknown_policy = models.CharField(
        _("a send of unknown outcome"),
        max_length=16,
        choices=UnknownPolicy,
        default=UnknownPolicy.RESEND,
    )
    access = models.CharField(
        _("who may talk with it"), max_length=16, choices=Access, default=Access.PAIRING
    )
    groups = models.CharField(_("in groups"), max_length=16, choices=Groups, default=Groups.MENTION)
    bound_channels = ArrayField(
        models.CharField(max_length=64),
        default=list,
        blank=True,
        verbose_name=_("channels"),
        help_text=_("Ids of channels whose posts it answers; all others are ignored."),
    )
    shows_receipts = models.BooleanField(
        _("reacts to messages"),
        default=False,
        help_text=_("A reaction tells people that their message has arrived."),
    )
    pause_s = models.FloatField(
        _("pause (seconds)"),
        default=1.0,
        validators=[MinValueValidator(0), MaxValueValidator(30)],
        help_text=_("Messages that come within it are answered together."),
    )
    messages_per_minute = models.PositiveSmallIntegerField(
        _("messages a minute"),
        default=15,
        validators=[MinValueValidator(1)],
        help_text=_("Of one person; whoever writes more waits a little."),
    )
    managed_by = models.CharField(
        _("managed by"),
        max_length=200,
        blank=True,
        editable=False,
        help_text=_("The file that owns it (`manage.py apply`); it is changed there, not here."),
    )
    # agents.services.managed.Mark
    managed_mark = models.JSONField(
        _("as the file was applied"), null=True, blank=True, editable=False
    )
    switched_off_at = models.DateTimeField(_("switched off at"), null=True, blank=True)
    last_error_code = models.CharField(_("last error"), max_length=32, blank=True, editable=False)
    last_error = models.CharField(_("last error text"), max_length=500, blank=True, editable=False)
    last_error_at = models.DateTimeField(_("last error at"), null=True, blank=True, editable=False)
    # The next update to ask for; moves in the transaction that stored the ones before it.
    update_offset = models.BigIntegerField(default=0, editable=False)
    received_at = models.DateTimeField(_("last heard"), null=True, blank=True, editable=False)
    # The right to poll: whoever holds the token asks for updates.
    lease_token = models.UUIDField(null=True, editable=False)
    leased_until = models.DateTimeField(_("leased until"), null=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("channel account")
        verbose_name_plural = _("channel accounts")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "channel", "name"], name="channel_account_name_once"
            ),
            # Two rows with one token would take each other's messages.
            models.UniqueConstraint(
                fields=["channel", "bot_id"],
                condition=models.Q(bot_id__isnull=False, archived_at__isnull=True),
                name="channel_account_bot_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_channel_display()} · {self.name}"


class ChatSession(PublicIdModel, ArchivableModel):
    """One conversation of one agent; its route is unique and its printed key derived from it.

    The lease is the right to run this session's turns: whoever holds the token may write.
    """

    class Kind(models.TextChoices):
        """Who takes part."""

        DIRECT = "direct", _("one person")
        GROUP = "group", _("a group")

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="chat_sessions", verbose_name=_("team")
    )
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="chat_sessions", verbose_name=_("agent")
    )
    account = models.ForeignKey(
        ChannelAccount,
        on_delete=models.PROTECT,
        related_name="chat_sessions",
        verbose_name=_("channel account"),
    )
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    peer = models.CharField(_("peer"), max_length=200)
    thread = models.CharField(_("thread"), max_length=200, blank=True)
    person = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="chat_sessions",
        verbose_name=_("person"),
    )
    chat = models.ForeignKey(
        Chat,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="chat_sessions",
        verbose_name=_("chat"),
    )
    title = models.CharField(_("title"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    last_interaction_at = models.DateTimeField(_("last message of a person"), null=True)
    lease_token = models.UUIDField(null=True, editable=False)
    leased_until = models.DateTimeField(_("leased until"), null=True, editable=False)
    leased_by = models.BigIntegerField(_("worker"), null=True, editable=False)

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ("-last_interaction_at", "-id")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["agent", "account", "kind", "peer", "thread"], name="session_route_once"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["person", "last_interaction_at"], name="session_by_person"),
            models.Index(fields=["-last_interaction_at", "-id"], name="session_newest_first"),
        ]

    def __str__(self) -> str:
        # Shown wherever a row points here; the title is the person's own words.
        return f"session:{self.pk}"

    @property
    def key(self) -> str:
        """Return the printed key, such as ``agent:<id>:webchat:direct:<person>:<thread>``."""
        parts = ["agent", str(self.agent.public_id), self.account.channel, self.kind, self.peer]
        return ":".join([*parts, self.thread] if self.thread else parts)


class Generation(models.Model):
    """One stretch of a session's history, with its counters; a reset opens the next."""

    session = models.ForeignKey(
        ChatSession, on_delete=models.PROTECT, related_name="generations", verbose_name=_("session")
    )
    number = models.PositiveIntegerField(_("number"), default=1)
    opened_by = models.CharField(
        _("opened by"), max_length=32, blank=True, help_text="command:new, command:reset"
    )
    opened_at = models.DateTimeField(_("opened at"), auto_now_add=True)
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True)
    input_tokens = models.PositiveBigIntegerField(_("input"), default=0)
    cache_read_tokens = models.PositiveBigIntegerField(_("cache read"), default=0)
    cache_write_tokens = models.PositiveBigIntegerField(_("cache write"), default=0)
    output_tokens = models.PositiveBigIntegerField(_("output"), default=0)
    context_tokens = models.PositiveIntegerField(
        _("window used"), default=0, help_text=_("After the last model call.")
    )

    class Meta:
        verbose_name = _("generation")
        verbose_name_plural = _("generations")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["session", "number"], name="generation_number_once"),
            models.UniqueConstraint(
                fields=["session"],
                condition=models.Q(closed_at__isnull=True),
                name="generation_one_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.number}"

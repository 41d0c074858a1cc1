"""Where conversations happen: channel accounts, sessions, and their stretches of history."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, Chat, Person, Team
from agents.models.base import ArchivableModel, PublicIdModel


class ChannelAccount(ArchivableModel):
    """One door on a channel: the team's web chat, its REST API, later a bot."""

    class Channel(models.TextChoices):
        """Where people chat."""

        WEBCHAT = "webchat", _("web chat")
        REST = "rest", "REST"

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="channel_accounts", verbose_name=_("team")
    )
    channel = models.CharField(_("channel"), max_length=32, choices=Channel)
    name = models.CharField(_("name"), max_length=100)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("channel account")
        verbose_name_plural = _("channel accounts")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "channel", "name"], name="channel_account_name_once"
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

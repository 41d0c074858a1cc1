"""Who writes to a bot, and how they came to be allowed."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import Chat, Person, User
from agents.models.base import PublicIdModel
from sessions.models.chats import ChannelAccount
from sessions.models.messages import Content


class ChannelUpdate(models.Model):
    """An update that a bot received: the same one is never taken in twice."""

    account = models.ForeignKey(
        ChannelAccount,
        on_delete=models.PROTECT,
        related_name="updates",
        verbose_name=_("channel account"),
    )
    update_id = models.BigIntegerField(_("update"))
    kind = models.CharField(_("kind"), max_length=32)
    received_at = models.DateTimeField(_("received at"))

    class Meta:
        verbose_name = _("update")
        verbose_name_plural = _("updates")
        ordering = ("-id",)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "update_id"], name="update_once_an_account"),
        ]
        indexes: ClassVar = [models.Index(fields=["received_at"], name="update_by_time")]

    def __str__(self) -> str:
        return f"{self.account_id}/{self.update_id}"


class ChannelContact(PublicIdModel):
    """Somebody as one bot knows them, and whether they may talk with it."""

    class Access(models.TextChoices):
        """Unknown people are treated as the account says."""

        UNKNOWN = "unknown", _("not decided")
        ALLOWED = "allowed", _("allowed")
        BLOCKED = "blocked", _("blocked")

    account = models.ForeignKey(
        ChannelAccount,
        on_delete=models.PROTECT,
        related_name="contacts",
        verbose_name=_("channel account"),
    )
    external_id = models.CharField(_("external id"), max_length=64)
    person = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="contacts",
        verbose_name=_("person"),
    )
    username = models.CharField(_("user name"), max_length=64, blank=True)
    display_name = models.CharField(_("display name"), max_length=200, blank=True)
    language = models.CharField(_("language"), max_length=16, blank=True)
    access = models.CharField(_("access"), max_length=16, choices=Access, default=Access.UNKNOWN)
    decided_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("decided by"),
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    # Told that they may not; at most once an hour.
    refused_at = models.DateTimeField(null=True, editable=False)
    # Wrote too often: until then nothing is answered, and that was said once.
    paused_until = models.DateTimeField(_("paused until"), null=True, blank=True)
    # When they wrote in the last minute, by the channel's clock; at most as many as they may.
    recent_at = ArrayField(models.DateTimeField(), default=list, editable=False)
    # They closed the door themselves: blocked the bot, as Telegram tells us.
    left_at = models.DateTimeField(_("left at"), null=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("contact")
        verbose_name_plural = _("contacts")
        ordering = ("-id",)
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "external_id"], name="contact_once_an_account"
            ),
        ]

    def __str__(self) -> str:
        return self.display_name or self.external_id


class PairingRequest(PublicIdModel):
    """Somebody asks to talk with a bot: their code, which an admin accepts."""

    class State(models.TextChoices):
        """Open until decided or expired."""

        OPEN = "open", _("waiting")
        ACCEPTED = "accepted", _("accepted")
        REFUSED = "refused", _("refused")

    contact = models.ForeignKey(
        ChannelContact,
        on_delete=models.PROTECT,
        related_name="pairings",
        verbose_name=_("contact"),
    )
    code = models.CharField(_("code"), max_length=16)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.OPEN)
    tries = models.PositiveSmallIntegerField(_("wrong codes"), default=0)
    created_at = models.DateTimeField(_("asked at"))
    expires_at = models.DateTimeField(_("expires at"))
    decided_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("decided by"),
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)

    class Meta:
        verbose_name = _("pairing request")
        verbose_name_plural = _("pairing requests")
        ordering = ("-id",)
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["contact"], condition=models.Q(state="open"), name="pairing_one_open"
            ),
        ]

    def __str__(self) -> str:
        return f"pairing:{self.pk}"


class PairingLink(PublicIdModel):
    """A deep link, shown as a QR code, that connects a person with who opens it; once."""

    account = models.ForeignKey(
        ChannelAccount,
        on_delete=models.PROTECT,
        related_name="pairing_links",
        verbose_name=_("channel account"),
    )
    person = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="+", verbose_name=_("person")
    )
    made_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("made by"),
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))
    used_by = models.ForeignKey(
        ChannelContact,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("used by"),
    )
    used_at = models.DateTimeField(_("used at"), null=True, editable=False)

    class Meta:
        verbose_name = _("pairing link")
        verbose_name_plural = _("pairing links")
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"pairing-link:{self.pk}"


class OverheardMessage(models.Model):
    """What was said in a group without speaking to the bot: context for a day, never a fact."""

    account = models.ForeignKey(
        ChannelAccount, on_delete=models.CASCADE, related_name="+", verbose_name=_("account")
    )
    chat = models.ForeignKey(
        Chat, on_delete=models.CASCADE, related_name="overheard", verbose_name=_("chat")
    )
    person = models.ForeignKey(
        Person, on_delete=models.CASCADE, null=True, related_name="+", verbose_name=_("person")
    )
    author_name = models.CharField(_("author"), max_length=200)
    content = models.ForeignKey(Content, on_delete=models.PROTECT, related_name="+")
    said_at = models.DateTimeField(_("said at"))

    class Meta:
        verbose_name = _("overheard message")
        verbose_name_plural = _("overheard messages")
        ordering = ("-said_at", "-id")
        indexes: ClassVar = [models.Index(fields=["chat", "-said_at"], name="overheard_newest")]

    def __str__(self) -> str:
        return f"overheard:{self.pk}"

"""Who is who: teams, the people who run them, and the people who chat."""

from typing import TYPE_CHECKING, ClassVar

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models.base import ArchivableModel, PublicIdModel

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

LANGUAGE_CHOICES: list[tuple[str, "_StrPromise | str"]] = [
    ("en", "English"),
    ("uz", "Oʻzbekcha"),
    ("ru", "Русский"),
    ("tr", "Türkçe"),
    ("pl", "Polski"),
]


class User(AbstractUser):
    """Somebody who may log in."""

    language = models.CharField(
        _("language"),
        max_length=8,
        choices=LANGUAGE_CHOICES,
        blank=True,
        help_text=_("Of all pages and answers of the platform; empty: the browser's."),
    )
    steps_dismissed_at = models.DateTimeField(
        _("first steps put away at"), null=True, blank=True, editable=False
    )

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")


class Team(PublicIdModel, ArchivableModel):
    """Those who share agents, people and money; strangers to every other team."""

    name = models.CharField(_("name"), max_length=100)
    slug = models.SlugField(_("slug"), unique=True)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("team")
        verbose_name_plural = _("teams")
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's role in a team."""

    class Role(models.TextChoices):
        """From the most to the least that one may do."""

        OWNER = "owner", _("owner")
        EDITOR = "editor", _("editor")
        OPERATOR = "operator", _("operator")
        MEMBER = "member", _("member")

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("user")
    )
    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="memberships", verbose_name=_("team")
    )
    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.MEMBER)
    may_view_private = models.BooleanField(
        _("may view private content"),
        default=False,
        help_text=_(
            "Lets them read private conversations and memories of other people of the team; each "
            "such view is written to the audit log."
        ),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "team"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.team} · {self.get_role_display()}"


class Person(PublicIdModel, ArchivableModel):
    """A team's counterpart in chats, with or without a login."""

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="people", verbose_name=_("team")
    )
    user = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="people",
        verbose_name=_("user"),
    )
    display_name = models.CharField(_("display name"), max_length=200)
    language = models.CharField(_("language"), max_length=8, choices=LANGUAGE_CHOICES, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, blank=True)
    merged_into = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="merged",
        verbose_name=_("merged into"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "user"],
                condition=models.Q(user__isnull=False, merged_into__isnull=True),
                name="person_once_a_user",
            ),
        ]

    def __str__(self) -> str:
        return self.display_name


class Identity(models.Model):
    """A person as a channel knows them."""

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="identities", verbose_name=_("team")
    )
    person = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="identities", verbose_name=_("person")
    )
    channel = models.CharField(_("channel"), max_length=32)
    external_id = models.CharField(_("external id"), max_length=200)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("identity")
        verbose_name_plural = _("identities")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "channel", "external_id"], name="identity_once_a_channel"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel}:{self.external_id}"


class Chat(PublicIdModel, ArchivableModel):
    """A group on a channel; a topic is a chat with a parent and uses the group's memory."""

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="chats", verbose_name=_("team")
    )
    channel = models.CharField(_("channel"), max_length=32)
    external_id = models.CharField(_("external id"), max_length=200)
    title = models.CharField(_("title"), max_length=200, blank=True)
    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="topics",
        verbose_name=_("parent"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("chat")
        verbose_name_plural = _("chats")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "channel", "external_id"], name="chat_once_a_channel"
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.channel}:{self.external_id}"


class ApiToken(models.Model):
    """Lets a program act for a person; only its digest is kept."""

    class Scope(models.TextChoices):
        """What a token may do."""

        CHAT = "chat", _("post messages and read own turns")
        AGENTS_READ = "agents:read", _("read agents and their documents")
        AGENTS_WRITE = "agents:write", _("change agents and their documents")

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="api_tokens", verbose_name=_("team")
    )
    person = models.ForeignKey(
        Person, on_delete=models.PROTECT, related_name="api_tokens", verbose_name=_("person")
    )
    name = models.CharField(_("name"), max_length=100)
    prefix = models.CharField(_("prefix"), max_length=16, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = ArrayField(
        models.CharField(max_length=32, choices=Scope), default=list, verbose_name=_("scopes")
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class Invitation(PublicIdModel):
    """A link by which somebody joins a team, once; only its digest is kept."""

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="invitations", verbose_name=_("team")
    )
    role = models.CharField(
        _("role"), max_length=16, choices=Membership.Role, default=Membership.Role.MEMBER
    )
    note = models.CharField(
        _("for whom"), max_length=100, blank=True, help_text=_("So that you know whom it was for.")
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="+",
        verbose_name=_("invited by"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))
    accepted_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("accepted by"),
    )
    accepted_at = models.DateTimeField(_("accepted at"), null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.note or f"{self.team} · {self.get_role_display()}"


class LoginRecord(models.Model):
    """One log-in of a user: from where, and whether it still holds."""

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="logins", verbose_name=_("user")
    )
    session_key = models.CharField(max_length=40, db_index=True, editable=False)
    address = models.GenericIPAddressField(_("address"), null=True, editable=False)
    user_agent = models.CharField(_("browser"), max_length=300, blank=True, editable=False)
    created_at = models.DateTimeField(_("since"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, editable=False)

    class Meta:
        verbose_name = _("log-in")
        verbose_name_plural = _("log-ins")
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.user} · {self.created_at:%Y-%m-%d %H:%M}"


class LoginLink(models.Model):
    """A link that logs one user in, once; only its digest is kept."""

    class Purpose(models.TextChoices):
        """What it is for."""

        LOGIN = "login", _("log in")
        PASSWORD = "password", _("choose a new password")

    user = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="login_links", verbose_name=_("user")
    )
    purpose = models.CharField(_("purpose"), max_length=16, choices=Purpose, default=Purpose.LOGIN)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    # Whose right to make it is asked again when it is used; null: the platform itself.
    made_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("made by"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))
    used_at = models.DateTimeField(_("used at"), null=True, blank=True)

    class Meta:
        verbose_name = _("login link")
        verbose_name_plural = _("login links")

    def __str__(self) -> str:
        return f"{self.user} · {self.created_at:%Y-%m-%d %H:%M}"

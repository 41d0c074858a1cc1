"""The admin site: who may enter, and how its pages are grouped."""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.forms import AuthenticationForm as DjangoAuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.forms import AuthenticationForm
from unfold.sites import UnfoldAdminSite

from agents.models import (
    Agent,
    AgentDocument,
    AgentDocumentVersion,
    ApiToken,
    AuditEvent,
    Chat,
    DocumentProposal,
    File,
    Identity,
    Invitation,
    LoginRecord,
    Membership,
    Person,
    ProviderAccount,
    Team,
    UsageRecord,
    User,
)
from agents.services import access
from memory.models import (
    DailyNote,
    MemoryDocument,
    MemoryDocumentVersion,
    MemoryProposal,
    MemorySettings,
    UploadedDocument,
    WalEntry,
)
from qanot_site import board, doctor_page
from sessions.models import (
    ChannelAccount,
    ChannelContact,
    ChatSession,
    Content,
    Generation,
    InboundMessage,
    Outgoing,
    PairingRequest,
    TranscriptEntry,
    Turn,
    TurnStep,
    WorkerProcess,
)

Page = tuple[type[models.Model], str]

# Each page with its sign (Material Symbols, which Unfold brings along).
GROUPS: tuple[tuple[Promise, tuple[Page, ...]], ...] = (
    (
        _("Agents"),
        (
            (Agent, "smart_toy"),
            (AgentDocument, "description"),
            (AgentDocumentVersion, "history"),
            (DocumentProposal, "rate_review"),
            (ProviderAccount, "key"),
        ),
    ),
    (
        _("Conversations"),
        (
            (ChatSession, "forum"),
            (Turn, "sync"),
            (TurnStep, "footprint"),
            (InboundMessage, "inbox"),
            (TranscriptEntry, "chat"),
            (Outgoing, "send"),
            (Generation, "layers"),
        ),
    ),
    (
        _("Channels"),
        (
            (ChannelAccount, "forward_to_inbox"),
            (PairingRequest, "how_to_reg"),
            (ChannelContact, "contacts"),
        ),
    ),
    (
        _("Memory"),
        (
            (WalEntry, "edit_note"),
            (UploadedDocument, "library_books"),
            (MemoryDocument, "psychology"),
            (MemoryDocumentVersion, "history"),
            (MemoryProposal, "rate_review"),
            (DailyNote, "today"),
            (MemorySettings, "manage_search"),
        ),
    ),
    (_("Usage"), ((UsageRecord, "monitoring"),)),
    (
        _("Team"),
        (
            (Team, "groups"),
            (Membership, "badge"),
            (Invitation, "person_add"),
            (Person, "person"),
            (Identity, "fingerprint"),
            (Chat, "group"),
            (ApiToken, "vpn_key"),
            (User, "account_circle"),
            (LoginRecord, "devices"),
        ),
    ),
)
SYSTEM_PAGES: tuple[Page, ...] = (
    (AuditEvent, "policy"),
    (File, "attach_file"),
    (Content, "article"),
    (WorkerProcess, "memory"),
)
# Of other apps, by label, since they are not ours to import.
GUEST_SIGNS = {
    "django_celery_beat.periodictask": "schedule",
    "django_celery_beat.crontabschedule": "calendar_month",
    "django_celery_beat.intervalschedule": "timer",
    "django_celery_beat.clockedschedule": "alarm",
    "django_celery_beat.solarschedule": "wb_sunny",
    "auth.group": "shield_person",
}


class LoginForm(AuthenticationForm):
    """Lets every active user log in: who may enter the admin is the site's question, not its."""

    def confirm_login_allowed(self, user: Any) -> None:
        # Past Django's admin form, which asks for is_staff; roles decide here.
        DjangoAuthenticationForm.confirm_login_allowed(self, user)


class QanotAdminSite(UnfoldAdminSite):
    """Entered by superusers, and by owners, editors and operators of any team."""

    login_form = LoginForm
    site_title = site_header = "Qanot"
    index_title = _("Overview")

    def has_permission(self, request: HttpRequest) -> bool:
        return access.may_enter(request)

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the login page; who is in already, but has no business here, goes to the chat."""
        is_guest = request.user.is_authenticated and not self.has_permission(request)
        if request.method == "GET" and is_guest:
            return HttpResponseRedirect(settings.LOGIN_REDIRECT_URL)
        if request.method == "GET" and REDIRECT_FIELD_NAME not in request.GET:
            # Unfold's form keeps the address it stands at, and without a next one that would
            # lead to the chat, where everybody else's log-in leads.
            return redirect_to_login(reverse("admin:index"), reverse("admin:login"))
        response: HttpResponse = super().login(request, extra_context)
        return response

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Return the operator's pages before all others."""
        own: list[URLPattern | URLResolver] = [
            path("board/", self.admin_view(board.page), name="board"),
            path("board/live/", self.admin_view(board.live), name="board-live"),
            path("doctor/", self.admin_view(doctor_page.page), name="doctor"),
        ]
        return [*own, *super().get_urls()]

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to the one page where people change their password."""
        return redirect("password-change")

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the pages in groups for people; one app's page is as Django lists it."""
        listed: list[dict[str, Any]] = super().get_app_list(request, app_label)
        if app_label is not None:
            return listed
        entries = {entry["model"]: entry for app in listed for entry in app["models"]}
        groups = []
        for title, pages in _groups():
            found = [entries[model] for model, _sign in pages if model in entries]
            if found:
                groups.append(
                    {
                        "name": title,
                        "app_label": found[0]["model"]._meta.app_label,
                        "app_url": None,
                        "has_module_perms": True,
                        "models": found,
                    }
                )
        return groups


def _groups() -> Iterator[tuple[Promise, tuple[Page, ...]]]:
    yield from GROUPS
    guests = tuple((apps.get_model(label), sign) for label, sign in GUEST_SIGNS.items())
    yield _("System"), (*SYSTEM_PAGES, *guests)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar: the groups, with those pages that the user may see."""
    site = admin.site
    first = [
        {"title": _("Overview"), "icon": "dashboard", "link": reverse("admin:index")},
        {"title": _("Board"), "icon": "monitor_heart", "link": reverse("admin:board")},
        *_doctor(request),
        {"title": _("Chat"), "icon": "chat_bubble", "link": settings.LOGIN_REDIRECT_URL},
        *_first_steps(request),
    ]
    groups: list[dict[str, Any]] = [{"title": None, "items": first}]
    for title, pages in _groups():
        items = [
            {
                "title": _title(model),
                "icon": sign,
                "link": _list_address(model),
                "badge": _badge(request, model),
            }
            for model, sign in pages
            if site.is_registered(model)
            and site.get_model_admin(model).has_module_permission(request)
        ]
        if items:
            groups.append({"title": title, "separator": True, "collapsible": False, "items": items})
    return groups


def _doctor(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the way to the doctor, who speaks of the whole deployment."""
    if not access.is_superuser(request):
        return []
    return [{"title": _("Doctor"), "icon": "stethoscope", "link": reverse("admin:doctor")}]


def _first_steps(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the way back to the first steps, for those who may do them and have not put them away.

    Whether all are done is not asked here: it would cost every page of the admin its queries.
    """
    user = request.user
    if not isinstance(user, User) or user.steps_dismissed_at is not None:
        return []
    if access.teams(request, access.EDITORS) == frozenset():
        return []
    return [{"title": _("First steps"), "icon": "flag", "link": reverse("first-steps")}]


def _title(model: type[models.Model]) -> Any:
    """Return what a page is called: its own word, or its rows'."""
    own = getattr(admin.site.get_model_admin(model), "nav_title", None)
    return own or capfirst(str(model._meta.verbose_name_plural))


def _badge(request: HttpRequest, model: type[models.Model]) -> int | None:
    """Return how many rows of a page wait for the user, if its page counts them."""
    count = getattr(admin.site.get_model_admin(model), "count_waiting", None)
    return count(request) or None if count is not None else None


def _list_address(model: type[models.Model]) -> str:
    meta = model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")

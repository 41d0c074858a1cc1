"""The pages around a bot: connecting it, pairing oneself, another token.

The token is asked about and sealed within one request; no page shows it again. What a check
answers, even when a token is wrong, is an ordinary answer: it is no error of ours.
"""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents.admin.base import TeamAdmin, page_of
from agents.admin.connect import wait_for
from agents.models import Agent
from agents.services import access, people
from sessions.admin import bot_words as words
from sessions.admin.bot_form import BotForm, TokenForm
from sessions.channels.telegram import pairing, setup
from sessions.channels.telegram.connecting import qr_code
from sessions.channels.telegram.setup import Draft, Found, SetupTrouble
from sessions.errors import NotPending, WrongCode
from sessions.models import ChannelAccount, ChannelContact, PairingRequest

NAME = "bot_sessions_channelaccount"
_private = sensitive_post_parameters("token", "token_reference")


class BotPages(TeamAdmin):
    """What stands below the list of bots besides the rows' own pages."""

    def get_urls(self) -> list[Any]:
        """Put them before the rows' pages, whose address takes anything."""
        wrap = self.admin_site.admin_view
        return [
            path("connect/", wrap(self.connect_page), name=f"{NAME}_connect"),
            path("connect/check/", wrap(self.check_token), name=f"{NAME}_check"),
            path("<int:pk>/token/", wrap(self.token_page), name=f"{NAME}_token"),
            path("<int:pk>/link/", wrap(self.make_link), name=f"{NAME}_link"),
            path("<int:pk>/code/", wrap(self.accept_code), name=f"{NAME}_code"),
            path("<int:pk>/standing/", wrap(self.standing), name=f"{NAME}_standing"),
            *super().get_urls(),
        ]

    # Connecting.

    @method_decorator(_private)
    @method_decorator(never_cache)
    @method_decorator(require_http_methods(["GET", "HEAD", "POST"]))
    def connect_page(self, request: HttpRequest) -> HttpResponse:
        """Show the page; what it is sent becomes a bot."""
        agents = self._agents(request)
        if request.method != "POST":
            return self._connect_page(request, agents)
        form = BotForm(request.POST, agents=agents, by_superuser=access.is_superuser(request))
        if not form.is_valid():
            return self._connect_page(request, agents, form=form)
        draft = form.draft()
        try:
            bot = self._connect(request, draft, form.cleaned_data["agent"])
        except SetupTrouble as error:
            return self._connect_page(request, agents, form=form, trouble=_told(error, draft))
        return HttpResponseRedirect(_address_of(bot))

    @method_decorator(_private)
    @method_decorator(never_cache)
    @method_decorator(require_POST)
    def check_token(self, request: HttpRequest) -> HttpResponse:
        """Say who a token is, before anything is kept."""
        self._agents(request)
        form = TokenForm(request.POST, by_superuser=access.is_superuser(request))
        if not form.is_valid():
            errors = {name: " ".join(map(str, said)) for name, said in form.errors.items()}
            return JsonResponse({"ok": False, "errors": errors})
        draft = form.draft()
        try:
            found = _look(draft)
            if setup.is_here(found.bot_id):
                raise SetupTrouble("here_already")
        except SetupTrouble as error:
            told = _told(error, draft)
            return JsonResponse({"ok": False, "title": told.title, "advice": told.advice})
        return JsonResponse(
            {
                "ok": True,
                "name": found.name,
                "username": f"@{found.username}",
                "notes": words.notes(found),
            }
        )

    @sensitive_variables("draft")
    def _connect(self, request: HttpRequest, draft: Draft, agent: Agent) -> ChannelAccount:
        found = _look(draft)
        if setup.is_here(found.bot_id):
            raise SetupTrouble("here_already")
        wait_for(setup.take_over(draft, found))
        bot = setup.connect(draft, found, agent=agent, by=access.user_of(request))
        said = _("%(name)s is connected.") % {"name": f"@{bot.username}"}
        messages.success(request, said)
        return bot

    def _connect_page(
        self,
        request: HttpRequest,
        agents: "QuerySet[Agent]",
        *,
        form: BotForm | None = None,
        trouble: words.Words | None = None,
    ) -> HttpResponse:
        wanted = request.POST.get("agent") or request.GET.get("agent") or ""
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Connect a Telegram bot"),
            "agents": agents,
            "agent_chosen": wanted,
            "errors": form.errors if form is not None else {},
            "kept": _kept(form),
            "trouble": trouble,
            "is_superuser": access.is_superuser(request),
            "add_agent": reverse("admin:agents_agent_add"),
            "check_url": reverse(f"admin:{NAME}_check"),
        }
        return TemplateResponse(request, "admin/bots/connect.html", context)

    # Another token.

    @method_decorator(_private)
    @method_decorator(never_cache)
    @method_decorator(require_http_methods(["GET", "HEAD", "POST"]))
    def token_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Take another token of the same bot."""
        bot = self._bot(request, pk)
        if not self.has_change_permission(request, bot) or _says_where(bot):
            raise PermissionDenied
        if request.method != "POST":
            return self._token_page(request, bot)
        form = TokenForm(request.POST, by_superuser=access.is_superuser(request))
        if not form.is_valid():
            return self._token_page(request, bot, form=form)
        draft = form.draft()
        try:
            found = _look(draft)
            if bot.bot_id not in (None, found.bot_id):
                raise SetupTrouble("another_bot", username=found.username)
            wait_for(setup.take_over(draft, found))
            setup.change_token(bot, draft, found, by=access.user_of(request))
        except SetupTrouble as error:
            return self._token_page(request, bot, form=form, trouble=_told(error, draft))
        messages.success(request, _("The token is changed."))
        return HttpResponseRedirect(_address_of(bot))

    def _token_page(
        self,
        request: HttpRequest,
        bot: ChannelAccount,
        *,
        form: TokenForm | None = None,
        trouble: words.Words | None = None,
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Another token"),
            "bot": bot,
            "errors": form.errors if form is not None else {},
            "kept": _kept(form) or {"base_url": bot.base_url},
            "trouble": trouble,
            "is_superuser": access.is_superuser(request),
            "back": _address_of(bot),
        }
        return TemplateResponse(request, "admin/bots/token.html", context)

    # Pairing oneself.

    @method_decorator(never_cache)
    @method_decorator(require_POST)
    def make_link(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Make a link that connects the asking user's own person, shown this once."""
        bot = self._bot(request, pk)
        if not bot.username or bot.archived_at is not None:
            raise Http404
        user = access.user_of(request)
        _link, token = pairing.make_link(bot, people.person_of(user, bot.team), user)
        address = pairing.address_of(bot, token)
        return JsonResponse(
            {
                "address": address,
                "picture": qr_code(address),
                "seconds": pairing.LINK_LIFETIME.total_seconds(),
            }
        )

    @method_decorator(never_cache)
    @method_decorator(require_safe)
    def standing(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Return the changing part of the bot's page."""
        return TemplateResponse(
            request, "admin/bots/standing.html", self._standing(request, self._bot(request, pk))
        )

    def _standing(self, request: HttpRequest, bot: ChannelAccount) -> dict[str, Any]:
        contacts = ChannelContact.objects.filter(account=bot)
        allowed = contacts.filter(access=ChannelContact.Access.ALLOWED)
        own = allowed.filter(person__user=access.user_of(request)).first()
        waiting = PairingRequest.objects.filter(
            contact__account=bot,
            state=PairingRequest.State.OPEN,
            expires_at__gt=timezone.now(),
        )
        return {
            "bot": bot,
            "how": words.standing_of(bot, now=timezone.now()),
            "own": own,
            "allowed": allowed.count(),
            "waiting": waiting.count(),
            "may_change": self.has_change_permission(request, bot) and not _says_where(bot),
        }

    @method_decorator(require_POST)
    def accept_code(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Accept whoever was given the code that an admin was told."""
        bot = self._bot(request, pk)
        if not self.has_change_permission(request, bot):
            raise PermissionDenied
        code = request.POST.get("code", "")
        try:
            accepted = pairing.accept_code(bot, code, access.user_of(request))
        except (WrongCode, NotPending):
            messages.error(
                request,
                _("Nobody waits with this code. Codes are good for an hour and a few tries."),
            )
        else:
            said = _("%(name)s may talk with the bot now.") % {"name": accepted.contact}
            messages.success(request, said)
        return HttpResponseRedirect(_address_of(bot))

    # Who may, and what for.

    def _bot(self, request: HttpRequest, pk: int) -> ChannelAccount:
        rows = self.get_queryset(request).select_related("team", "agent")
        bot: ChannelAccount | None = rows.filter(pk=pk, channel=setup.TELEGRAM_CHANNEL).first()
        if bot is None:
            raise Http404
        return bot

    def _agents(self, request: HttpRequest) -> "QuerySet[Agent]":
        page = page_of(self.admin_site, Agent)
        if page is None or not self.has_add_permission(request):
            raise PermissionDenied
        rows = Agent.objects.filter(archived_at=None, team__archived_at=None)
        rows = rows.select_related("team").order_by("team__name", "name", "id")
        return page.narrow(request, rows, self.edit_roles)


def _says_where(bot: ChannelAccount) -> bool:
    """Return whether a file owns the bot and says where its token stands."""
    return bool(bot.managed_by and bot.token_reference)


def _look(draft: Draft) -> Found:
    return wait_for(setup.look(draft))


def _told(error: SetupTrouble, draft: Draft) -> words.Words:
    return words.trouble(error, has_own_address=bool(draft.base_url))


def _kept(form: TokenForm | None) -> dict[str, str]:
    """Return what a page that was sent in vain fills in again; never the token."""
    if form is None:
        return {}
    return {name: str(form.data.get(name, "")) for name in ("token_reference", "base_url")}


def _address_of(bot: ChannelAccount) -> str:
    return reverse(f"admin:{NAME}_change", args=[bot.pk])

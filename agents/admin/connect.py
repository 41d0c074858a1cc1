"""The page on which a model is connected: provider, key, test, model, done.

The page is one; each step is a small POST that checks on its own who asks and what for. What the
steps answer, even when a test fails, is an ordinary answer: a wrong key is no error of ours.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from asgiref.sync import async_to_sync
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST, require_safe

from agents.admin import connect_words as words
from agents.admin.base import TeamAdmin, page_of
from agents.admin.connect_form import ConnectForm, asks_address
from agents.core.errors import ProviderError
from agents.models import Agent, ProviderAccount, User
from agents.providers import ollama
from agents.providers.presets import PRESETS, Preset
from agents.services import access, connecting
from agents.services.catalogue import ModelFacts
from agents.services.connecting import Draft, Tested

T = TypeVar("T")
_private = sensitive_post_parameters("key", "key_reference", "ticket")


class ConnectPages(TeamAdmin):
    """The page and its steps, below the list of accounts."""

    def get_urls(self) -> list[Any]:
        """Put them before the rows' pages, whose address takes anything."""
        name = "agents_provideraccount_connect"
        wrap = self.admin_site.admin_view
        return [
            path("connect/", wrap(self.connect_page), name=name),
            path("connect/ollama/", wrap(self.find_ollama), name=f"{name}_ollama"),
            path("connect/test/", wrap(self.test_draft), name=f"{name}_test"),
            path("connect/save/", wrap(self.save_draft), name=f"{name}_save"),
            *super().get_urls(),
        ]

    @method_decorator(require_safe)
    def connect_page(self, request: HttpRequest) -> HttpResponse:
        """Show the page for one agent's chain."""
        agents = self._agents(request)
        agent = self._agent(request, request.GET.get("agent")) if agents else None
        context = {
            **self.admin_site.each_context(request),
            "title": _("Connect a model"),
            "agent": agent,
            "agents": agents,
            "cards": [_card(known) for known in PRESETS],
            "accounts": self._accounts(agent) if agent else (),
            "cap_sentence": words.cap(agent.daily_cap_usd) if agent else "",
            "agent_url": reverse("admin:agents_agent_change", args=[agent.pk]) if agent else "",
            "chain": agent.chain_links.exists() if agent else False,
            "is_superuser": access.is_superuser(request),
            "data": self._data(request, agent) if agent else None,
            "add_agent": reverse("admin:agents_agent_add"),
            "chat_url": settings.LOGIN_REDIRECT_URL,
            "next": _next(request),
        }
        return TemplateResponse(request, "admin/models/connect.html", context)

    @method_decorator(require_POST)
    def find_ollama(self, request: HttpRequest) -> HttpResponse:
        """Say which models an Ollama on this machine has; superusers only."""
        agent = self._agent(request, request.POST.get("agent"))
        if not access.is_superuser(request):
            raise PermissionDenied
        base_url = request.POST.get("base_url") or _ollama_url()
        values = {"preset": "ollama", "base_url": base_url}
        form = ConnectForm(values, agent=agent, by_superuser=True)
        if not form.is_valid():
            return _mistakes(form)
        draft = form.draft()
        found = wait_for(connecting.find_ollama(draft))
        models = [] if found is None else [_model(row, draft) for row in found]
        return JsonResponse({"ok": True, "is_there": found is not None, "models": models})

    @method_decorator(_private)
    @method_decorator(require_POST)
    def test_draft(self, request: HttpRequest) -> HttpResponse:
        """List the account's models, and ask the chosen or the likeliest one for real."""
        agent = self._agent(request, request.POST.get("agent"))
        return self._with_draft(request, agent, self._test)

    @method_decorator(_private)
    @method_decorator(require_POST)
    def save_draft(self, request: HttpRequest) -> HttpResponse:
        """Keep the account and its model, once it has answered or where that is not wished."""
        agent = self._agent(request, request.POST.get("agent"))
        return self._with_draft(request, agent, self._save)

    # Who may, and what for.

    def _agents(self, request: HttpRequest) -> "QuerySet[Agent]":
        page = page_of(self.admin_site, Agent)
        rows = Agent.objects.filter(archived_at=None, managed_by="").order_by(
            "team__name", "name", "id"
        )
        if page is None or not self.has_add_permission(request):
            raise PermissionDenied
        return page.narrow(request, rows.select_related("team"), self.edit_roles)

    def _agent(self, request: HttpRequest, key: str | None) -> Agent:
        """Return the agent that a request names; the first where it names none."""
        rows = self._agents(request)
        if key:
            rows = rows.filter(pk=key) if key.isdecimal() and len(key) < 19 else rows.none()
        agent = rows.first()
        if agent is None:
            raise Http404
        return agent

    def _accounts(self, agent: Agent) -> "QuerySet[ProviderAccount]":
        return ProviderAccount.objects.filter(team=agent.team_id).order_by("name")

    # The steps.

    @sensitive_variables("form", "draft")
    def _with_draft(
        self,
        request: HttpRequest,
        agent: Agent,
        step: Callable[[HttpRequest, Agent, ConnectForm, Draft], HttpResponse],
    ) -> HttpResponse:
        form = ConnectForm(request.POST, agent=agent, by_superuser=access.is_superuser(request))
        if not form.is_valid():
            return _mistakes(form)
        draft: Draft | None = None
        try:
            draft = form.draft()
            connecting.prepare(draft)
            return step(request, agent, form, draft)
        except ProviderError as error:
            return _trouble(error, draft or form.keyless())

    def _test(
        self, request: HttpRequest, agent: Agent, form: ConnectForm, draft: Draft
    ) -> HttpResponse:
        models = _listed(draft)
        proposed = connecting.preferred(draft, models)
        name = form.cleaned_data["model"] or (proposed.name if proposed else "")
        told: dict[str, Any] = {"models": [_model(row, draft) for row in models], "chosen": name}
        if not name:
            return JsonResponse({"ok": False, **told, **asdict(_nameless(draft))})
        try:
            tested = self._ask(request, agent, draft, name)
        except ProviderError as error:
            return _trouble(error, draft, **told)
        ticket = connecting.ticket_of(draft, tested.facts)
        answered = {"seconds": round(tested.seconds, 1), "ticket": ticket}
        return JsonResponse({"ok": True, **told, **answered, "model": _model(tested.facts, draft)})

    def _save(
        self, request: HttpRequest, agent: Agent, form: ConnectForm, draft: Draft
    ) -> HttpResponse:
        values = form.cleaned_data
        if not values["model"]:
            return JsonResponse({"ok": False, **asdict(_nameless(draft))})
        facts = connecting.redeem(values["ticket"], draft, values["model"])
        was_tested = facts is not None or not values["is_untested"]
        if facts is None:
            facts = (
                connecting.known_facts(draft, values["model"])
                if values["is_untested"]
                else self._ask(request, agent, draft, values["model"]).facts
            )
        is_new = not draft.is_stored
        link = connecting.save(
            draft,
            facts,
            agent=agent,
            is_first=values["is_first"],
            was_tested=was_tested,
            by=request.user if isinstance(request.user, User) else None,
        )
        if is_new and draft.is_stored:
            self.log_addition(request, link.account, [{"added": {}}])
        return JsonResponse({"ok": True, "model": _model(facts, draft)})

    def _ask(self, request: HttpRequest, agent: Agent, draft: Draft, model: str) -> Tested:
        user = access.user_of(request)
        tested = wait_for(connecting.test(draft, model))
        connecting.record(tested, draft, agent=agent, user=user)
        return tested

    def _data(self, request: HttpRequest, agent: Agent) -> dict[str, Any]:
        """Return what the page's script needs to know; no secret is in it."""
        name = "admin:agents_provideraccount_connect"
        return {
            "agent": agent.pk,
            "agent_name": agent.name,
            "looks_for_ollama": access.is_superuser(request),
            "addresses": {step: reverse(f"{name}_{step}") for step in ("ollama", "test", "save")},
            "texts": _texts(),
        }


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine of the network to its end, without keeping a connection to the database.

    A model may take minutes to load; the pool has few connections.
    """
    if not connection.in_atomic_block:
        connection.close()
    return async_to_sync(_run)(work)


async def _run(work: Coroutine[Any, Any, T]) -> T:
    return await work


def _listed(draft: Draft) -> Sequence[ModelFacts]:
    """Return the account's models; none where its server has no list of them."""
    try:
        return wait_for(connecting.list_models(draft))
    except ProviderError as error:
        if connecting.knows_no_list(error):
            return ()
        raise


# --- in words ----------------------------------------------------------------------------------


def _mistakes(form: ConnectForm) -> JsonResponse:
    """Answer with what is wrong in which field."""
    errors = {name: " ".join(map(str, said)) for name, said in form.errors.items()}
    return JsonResponse({"ok": False, "errors": errors})


def _trouble(error: ProviderError, draft: Draft, **told: Any) -> JsonResponse:
    return JsonResponse({"ok": False, **told, **asdict(words.trouble(error, draft))})


def _nameless(draft: Draft) -> words.Trouble:
    if draft.is_ollama:
        return words.Trouble(
            _("Ollama answers, but has no model yet."),
            _("Fetch one with “ollama pull qwen3:4b”, then test again."),
        )
    return words.Trouble(
        _("The server answers, but does not list its models."),
        _("Write the name of a model below, then test it."),
    )


def _model(facts: ModelFacts, draft: Draft) -> dict[str, Any]:
    """Return a model as the page shows it."""
    return {
        "name": facts.name,
        "window": words.window(facts),
        "price": words.price(facts),
        "is_free": draft.account.is_free,
        "warning": words.warning(facts, draft),
    }


def _ollama_url() -> str:
    """Return where an Ollama of this machine is looked for."""
    return ollama.address_of(settings.QANOT_OLLAMA_HOST)


def _card(known: Preset) -> dict[str, Any]:
    return {
        "preset": known,
        "title": words.title(known),
        "base_url": _ollama_url() if known.name == "ollama" else known.base_url,
        "hint": words.hint(known.hint),
        "asks_address": asks_address(known),
        "key_host": known.key_page.removeprefix("https://").partition("/")[0],
    }


def _next(request: HttpRequest) -> str:
    """Return where to go on afterwards, if the link here said so."""
    wanted = request.GET.get("next", "")
    is_here = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    return wanted if is_here else ""


def _texts() -> dict[str, str]:
    """Return every text that the script shows; {…} are its own places."""
    return {
        "looking": _("Looking for Ollama on this machine…"),
        "found": _("Found on this machine: {n} models. One click connects one."),
        "found_one": _("Found on this machine: 1 model. One click connects it."),
        "found_none": _("Ollama runs on this machine, but has no model yet."),
        "not_found": _("Ollama does not answer on this machine."),
        "badge": _("found on this machine"),
        "testing": _("Asking the model…"),
        "testing_local": _("Asking the model… Loading it can take minutes."),
        "saving": _("Saving…"),
        "seconds": _("{n} s"),
        "answered": _("{model} answered in {n} s."),
        "said": _("Details: {said}"),
        "use": _("Use"),
        "use_named": _("Use “{model}”"),
        "none_fits": _("No model fits."),
        "more": _("{n} more: type to find them."),
        "failed": _("The server did not answer. Look at your connection and try again."),
        "out": _("You are logged out. Load the page again."),
        "stopped": _("Stopped."),
        "done": _("{model} answers for {agent} now."),
        "test": _("Test"),
        "test_again": _("Test again"),
        "untested": _("not tested yet"),
    }


def address(agent: Agent) -> str:
    """Return the page's address for an agent."""
    page = reverse("admin:agents_provideraccount_connect")
    return f"{page}?{urlencode({'agent': agent.pk})}"

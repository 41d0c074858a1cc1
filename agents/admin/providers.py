"""Accounts at model providers, and how each stands right now."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

from agents.admin import connect_words as words
from agents.admin.base import TeamForm
from agents.admin.connect import ConnectPages, wait_for
from agents.admin.managed import ManagedAccounts
from agents.core.errors import ProviderError
from agents.models import ChainLink, ProviderAccount
from agents.services import access, accounts, connecting, keys

_TEST_WANTED = "qanot.test_account"


class AccountForm(TeamForm):
    """An account with room for a new key; the one that is stored is shown to nobody.

    Attributes:
        by_superuser: Set by the page for the request's user.
    """

    by_superuser = False
    base_url = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=accounts.MAX_ADDRESS,
        widget=UnfoldAdminTextInputWidget,
        help_text=_(
            "Empty for the provider's own address. Another address needs the key once more."
        ),
    )
    new_key = forms.CharField(
        label=_("New key"),
        required=False,
        max_length=500,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "off"}),
        help_text=_("Takes the place of the key that is there. Stored encrypted."),
    )

    def clean_base_url(self) -> str:
        """Bring the address into one form."""
        return accounts.clean_address(self.cleaned_data["base_url"])

    def clean(self) -> dict[str, Any]:
        """Refuse to send a stored key to an address that it was not given for."""
        values: dict[str, Any] = super().clean() or {}
        if "base_url" not in values or values.get("new_key"):
            return values
        is_moved = values["base_url"] != self.initial.get("base_url", "")
        if is_moved and accounts.must_have_new_key(self.instance, by_superuser=self.by_superuser):
            self.add_error("new_key", accounts.KEY_STAYS)
        return values

    def _get_validation_exclusions(self) -> set[str]:
        # The column's own check wants a dot in every host; servers on one network have none.
        exclusions: set[str] = super()._get_validation_exclusions()  # type: ignore[misc]
        return exclusions | {"base_url"}


@admin.register(ProviderAccount)
class ProviderAccountAdmin(ManagedAccounts, ConnectPages):
    """The team's accounts.

    Owners and editors bring their own keys to public addresses. Which variable or file of this
    deployment holds a key, and where such a key is sent, only superusers say: whoever could set
    both would have any secret sent to an address of their own.
    """

    team_path = "team"
    form = AccountForm
    fixed_fields = ("kind",)
    fieldsets = (
        (
            _("State"),
            {"fields": ("standing", "last_error_in_words", "used_by", "tested_at")},
        ),
        (_("Account"), {"fields": ("team", "name", "kind", "base_url")}),
        (_("Key"), {"fields": ("key_in_words", "new_key", "key_reference")}),
        (
            _("How it is asked"),
            {"fields": ("is_free", "first_event_s", "prompt_cache"), "classes": ("collapse",)},
        ),
    )
    readonly_fields = (
        "standing",
        "last_error_in_words",
        "used_by",
        "tested_at",
        "key_in_words",
    )
    list_display = ("name", "team", "server", "state_label", "last_error_short")
    list_select_related = ("team", "switched_off_by")
    list_filter = ("team", "kind")
    search_fields = ("name",)
    actions = ("clear_selected", "switch_off_selected")
    actions_submit_line = ("test_account", "clear_account", "switch_account_off")

    # The page.

    @method_decorator(sensitive_post_parameters("new_key"))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show or save the form; a test that was asked for runs once the row is stored."""
        response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        wanted = request.META.pop(_TEST_WANTED, None)
        if wanted is not None:
            self._test_now(request, ProviderAccount.objects.get(pk=wanted))
        return response

    def response_change(self, request: HttpRequest, obj: ProviderAccount) -> HttpResponse:
        """Stay on the page after one of its buttons: each says itself what came of it."""
        page = f"{self.opts.app_label}_{self.opts.model_name}"
        if any(f"{page}_{name}" in request.POST for name in self.actions_submit_line):
            return HttpResponseRedirect(request.get_full_path())
        response: HttpResponse = super().response_change(request, obj)
        return response

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Lead to the page that tests what it adds."""
        if not self.has_add_permission(request):
            return super().add_view(request, form_url, extra_context)  # type: ignore[no-any-return]
        return HttpResponseRedirect(reverse("admin:agents_provideraccount_connect"))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Leave out the button that would add another: a test comes before that."""
        context["show_save_and_add_another"] = False
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def get_form(
        self,
        request: HttpRequest,
        obj: models.Model | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        form.by_superuser = access.is_superuser(request)
        return form

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        """Leave out what only another kind of account has."""
        if isinstance(obj, ProviderAccount) and obj.kind == ProviderAccount.Kind.ANTHROPIC:
            return super().get_fieldsets(request, obj)
        *others, (title, options) = super().get_fieldsets(request, obj)
        shown = tuple(name for name in options["fields"] if name != "prompt_cache")
        return (*others, (title, {**options, "fields": shown}))

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> tuple[str, ...]:
        names = tuple(super().get_readonly_fields(request, obj))
        return names if access.is_superuser(request) else (*names, "key_reference")

    def save_model(
        self, request: HttpRequest, obj: ProviderAccount, form: Any, change: bool
    ) -> None:
        """Store it with its new key, if there is one."""
        accounts.save_edited(
            obj,
            new_key=form.cleaned_data.get("new_key", ""),
            by_superuser=access.is_superuser(request),
            is_moved="base_url" in form.changed_data,
        )
        # Unfold runs the pressed button's action here.
        super().save_model(request, obj, form, change)

    # How it stands.

    @display(
        description=_("state"),
        label={"ready": "success", "cooling": "warning", "off": "danger"},
    )
    def state_label(self, account: ProviderAccount) -> tuple[str, str]:
        """Return the state's name, which colours it, and how it reads."""
        return words.state_of(account, now=timezone.now())

    @admin.display(description=_("now"))
    def standing(self, account: ProviderAccount) -> str:
        """Return in words how the account stands, and why."""
        return words.standing(account, now=timezone.now())

    @admin.display(description=_("last error"))
    def last_error_in_words(self, account: ProviderAccount) -> str:
        """Return the last error with its time; what the provider said may be anything."""
        if not account.last_error_at:
            return "–"
        return format_html(
            '{}<br><span class="qanot-quiet">{} · {}</span>',
            words.error_code(account.last_error_code),
            _moment(account.last_error_at),
            account.last_error,
        )

    @admin.display(description=_("last error"))
    def last_error_short(self, account: ProviderAccount) -> str:
        """Return the last error at a glance."""
        if not account.last_error_at:
            return "–"
        said = Truncator(words.error_code(account.last_error_code)).chars(80)
        return f"{said} · {_moment(account.last_error_at)}"

    @admin.display(description=_("address"))
    def server(self, account: ProviderAccount) -> str:
        """Return where it asks."""
        return account.base_url or account.get_kind_display()

    @admin.display(description=_("used by"))
    def used_by(self, account: ProviderAccount) -> str:
        """Return the agents that ask it, and for which models."""
        rows = ChainLink.objects.filter(account=account).select_related("agent")
        return ", ".join(f"{row.agent} ({row.model})" for row in rows) or gettext("no agent yet")

    @admin.display(description=_("key"))
    def key_in_words(self, account: ProviderAccount) -> str:
        """Return where the key is, and whether it can be opened; nothing of the key itself."""
        if account.key_reference:
            return gettext("stands in %(where)s") % {"where": account.key_reference}
        if not account.sealed_key:
            return gettext("none")
        try:
            keys.key_of(account)
        except ProviderError:
            return gettext("stored, but it cannot be opened any more: paste it once more")
        return gettext("stored")

    # What one does to it.

    @admin.action(description=_("Clear: back into use"), permissions=["change"])
    def clear_selected(self, request: HttpRequest, queryset: "QuerySet[ProviderAccount]") -> None:
        """Put the chosen accounts back into use."""
        rows = list(self.narrow(request, queryset, self.edit_roles))
        for account in rows:
            accounts.clear(account, by=access.user_of(request))
        messages.success(
            request,
            ngettext("%(n)s account cleared.", "%(n)s accounts cleared.", len(rows))
            % {"n": len(rows)},
        )

    @admin.action(description=_("Switch off"), permissions=["change"])
    def switch_off_selected(
        self, request: HttpRequest, queryset: "QuerySet[ProviderAccount]"
    ) -> None:
        """Take the chosen accounts out of use."""
        rows = list(self.narrow(request, queryset, self.edit_roles))
        for account in rows:
            accounts.switch_off(account, by=access.user_of(request))
        messages.success(
            request,
            ngettext("%(n)s account switched off.", "%(n)s accounts switched off.", len(rows))
            % {"n": len(rows)},
        )

    @action(description=_("Clear"), permissions=["change"])
    def clear_account(self, request: HttpRequest, obj: ProviderAccount) -> None:
        """Put the account of the page back into use."""
        accounts.clear(obj, by=access.user_of(request))
        messages.success(request, _("The account is back in use."))

    @action(description=_("Switch off"), permissions=["change"])
    def switch_account_off(self, request: HttpRequest, obj: ProviderAccount) -> None:
        """Take the account of the page out of use."""
        accounts.switch_off(obj, by=access.user_of(request))
        messages.success(request, _("The account is switched off."))

    @action(description=_("Test again"), permissions=["change"])
    def test_account(self, request: HttpRequest, obj: ProviderAccount) -> None:
        """Note the wish: the row is still locked, and an answer may take minutes."""
        request.META[_TEST_WANTED] = obj.pk

    def _test_now(self, request: HttpRequest, account: ProviderAccount) -> None:
        """Ask the first model that some agent asks through the account; success clears it."""
        link = ChainLink.objects.filter(account=account).order_by("position", "id").first()
        if link is None:
            messages.warning(request, _("No agent asks this account: no model to test."))
            return
        draft = connecting.Draft(account)
        try:
            draft = connecting.draft_of(account)
            connecting.prepare(draft)
            tested = wait_for(connecting.test(draft, link.model))
        except ProviderError as error:
            trouble = words.trouble(error, draft)
            messages.error(request, f"{trouble.title} {trouble.advice} {trouble.said}")
            return
        connecting.record(tested, draft, agent=link.agent, user=access.user_of(request))
        accounts.note_tested(account)
        answered = gettext("%(model)s answered in %(n)s s. The account is in use.")
        messages.success(request, answered % {"model": link.model, "n": round(tested.seconds, 1)})


def _moment(at: Any) -> str:
    return date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")

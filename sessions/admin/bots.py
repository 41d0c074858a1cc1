"""Telegram bots, and the team's own doors to the web chat and REST."""

from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextInputWidget

from agents.admin import links
from agents.admin.archive import ArchivedFilter
from agents.admin.base import TeamForm
from agents.admin.managed import ManagedNote, is_managed
from agents.admin.showing import once
from agents.services import access
from sessions.admin import bot_words as words
from sessions.admin.bot_pages import NAME, BotPages
from sessions.channels.telegram import bots
from sessions.channels.telegram.parts import AGENT, BOT_FIELDS
from sessions.channels.telegram.setup import TELEGRAM_CHANNEL, SetupTrouble
from sessions.models import ChannelAccount, ChannelContact

_SETTINGS = (
    (None, {"fields": ("name", "agent")}),
    (
        _("Who may talk with it"),
        {"fields": ("access", "groups", "messages_per_minute", "bound_channels")},
    ),
    (_("How it answers"), {"fields": ("answer_mode", "pause_s", "shows_receipts")}),
    (
        _("How messages travel"),
        {"fields": ("receives", "unknown_policy"), "classes": ("collapse",)},
    ),
)
_DOOR = ((None, {"fields": ("team", "channel", "name")}),)


class BotsFilter(admin.SimpleListFilter):
    """Shows bots until the other doors are asked for."""

    title = _("channel")
    parameter_name = "doors"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return (("all", _("all doors")),)

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": "Telegram"}
        yield from others

    def queryset(
        self, request: HttpRequest, queryset: "models.QuerySet[Any]"
    ) -> "models.QuerySet[Any]":
        return queryset if self.value() == "all" else queryset.filter(channel=TELEGRAM_CHANNEL)


class BotSettingsForm(TeamForm):
    """A bot's settings; an agent of its team answers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "agent" in self.fields:
            self.fields["agent"].required = self.instance.channel == TELEGRAM_CHANNEL


@admin.register(ChannelAccount)
class BotAdmin(ManagedNote, BotPages):
    """The team's bots."""

    nav_title = _("Telegram bots")
    team_path = "team"
    form = BotSettingsForm
    fixed_fields = ("channel",)
    change_form_outer_before_template = "admin/bots/panel.html"
    list_before_template = "admin/bots/first.html"
    list_display = ("shown_name", "agent", "state_label", "shown_contacts", "team", "received_at")
    list_select_related = ("team", "agent")
    list_filter = (BotsFilter, ArchivedFilter, "team", "agent")
    ordering = ("team__name", "channel", "name")
    search_fields = ("name", "username")
    actions = ("switch_on_selected", "switch_off_selected", "archive_selected", "restore_selected")
    actions_submit_line = ("switch_bot_off", "switch_bot_on")

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Any]":
        rows: models.QuerySet[Any] = super().get_queryset(request)
        talking = models.Q(contacts__access=ChannelContact.Access.ALLOWED)
        counted: models.QuerySet[Any] = rows.annotate(
            contact_count=models.Count("contacts", filter=talking)
        )
        return counted

    # What `ManagedNote` puts its note above; another channel's door has fewer.
    fieldsets: ClassVar[Any] = _SETTINGS

    def get_fieldsets(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        is_bot = isinstance(obj, ChannelAccount) and _is_bot(obj)
        return super().get_fieldsets(request, obj) if is_bot else _DOOR

    def get_readonly_fields(
        self, request: HttpRequest, obj: models.Model | None = None
    ) -> tuple[str, ...]:
        """Return also what a file says of the bot."""
        names = super().get_readonly_fields(request, obj)
        return (*names, "name", AGENT, *BOT_FIELDS) if is_managed(obj) else names

    def formfield_for_foreignkey(
        self, db_field: "models.ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        field = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "agent" and field.queryset is not None:
            field.queryset = field.queryset.filter(archived_at=None)
            widget = field.widget
            for name in ("can_add_related", "can_change_related", "can_delete_related"):
                setattr(widget, name, False)
        return field

    def formfield_for_dbfield(
        self, db_field: "models.Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "bound_channels":
            kwargs["widget"] = UnfoldAdminTextInputWidget
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Lead to the page that asks who a token is."""
        if not self.has_add_permission(request):
            return super().add_view(request, form_url, extra_context)  # type: ignore[no-any-return]
        return HttpResponseRedirect(reverse(f"admin:{NAME}_connect"))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list under the name that the sidebar has."""
        return super().changelist_view(request, {"title": self.nav_title, **(extra_context or {})})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the bot above its settings, and a code for who is not connected yet."""
        context["show_save_and_add_another"] = False
        bot = kwargs.get("obj")
        if isinstance(bot, ChannelAccount) and _is_bot(bot):
            user = access.user_of(request)
            contacts = reverse("admin:bot_sessions_channelcontact_changelist")
            context |= self._standing(request, bot)
            context |= {
                "is_bot": True,
                "title": bot.name,
                "person_name": user.get_full_name() or user.get_username(),
                "contacts_url": f"{contacts}?{urlencode({'account__id__exact': bot.pk})}",
                "requests_url": reverse("admin:bot_sessions_pairingrequest_changelist"),
            }
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def save_model(
        self, request: HttpRequest, obj: ChannelAccount, form: Any, change: bool
    ) -> None:
        """Store what the form has, and nothing else: pollers write the row at the same time."""
        names = [name for name in form.cleaned_data if name in form.fields]
        obj.save(update_fields=names if change else None)
        for each in self.get_actions_submit_line(request, str(obj.pk)):
            if each.action_name in request.POST:
                each.method(request, obj)

    # How a bot stands.

    @display(description=_("bot"), ordering="name")
    def shown_name(self, bot: ChannelAccount) -> str:
        """Return the name as people know it on the channel."""
        if not _is_bot(bot):
            return f"{bot.get_channel_display()} · {bot.name}"
        return f"{bot.name} · @{bot.username}" if bot.username else bot.name

    @display(
        description=_("state"),
        label={"live": "success", "starting": "info", "troubled": "danger", "off": "warning"},
    )
    @once
    def state_label(self, bot: ChannelAccount) -> tuple[str, str]:
        """Return the state's name, which colours it, and how it reads."""
        if not _is_bot(bot):
            return "live", str(_("live"))
        how = words.standing_of(bot, now=timezone.now())
        return how.state, how.label

    @display(description=_("contacts"))
    def shown_contacts(self, bot: Any) -> str:
        """Return how many people may talk with it, as a way to them."""
        if not _is_bot(bot):
            return "–"
        return links.to_list(ChannelContact, bot.contact_count, account__id__exact=bot.pk)

    # What one does to it.

    @admin.action(description=_("Switch off"), permissions=["change"])
    def switch_off_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[ChannelAccount]"
    ) -> None:
        """Let the chosen bots hear nothing."""
        for bot in self._chosen(request, queryset):
            bots.switch_off(bot, by=access.user_of(request))

    @admin.action(description=_("Switch on"), permissions=["change"])
    def switch_on_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[ChannelAccount]"
    ) -> None:
        """Let the chosen bots hear again."""
        for bot in self._chosen(request, queryset):
            bots.switch_on(bot, by=access.user_of(request))

    @admin.action(description=_("Archive"), permissions=["change"])
    def archive_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[ChannelAccount]"
    ) -> None:
        """Put the chosen bots away: they hear nothing, and may be connected again."""
        for bot in self._chosen(request, queryset):
            bots.archive(bot, by=access.user_of(request))

    @admin.action(description=_("Bring back"), permissions=["change"])
    def restore_selected(
        self, request: HttpRequest, queryset: "models.QuerySet[ChannelAccount]"
    ) -> None:
        """Bring the chosen bots back, unless one is connected again by now."""
        for bot in self._chosen(request, queryset):
            try:
                bots.bring_back(bot, by=access.user_of(request))
            except SetupTrouble:
                messages.warning(
                    request,
                    _("%(name)s is connected anew by now, and stays archived here.")
                    % {"name": bot.name},
                )

    @action(description=_("Switch off"), permissions=["change"])
    def switch_bot_off(self, request: HttpRequest, obj: ChannelAccount) -> None:
        """Let the bot of the page hear nothing."""
        bots.switch_off(obj, by=access.user_of(request))
        messages.success(request, _("The bot is switched off."))

    @action(description=_("Switch on"), permissions=["change"])
    def switch_bot_on(self, request: HttpRequest, obj: ChannelAccount) -> None:
        """Let the bot of the page hear again."""
        bots.switch_on(obj, by=access.user_of(request))
        messages.success(request, _("The bot is switched on."))

    def get_actions_submit_line(self, request: HttpRequest, object_id: str) -> Any:
        """Offer the one switch that changes something; none on another channel's door."""
        found = super().get_actions_submit_line(request, object_id)
        bot = self.get_queryset(request).filter(pk=object_id, channel=TELEGRAM_CHANNEL).first()
        if bot is None:
            return []
        wanted = "switch_bot_off" if bot.switched_off_at is None else "switch_bot_on"
        return [each for each in found if each.action_name.endswith(wanted)]

    def _chosen(
        self, request: HttpRequest, rows: "models.QuerySet[ChannelAccount]"
    ) -> list[ChannelAccount]:
        mine = self.narrow(request, ChannelAccount.objects.all(), self.edit_roles)
        return list(mine.filter(pk__in=rows.values("pk"), channel=TELEGRAM_CHANNEL))


def _is_bot(row: ChannelAccount) -> bool:
    return row.channel == TELEGRAM_CHANNEL

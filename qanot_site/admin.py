"""Pages of other apps, in our pages' clothes; they are about the deployment, not a team."""

from collections.abc import Callable

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django_celery_beat import admin as beat_admin
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.admin import TabularInline
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from agents.admin import agent_pages
from agents.admin.base import SuperuserAdmin
from agents.services import access, audit
from qanot_site.configuration import page

for _model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(_model)


_Beats = beat_admin.PeriodicTaskAdmin


class TaskSelect(UnfoldAdminSelectWidget, beat_admin.TaskSelectWidget):
    """Beat's choice of registered tasks, looking like the other choices."""


class PeriodicTaskForm(beat_admin.PeriodicTaskForm):
    """Beat's form with our widgets."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["task"].widget = UnfoldAdminTextInputWidget()
        self.fields["regtask"].widget = TaskSelect()


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(beat_admin.PeriodicTaskAdmin, SuperuserAdmin):
    """What beat starts."""

    form = PeriodicTaskForm
    # Beat's own adds an inline script, which our policy refuses, to explain a crontab while one
    # chooses it; the field below it explains the stored one.
    change_form_template = None

    @admin.action(description=_Beats.enable_tasks.short_description)
    def enable_tasks(self, request: HttpRequest, queryset: "QuerySet[PeriodicTask]") -> None:
        """Switch the chosen tasks on."""
        self._noted(request, queryset, super().enable_tasks)

    @admin.action(description=_Beats.disable_tasks.short_description)
    def disable_tasks(self, request: HttpRequest, queryset: "QuerySet[PeriodicTask]") -> None:
        """Switch the chosen tasks off."""
        self._noted(request, queryset, super().disable_tasks)

    @admin.action(description=_Beats.toggle_tasks.short_description)
    def toggle_tasks(self, request: HttpRequest, queryset: "QuerySet[PeriodicTask]") -> None:
        """Switch the chosen tasks over."""
        self._noted(request, queryset, super().toggle_tasks)

    @admin.action(description=_Beats.run_tasks.short_description)
    def run_tasks(self, request: HttpRequest, queryset: "QuerySet[PeriodicTask]") -> None:
        """Ring the chosen tasks now."""
        self._noted(request, queryset, super().run_tasks, action="periodictask.run")

    @transaction.atomic
    def _noted(
        self,
        request: HttpRequest,
        queryset: "QuerySet[PeriodicTask]",
        act: Callable[[HttpRequest, "QuerySet[PeriodicTask]"], None],
        *,
        action: str = "periodictask.changed",
    ) -> None:
        """Do what beat's own action does, and write each task of it into the audit log."""
        chosen = PeriodicTask.objects.filter(pk__in=list(queryset.values_list("pk", flat=True)))
        before = dict(chosen.values_list("pk", "enabled"))
        act(request, chosen)
        for pk, is_on in chosen.values_list("pk", "enabled"):
            changes = {} if is_on == before[pk] else {"enabled": [before[pk], is_on]}
            if changes or action != "periodictask.changed":
                audit.record(
                    team_id=None,
                    actor=access.user_of(request),
                    action=action,
                    subject=f"periodictask:{pk}",
                    changes=changes,
                )


class TaskInline(beat_admin.PeriodicTaskInline, TabularInline):
    """The tasks of a schedule."""


class ScheduleAdmin(SuperuserAdmin):
    """When beat starts something."""

    inlines = (TaskInline,)


@admin.register(CrontabSchedule)
class CrontabScheduleAdmin(beat_admin.CrontabScheduleAdmin, SuperuserAdmin):
    """Schedules in cron's way of writing."""

    inlines = (TaskInline,)


@admin.register(ClockedSchedule)
class ClockedScheduleAdmin(beat_admin.ClockedScheduleAdmin, SuperuserAdmin):
    """Single moments."""

    inlines = (TaskInline,)


admin.site.register([IntervalSchedule, SolarSchedule], ScheduleAdmin)

agent_pages.add("export", "export/", page.download)

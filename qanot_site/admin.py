"""Pages of other apps, in our pages' clothes; they are about the deployment, not a team."""

from django.contrib import admin
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
from qanot_site.configuration import page

for _model in (ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(_model)


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

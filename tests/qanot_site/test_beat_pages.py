"""Beat's pages: what is switched by a list's actions stands in the audit log."""

import pytest
from django.test import Client
from django.urls import reverse
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from agents.models import AuditEvent, User

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("disable_tasks", [("periodictask.changed", {"enabled": [True, False]})]),
        ("toggle_tasks", [("periodictask.changed", {"enabled": [True, False]})]),
        ("enable_tasks", []),
    ],
)
def test_a_switched_task_is_told(action: str, told: list[tuple[str, dict[str, object]]]) -> None:
    root = User.objects.create_superuser("root")
    every = IntervalSchedule.objects.create(every=1, period=IntervalSchedule.DAYS)
    task = PeriodicTask.objects.create(name="Sweep", task="bot_sessions.run", interval=every)
    client = Client()
    client.force_login(root)
    address = reverse("admin:django_celery_beat_periodictask_changelist")
    answer = client.post(address, {"action": action, "_selected_action": [task.pk]})
    assert answer.status_code == 302
    rows = AuditEvent.objects.filter(subject=f"periodictask:{task.pk}")
    assert [(row.action, row.changes["fields"]) for row in rows if row.changes] == told
    assert {row.actor for row in rows} <= {f"user:{root.pk}"}

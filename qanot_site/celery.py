"""The Celery application: tasks are doorbells, PostgreSQL holds the work."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "qanot_site.settings")

app = Celery("qanot")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

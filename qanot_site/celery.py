"""The Celery application: tasks are doorbells, PostgreSQL holds the work."""

import os
import warnings
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "qanot_site.settings")

# Bells are JSON with numbers in them: what Celery warns root of does not apply.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

app = Celery("qanot")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def keep_django_logging(**_: Any) -> None:
    """Connected, so that Celery leaves the handlers alone that Django's LOGGING set up."""


setup_logging.connect(keep_django_logging)

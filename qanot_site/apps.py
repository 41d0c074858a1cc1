"""The composing app: commands, addresses, the admin site."""

from django.apps import AppConfig

# Imported so that every process, not only the worker, rings through the configured application.
from qanot_site.celery import app as celery_app

__all__ = ["QanotSiteConfig", "celery_app"]


class QanotSiteConfig(AppConfig):
    name = "qanot_site"
    verbose_name = "Qanot"

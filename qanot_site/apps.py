"""The composing app: commands, addresses, the admin site."""

import gc
from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig

# Imported so that every process, not only the worker, rings through the configured application.
from qanot_site.celery import app as celery_app

__all__ = ["QanotAdminConfig", "QanotSiteConfig", "celery_app"]


# Net new objects before the youngest generation is looked through, and how often the older ones.
COLLECT_AFTER = (50_000, 50, 50)


class QanotSiteConfig(AppConfig):
    name = "qanot_site"
    verbose_name = "Qanot"

    def ready(self) -> None:
        """Note log-ins from now on, and keep the collector away from what was imported.

        With Python's defaults a full collection came every few seconds and stood for 50 to
        100 ms, in which no stream of the process moved: measured with 150 streams, the slowest
        twentieth of the chunks waited 150 ms instead of 40.
        """
        # Its models are there only now.
        import_module("qanot_site.visitors").listen()
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)


class QanotAdminConfig(SimpleAdminConfig):
    """Django's admin with our site in the place of its own.

    Its pages are imported with the addresses (`qanot_site.urls`): a worker, which serves none,
    starts in two thirds of the time without them.
    """

    default_site = "qanot_site.admin_site.QanotAdminSite"

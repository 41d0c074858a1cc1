"""The composing app: commands, addresses, the admin site."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig

# Imported so that every process, not only the worker, rings through the configured application.
from qanot_site.celery import app as celery_app

__all__ = ["QanotAdminConfig", "QanotSiteConfig", "celery_app"]


class QanotSiteConfig(AppConfig):
    name = "qanot_site"
    verbose_name = "Qanot"


class QanotAdminConfig(AdminConfig):
    """Django's admin with our site in the place of its own."""

    default_site = "qanot_site.admin_site.QanotAdminSite"

"""The app of what agents remember."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MemoryConfig(AppConfig):
    """Stands on agents, below sessions."""

    name = "memory"
    verbose_name = _("Memory")
    default_auto_field = "django.db.models.BigAutoField"

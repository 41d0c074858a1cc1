"""The app of agents, teams and people."""

from django.apps import AppConfig
from django.conf import settings
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _

from agents.providers import registry


class AgentsConfig(AppConfig):
    """The lowest of the three apps."""

    name = "agents"
    verbose_name = _("Agents")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the settings' providers known, and let every app register its tools."""
        for kind, path in settings.QANOT_PROVIDERS.items():
            registry.register(kind, path)
        autodiscover_modules("tools")

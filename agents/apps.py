"""The app of agents, teams and people."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class AgentsConfig(AppConfig):
    """The lowest of the three apps."""

    name = "agents"
    verbose_name = _("Agents")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let every app register its tools, as the admin does with its pages."""
        autodiscover_modules("tools")

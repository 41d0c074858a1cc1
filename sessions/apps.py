"""The app of conversations and turns."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SessionsConfig(AppConfig):
    """Its label keeps it apart from django.contrib.sessions."""

    name = "sessions"
    label = "bot_sessions"
    verbose_name = _("Conversations")
    default_auto_field = "django.db.models.BigAutoField"

"""Who did what."""

from django.contrib import admin

from agents.admin.base import ReadOnlyAdmin
from agents.models import AuditEvent


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    """Acts that somebody may have to answer for."""

    team_path = "team_id"
    fields = ("actor", "action", "subject", "reason", "created_at")
    list_display = ("created_at", "actor", "action", "subject", "reason")
    list_filter = ("action",)
    search_fields = ("actor", "action", "subject")
    date_hierarchy = "created_at"

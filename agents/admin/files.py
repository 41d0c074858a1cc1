"""Files' facts; what a private file is called is its person's affair."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.admin.base import ReadOnlyAdmin
from agents.admin.privacy import PrivateText, belongs_to_user
from agents.models import File


@admin.register(File)
class FileAdmin(PrivateText, ReadOnlyAdmin):
    """Files that people or tools brought."""

    team_path = "team"
    text_path = "name"
    text_columns = ("text_in_short", "file_name")
    fields = readonly_fields = (
        "team",
        "person",
        "chat",
        "file_name",
        "media_type",
        "size_bytes",
        "sha256",
        "origin",
        "created_at",
    )
    list_display = (
        "id",
        "text_in_short",
        "media_type",
        "size_bytes",
        "person",
        "chat",
        "created_at",
    )
    list_select_related = ("person", "chat")
    list_filter = ("team", "media_type")
    search_fields = ("sha256", "origin", "person__display_name")
    ordering = ("-id",)

    def readable(self, request: HttpRequest) -> models.Q:
        return models.Q(person__isnull=True) | belongs_to_user(request, "person")

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the row; Django names the page after it, so a private name is taken out."""
        row = super().get_object(request, object_id, from_field)
        if row is not None and not row.is_readable:
            row.name = str(_("private"))
        return row

    @admin.display(description=_("name"))
    def file_name(self, row: Any) -> str:
        return self.text_in_full(row) if not row.is_readable else row.name

"""Pages that only a team's owners see."""

from collections.abc import Collection
from typing import Any, ClassVar

from django.db import models
from django.http import HttpRequest

from agents.admin.base import TeamAdmin
from agents.services import access


class OwnersAdmin(TeamAdmin):
    """A page for owners; for editors and operators it does not exist.

    Attributes:
        read_roles: Roles whose holders see the rows.
    """

    read_roles: ClassVar[Collection[str]] = access.OWNERS
    edit_roles = access.OWNERS

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[Any]":
        return self.narrow(request, super().get_queryset(request), self.read_roles)

    def has_view_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return self._may(request, self.read_roles, obj)

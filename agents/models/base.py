"""What rows have in common."""

import uuid
from typing import ClassVar

import uuid_utils.compat
from django.db import models
from django.utils.translation import gettext_lazy as _


def new_public_id() -> uuid.UUID:
    """Return a UUIDv7: ordered by time, safe to show outside."""
    return uuid_utils.compat.uuid7()


class PublicIdModel(models.Model):
    """A row that is named outside by a UUIDv7, inside by an integer."""

    public_id = models.UUIDField(_("public id"), default=new_public_id, unique=True, editable=False)

    class Meta:
        abstract = True


class ArchivableModel(models.Model):
    """A row that is archived rather than deleted, since records of the past point at it."""

    archived_at = models.DateTimeField(_("archived at"), null=True, blank=True, editable=False)

    class Meta:
        abstract = True


class AppendOnlyModel(models.Model):
    """A record of the past: the application's database role may neither change nor delete it."""

    append_only: ClassVar[bool] = True

    class Meta:
        abstract = True

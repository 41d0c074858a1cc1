"""Files that people or tools brought."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models.base import PublicIdModel
from agents.models.people import Chat, Person, Team


class File(PublicIdModel):
    """One file's facts; its bytes lie in the default storage and leave it only by a checked view.

    Its scope is the person's or the group's where one is named, else the team's.
    """

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="files", verbose_name=_("team")
    )
    person = models.ForeignKey(
        Person, on_delete=models.PROTECT, null=True, blank=True, verbose_name=_("person")
    )
    chat = models.ForeignKey(
        Chat, on_delete=models.PROTECT, null=True, blank=True, verbose_name=_("chat")
    )
    name = models.CharField(_("name"), max_length=255)
    media_type = models.CharField(_("type"), max_length=127)
    size_bytes = models.PositiveBigIntegerField(_("size (bytes)"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    origin = models.CharField(_("origin"), max_length=64, help_text="message:12")
    content = models.FileField(_("content"), upload_to="files/%Y/%m/")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("file")
        verbose_name_plural = _("files")
        indexes: ClassVar = [models.Index(fields=["team", "sha256"], name="file_by_digest")]

    def __str__(self) -> str:
        return self.name

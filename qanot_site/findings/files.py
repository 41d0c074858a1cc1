"""Rows that a file owns and that say something else by now."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from agents.models import Agent, ProviderAccount
from agents.services import managed
from agents.services.managed import Managed
from qanot_site.findings.registry import Finding, check
from sessions.channels.telegram import parts as _parts  # noqa: F401 — how bots are taken apart
from sessions.models import ChannelAccount


@check
def drift() -> Iterator[Finding]:
    """Yield what somebody changed since a file was applied, here or in the file."""
    agents = Agent.objects.filter(archived_at=None).exclude(managed_by="")
    accounts = ProviderAccount.objects.exclude(managed_by="")
    bots = ChannelAccount.objects.filter(archived_at=None).exclude(managed_by="")
    rows: list[Managed] = [
        *agents.order_by("id"),
        *accounts.order_by("id"),
        *bots.select_related("agent").order_by("id"),
    ]
    for row in rows:
        yield from _of(row)


def _of(row: Managed) -> Iterator[Finding]:
    if changed := managed.drift(row):
        names = ", ".join(managed.part_in_words(row, part) for part in changed)
        yield Finding(
            code="files.drift",
            level="warning",
            subject=str(row),
            text=_("Changed since %(file)s was applied: %(names)s.")
            % {"file": row.managed_by, "names": names},
            fix=_("Apply the file again, or take the change into it first."),
        )
    if managed.changed_files(row):
        yield Finding(
            code="files.waiting",
            level="note",
            subject=str(row),
            text=_("%(file)s was changed and not applied since.") % {"file": row.managed_by},
            fix=_("Look at `manage.py apply %(file)s --check`, then apply it.")
            % {"file": row.managed_by},
        )

"""Disk, backups and settings of the machine that asks."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.utils.translation import gettext as _

from qanot_site.embedded import place
from qanot_site.findings.registry import Finding, check, figures

LEAST_FREE_BYTES: Final = 2**30
LEAST_FREE_SHARE: Final = 0.05
OLDEST_BACKUP: Final = timedelta(days=7)
SHORTEST_TOKEN: Final = 24


@check(about="deployment", needs_database=False)
def disk() -> Iterator[Finding]:
    """Yield a disk without room: of the home, or of its servers' data where that lies elsewhere."""
    for folder in _folders():
        usage = shutil.disk_usage(folder)
        if usage.free >= LEAST_FREE_BYTES and usage.free >= LEAST_FREE_SHARE * usage.total:
            continue
        yield Finding(
            code="disk.low",
            level="warning",
            subject=str(folder),
            text=_("Only %(free)s MB of %(total)s MB are free.")
            % figures(free=usage.free // 2**20, total=usage.total // 2**20),
            fix=_("Make room: old backups first. A full disk stops the database."),
        )


def _folders() -> list[Path]:
    """Return one existing folder for each disk that holds something of ours."""
    home = settings.HOME
    by_disk: dict[int, Path] = {}
    for folder in (home.folder, home.files, home.backups, place.folder_elsewhere(home)):
        if folder is not None and folder.is_dir():
            by_disk.setdefault(folder.stat().st_dev, folder)
    return list(by_disk.values())


@check(about="deployment", needs_database=False)
def backups() -> Iterator[Finding]:
    """Yield backups that are old. Whoever keeps them elsewhere has none here, which is a note."""
    folder = settings.HOME.backups
    files = [path for path in folder.glob("*") if path.is_file()] if folder.is_dir() else []
    fix = _("Run: python manage.py backup — or let qanot-backup.timer do it: docs/backup.md.")
    if not files:
        yield Finding(
            code="backups.none",
            level="note",
            subject=_("The backups"),
            text=_("There is none in %(folder)s.") % {"folder": folder},
            fix=fix,
        )
        return
    newest = max(path.stat().st_mtime for path in files)
    age = datetime.now(UTC) - datetime.fromtimestamp(newest, UTC)
    if age > OLDEST_BACKUP:
        yield Finding(
            code="backups.old",
            level="warning",
            subject=_("The backups"),
            text=_("The newest in %(folder)s is %(days)s days old.")
            % {"folder": folder, "days": age.days},
            fix=fix,
        )


@check(about="deployment", needs_database=False)
def settings_that_do_not_fit() -> Iterator[Finding]:
    """Yield settings that are wrong together."""
    subject = _("The settings")
    is_public = settings.QANOT_PUBLIC_URL.startswith("https://")
    if settings.DEBUG and settings.QANOT_PUBLIC_URL:
        yield Finding(
            code="settings.debug",
            level="warning",
            subject=subject,
            text=_("QANOT_DEBUG is on, and there is a public address: errors show strangers code."),
            fix=_("Set QANOT_DEBUG=false."),
        )
    if settings.QANOT_PUBLIC_URL.startswith("http://"):
        yield Finding(
            code="settings.no_https",
            level="warning",
            subject=subject,
            text=_("QANOT_PUBLIC_URL begins with http://: passwords travel in clear."),
            fix=_("Put a proxy with a certificate in front: docs/deploy.md."),
        )
    if "*" in settings.ALLOWED_HOSTS and is_public:
        yield Finding(
            code="settings.any_host",
            level="warning",
            subject=subject,
            text=_("QANOT_ALLOWED_HOSTS lets requests name any host."),
            fix=_("Name the hosts that people use."),
        )
    if settings.QANOT_HEARTBEAT_S * 2 > settings.QANOT_LEASE_S:
        yield Finding(
            code="settings.heartbeat",
            level="warning",
            subject=subject,
            text=_("One late heartbeat loses a lease: QANOT_LEASE_S is shorter than two of them."),
            fix=_("Let QANOT_LEASE_S be at least three times QANOT_HEARTBEAT_S."),
        )
    if 0 < len(settings.QANOT_METRICS_TOKEN) < SHORTEST_TOKEN:
        yield Finding(
            code="settings.metrics_token",
            level="warning",
            subject=subject,
            text=_("QANOT_METRICS_TOKEN is short enough to be guessed."),
            fix=_("Take a longer one: openssl rand -base64 32"),
        )

"""`memory index`: how far a team's index is, and a new one built while one watches."""

import argparse
import time
from collections.abc import Sequence
from typing import Any, Final

from django.core.management.base import CommandError, OutputWrapper
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from agents.core.embedding import NoEmbedder, TooSlow
from agents.core.errors import ProviderError
from agents.models import Team
from memory.index import postings, rebuilding, vectors
from memory.management.consoles import console
from memory.models import IndexVersion

SHOWN_EVERY_S: Final = 1.0
# So long nothing may move before the command gives up; workers go on with what is left.
PATIENCE_S: Final = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``memory index``."""
    parser.add_argument("--team", help="the team's slug; without one, all teams")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--status", action="store_true", help="show how far it is (the default)")
    what.add_argument(
        "--rebuild", action="store_true", help="build it anew; search goes on with the old one"
    )


def run(options: dict[str, Any], stdout: OutputWrapper) -> None:
    """Show how far each team's index is, or build it anew first."""
    teams = _teams(options["team"])
    if options["rebuild"]:
        for team in teams:
            _rebuild(team, stdout)
    console(stdout).print(_table(teams))


def _teams(slug: str | None) -> Sequence[Team]:
    teams = Team.objects.filter(archived_at=None).order_by("pk")
    if slug is None:
        return list(teams)
    found = list(teams.filter(slug=slug))
    if not found:
        raise CommandError(f"There is no team “{slug}”.")
    return found


def _rebuild(team: Team, stdout: OutputWrapper) -> None:
    try:
        version = rebuilding.rebuild(team.pk)
    except (ProviderError, NoEmbedder, TooSlow) as error:
        raise CommandError(f"The embedding model does not answer: {error}") from error
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console(stdout),
        disable=not stdout.isatty(),
    )
    if not stdout.isatty():
        stdout.write(f"{team}: the index is built anew …")
    with bar:
        _work(version, bar)
    version.refresh_from_db()
    if version.state == IndexVersion.State.ACTIVE:
        stdout.write(f"{team}: the new index is in use.")
    else:
        stdout.write(f"{team}: the workers go on with it; `memory index` shows how far it is.")


def _work(version: IndexVersion, bar: Progress) -> None:
    """Do what there is to do beside the workers, until the version is in use or nothing moves."""
    task = bar.add_task(str(version.team), total=None)
    moved_at = shown_at = time.monotonic()
    while True:
        if _step():
            moved_at = time.monotonic()
        elif time.monotonic() - moved_at > PATIENCE_S:
            return
        else:
            # A worker has what is left.
            time.sleep(SHOWN_EVERY_S)
        if time.monotonic() - shown_at < SHOWN_EVERY_S:
            continue
        shown_at = time.monotonic()
        states = {one.version_id: one for one in rebuilding.progress(version.team_id)}
        known = states.get(version.pk)
        if known is None or known.state == IndexVersion.State.ACTIVE:
            return
        active = next(one for one in states.values() if one.state == IndexVersion.State.ACTIVE)
        done = max(known.indexed - known.waiting, 0)
        bar.update(task, total=max(active.passages, known.passages), completed=done)


def _step() -> bool:
    is_more = bool(postings.index_waiting()) or bool(vectors.embed_waiting().done)
    return is_more or bool(vectors.index_spaces()) or rebuilding.advance()


def _table(teams: Sequence[Team]) -> Table:
    table = Table("team", "state", "model", "pieces", "passages", "by words", "by meaning", "error")
    for team in teams:
        for one in rebuilding.progress(team.pk):
            by_meaning = str(one.indexed - one.waiting) if one.space else "–"
            table.add_row(
                str(team),
                one.state,
                one.space or "words only",
                f"{one.chunk_characters}/{one.chunk_overlap}",
                f"{one.passages:,}",
                f"{one.indexed:,}",
                by_meaning,
                one.error,
            )
    return table

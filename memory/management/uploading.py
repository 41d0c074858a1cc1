"""`memory documents`: bring files for an agent, see how far they are, take them out."""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError, OutputWrapper
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from agents.models import Agent, Person
from agents.services.files import MAX_BYTES
from memory import upload_words, uploads
from memory.errors import UploadRefused
from memory.index import postings, vectors
from memory.management.consoles import console
from memory.models import Scope, UploadedDocument

ACTOR: Final = "command:memory"
# So long nothing may move before the command leaves the rest to the workers.
PATIENCE_S: Final = 20.0
LOOK_EVERY_S: Final = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``memory documents``."""
    actions = parser.add_subparsers(dest="documents_action", required=True)
    add = actions.add_parser("add", help="bring files; folders are walked")
    add.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    _add_whose(add)
    add.add_argument("--no-wait", action="store_true", help="leave the reading to the workers")
    listed = actions.add_parser("list", help="show the documents and how far each is")
    _add_whose(listed)
    listed.add_argument("--json", action="store_true", help="print JSON")
    forget = actions.add_parser("forget", help="take documents out, with all that is found in them")
    forget.add_argument("documents", nargs="+", metavar="ID")
    _add_whose(forget)


def _add_whose(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", required=True, help="the agent's slug")
    parser.add_argument("--team", help="slug of the team; needed where several have the agent")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("--person", help="for this person alone: their id or name")
    whose.add_argument(
        "--for-team", action="store_true", help="for all agents of the team, not for this one"
    )


def run(
    options: dict[str, Any], agent: Agent, person: Person | None, stdout: OutputWrapper
) -> None:
    """Do what was asked for, in the scope that was named: the agent's, unless another is."""
    home = _home(agent, person, for_team=options["for_team"])
    match options["documents_action"]:
        case "add":
            _add(options["paths"], home, stdout, waits=not options["no_wait"])
        case "list":
            _list(home, stdout, as_json=options["json"])
        case "forget":
            _forget(options["documents"], home, stdout)


def _home(agent: Agent, person: Person | None, *, for_team: bool) -> dict[str, object]:
    home: dict[str, object] = {"team_id": agent.team_id, "scope": Scope.AGENT}
    if for_team:
        return home | {"scope": Scope.TEAM}
    home["agent_id"] = agent.pk
    if person is not None:
        home |= {"scope": Scope.PERSON, "person_id": person.pk}
    return home


# --- add -----------------------------------------------------------------------------------------


def _add(
    paths: Sequence[Path], home: dict[str, object], stdout: OutputWrapper, *, waits: bool
) -> None:
    files, refused = _files(paths), 0
    added: list[UploadedDocument] = []
    for path in files:
        try:
            if path.stat().st_size > MAX_BYTES:
                raise UploadRefused("too_large")
            document, is_new = uploads.add(
                path.read_bytes(), name=path.name, home=home, source=ACTOR
            )
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        except UploadRefused as refusal:
            refused += 1
            stdout.write(f"{path.name}: {upload_words.of_error(refusal.code)}")
            continue
        if not is_new and document.state == UploadedDocument.State.READY:
            stdout.write(f"{path.name}: is there already ({document.ref}).")
        added.append(document)
    if waits:
        _wait(added, stdout)
    _print(added, stdout)
    failed = [document for document in added if document.state == UploadedDocument.State.FAILED]
    if refused or failed:
        raise CommandError(f"{refused + len(failed)} of {len(files)} files could not be taken in.")


def _files(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(each for each in path.rglob("*") if each.is_file()))
        elif path.is_file():
            found.append(path)
        else:
            raise CommandError(f"There is no file {path}.")
    return found


def _wait(documents: list[UploadedDocument], stdout: OutputWrapper) -> None:
    """Read and index beside the workers, until everything is found or nothing moves."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        console=console(stdout),
        disable=not stdout.isatty(),
    )
    with bar:
        tasks = {
            document.pk: bar.add_task(document.name, total=100, state=document.state)
            for document in documents
        }
        for document in documents:
            uploads.read_one(document.pk)
            _show(bar, tasks, documents)
        moved_at = time.monotonic()
        while not _show(bar, tasks, documents):
            if _index_for(LOOK_EVERY_S):
                moved_at = time.monotonic()
            elif time.monotonic() - moved_at > PATIENCE_S:
                stdout.write("The workers go on with the rest.")
                return
            else:
                # A worker has what is left.
                time.sleep(LOOK_EVERY_S)


def _index_for(seconds: float) -> bool:
    """Index what waits for a moment; return whether there was anything."""
    end, is_any = time.monotonic() + seconds, False
    while time.monotonic() < end and (postings.index_waiting() or vectors.embed_waiting().done):
        is_any = True
    return is_any


def _show(bar: Progress, tasks: dict[int, Any], documents: list[UploadedDocument]) -> bool:
    """Show how far the documents are; return whether all are as far as they come."""
    for document in documents:
        document.refresh_from_db(fields=["state", "error", "characters", "pieces"])
    progress = uploads.progress(documents)
    is_over = True
    for document in documents:
        known = progress.get(document.pk)
        percent = known.percent if known else 0
        if document.state == UploadedDocument.State.FAILED:
            percent = 100
        is_over = is_over and percent == 100
        bar.update(tasks[document.pk], completed=percent, state=document.state)
    return is_over


# --- list and forget -----------------------------------------------------------------------------


def _list(home: dict[str, object], stdout: OutputWrapper, *, as_json: bool) -> None:
    documents = list(uploads.in_scope(home).select_related("file").order_by("pk"))
    if not as_json:
        _print(documents, stdout)
        return
    progress = uploads.progress(documents)
    shown = [
        {
            "id": str(document.public_id),
            "document": document.ref,
            "name": document.name,
            "state": document.state,
            "error": document.error,
            "characters": document.characters,
            "pieces": document.pieces,
            "found_percent": progress[document.pk].percent if document.pk in progress else 0,
        }
        for document in documents
    ]
    stdout.write(json.dumps(shown, ensure_ascii=False, indent=2))


def _print(documents: Sequence[UploadedDocument], stdout: OutputWrapper) -> None:
    progress = uploads.progress(documents)
    table = Table("id", "name", "state", "pieces", "by words", "by meaning", "error")
    for document in documents:
        known = progress.get(document.pk)
        by_meaning = "–" if known is None or known.by_meaning is None else f"{known.by_meaning:,}"
        table.add_row(
            document.ref,
            document.name,
            document.state,
            f"{document.pieces:,}",
            f"{known.by_words:,}" if known else "–",
            by_meaning,
            upload_words.of_error(document.error) if document.error else "",
        )
    console(stdout).print(table)


def _forget(wanted: Sequence[str], home: dict[str, object], stdout: OutputWrapper) -> None:
    known = {row.ref: row for row in uploads.in_scope(home)}
    known |= {str(row.public_id): row for row in known.values()}
    for name in wanted:
        ref = f"document:{name}" if name.isdecimal() else name
        if ref not in known:
            raise CommandError(
                f"There is no document {name} here; `memory documents list` has all."
            )
        uploads.forget(known[ref], actor=ACTOR)
        stdout.write(f"{known[ref].name}: taken out.")

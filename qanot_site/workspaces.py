"""A workspace, a folder of files as Qanot AI and OpenClaw keep one, taken in and written out."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from django.db import transaction

from agents.core.viewer import Viewer
from agents.models import Agent, Identity, Person
from agents.services import audit, people, user_documents
from agents.services import workspaces as personas
from memory import exports, workspace
from memory.files import FOLDERS, Preset
from memory.models import Scope
from memory.workspace_files import Mistake

FILE_BYTES: Final = 2 * 2**20
ALL_BYTES: Final = 64 * 2**20
FILES: Final = 5_000
_DEPTH: Final = 8
# Per-person documents: users/4242/USER.md, by the channel's number, our id or the name.
_USERS: Final = "users"


class WorkspaceRefused(Exception):
    """The folder cannot be taken in, or not be written."""


@dataclass(slots=True)
class Outcome:
    """What was done, in words, and what was not understood, by file and line."""

    done: list[tuple[str, str]] = field(default_factory=list)
    mistakes: list[tuple[str, int, str]] = field(default_factory=list)
    left_out: int = 0

    def tell(self, name: str, what: str) -> None:
        """Note what became of a file."""
        self.done.append((name, what))

    def report(self, name: str, line: int, what: str) -> None:
        """Note what was not understood; line 0 is the whole file."""
        self.mistakes.append((name, line, what))


@transaction.atomic
def take_in(
    folder: Path, agent: Agent, person: Person | None, *, by: str, is_trial: bool = False
) -> Outcome:
    """Take a workspace into an agent; again, it adds nothing twice.

    Memory goes to the person or, without one, to all who talk with the agent. What cannot be read
    is told line by line, and everything else is taken.

    Args:
        is_trial: Everything is done and taken back: what is told is what would be done.

    Raises:
        WorkspaceRefused: There is no such folder, or far too much in it.
        ManagedByFile: A file owns the agent.
    """
    outcome = Outcome()
    found = read(folder, outcome)
    own = {name: text for name, text in found.items() if personas.is_ours(name)}
    kept = {name: text for name, text in found.items() if workspace.is_ours(name)}
    personas.take_in(own, agent, person, by=by, tell=outcome.tell, report=outcome.report)
    for name, text in found.items():
        if name.startswith(f"{_USERS}/") and name.endswith(f"/{user_documents.NAME}"):
            _take_user(name, text, agent, outcome)

    def report(name: str, mistake: Mistake) -> None:
        outcome.report(name, mistake.line, mistake.text)

    viewer = viewer_of(agent, person)
    workspace.take_in(kept, viewer, zones=zones_of(agent, person), tell=outcome.tell, report=report)
    audit.record(
        team_id=agent.team_id,
        actor=by,
        action="workspace.imported",
        subject=audit.subject_of(agent),
        reason=f"person:{person.pk}" if person else "",
    )
    if is_trial:
        transaction.set_rollback(True)
    return outcome


def dump(agent: Agent, person: Person | None, *, preset: Preset = "default") -> dict[str, str]:
    """Return an agent's workspace by file name, as a person or, without one, everybody sees it."""
    remembered = exports.export(viewer_of(agent, person), preset=preset)
    if person is None:
        # The agent's own part stands where a person's would.
        own = FOLDERS[Scope.AGENT]
        remembered = {name.removeprefix(own): text for name, text in remembered.items()}
    return personas.dump(agent, person) | remembered


def write(folder: Path, found: dict[str, str]) -> None:
    """Write files below a folder that is new or empty, readable by its owner alone.

    Raises:
        WorkspaceRefused: There is something in it, or it cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise WorkspaceRefused(f"{folder} is not empty: choose a new folder.")
        for name, text in found.items():
            path = folder / name
            if not path.resolve().is_relative_to(folder.resolve()):
                raise WorkspaceRefused(f"{name} would lie outside of {folder}.")
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode())
    except OSError as exc:
        raise WorkspaceRefused(f"{folder} cannot be written: {exc.strerror}.") from exc


def viewer_of(agent: Agent, person: Person | None) -> Viewer:
    """Return for whom a workspace is read and written."""
    person_id = person.pk if person else None
    return Viewer(agent.team_id, agent.pk, person_id=person_id, is_private=True)


def zones_of(agent: Agent, person: Person | None) -> list[str]:
    """Return in which time zone notes without an offset were written, the likeliest first."""
    own = [person.time_zone] if person and person.time_zone else []
    return [*own, agent.time_zone, agent.team.time_zone]


def _take_user(name: str, text: str, agent: Agent, outcome: Outcome) -> None:
    wanted = name.split("/")[1]
    person = _person_called(wanted, agent)
    if person is None:
        outcome.report(name, 0, f"the team has no person “{wanted}”, or several")
    else:
        outcome.tell(name, personas.save_user(agent, person, text))


def _person_called(wanted: str, agent: Agent) -> Person | None:
    team = {"team_id": agent.team_id}
    known = Identity.objects.filter(**team, external_id=wanted).select_related("person")
    found = {people.as_merged(row.person) for row in known}
    rows = Person.objects.filter(**team)
    found |= {
        people.as_merged(row)
        for row in rows.filter(display_name=wanted)
        | (rows.filter(public_id=wanted) if _is_id(wanted) else rows.none())
    }
    return found.pop() if len(found) == 1 else None


def _is_id(wanted: str) -> bool:
    return len(wanted) == 36 and wanted.count("-") == 4


# --- reading --------------------------------------------------------------------------------------


def read(folder: Path, outcome: Outcome) -> dict[str, str]:
    """Return the texts of a workspace's files by name; links are not followed.

    Raises:
        WorkspaceRefused: There is no such folder, or far too much in it.
    """
    if not folder.is_dir():
        raise WorkspaceRefused(f"There is no folder {folder}.")
    found: dict[str, str] = {}
    size = 0
    for count, (name, path) in enumerate(_walk(folder, outcome)):
        if count >= FILES:
            raise WorkspaceRefused(f"There are more than {FILES} files in {folder}.")
        if not _is_known(name):
            outcome.left_out += 1
            continue
        content = _content(name, path, outcome)
        if content is None:
            continue
        size += len(content)
        if size > ALL_BYTES:
            raise WorkspaceRefused(f"There are more than {ALL_BYTES // 2**20} MB in {folder}.")
        found[name] = _decoded(name, content, outcome)
    return dict(sorted(found.items()))


def _is_known(name: str) -> bool:
    of_user = name.startswith(f"{_USERS}/") and name.endswith(f"/{user_documents.NAME}")
    return personas.is_ours(name) or workspace.is_ours(name) or (of_user and name.count("/") == 2)


def _walk(folder: Path, outcome: Outcome) -> Iterator[tuple[str, Path]]:
    for here, folders, names in os.walk(folder, followlinks=False):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = sorted(each for each in folders if not each.startswith(".") and depth < _DEPTH)
        for name in (*folders, *sorted(names)):
            path = Path(here) / name
            shown = path.relative_to(folder).as_posix()
            if path.is_symlink():
                outcome.report(shown, 0, "a link: it is not followed")
            elif name not in folders:
                yield shown, path


def _content(name: str, path: Path, outcome: Outcome) -> bytes | None:
    """Return a file's bytes; the file itself is asked what it is, so that no link slips in."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                outcome.report(name, 0, "no ordinary file")
                return None
            content = file.read(FILE_BYTES + 1)
    except OSError as exc:
        outcome.report(name, 0, f"cannot be read: {exc.strerror}")
        return None
    if len(content) > FILE_BYTES:
        outcome.report(name, 0, f"larger than {FILE_BYTES // 2**20} MB: left out")
        return None
    return content


def _decoded(name: str, content: bytes, outcome: Outcome) -> str:
    """Return a file's text; lines that are no UTF-8 are told and left out."""
    plain = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return plain.decode()
    except UnicodeDecodeError:
        lines = []
        for number, line in enumerate(plain.split(b"\n"), start=1):
            try:
                lines.append(line.decode())
            except UnicodeDecodeError:
                outcome.report(name, number, "not UTF-8: the line is left out")
        return "\n".join(lines)

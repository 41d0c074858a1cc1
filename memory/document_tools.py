"""Tools that write an agent's memory documents and notes; importing the module offers them.

Each writes in the viewer's own scope only. What a model wants written after it read text from
outside (a web page, a file) goes nowhere: that may be the text's wish and not a person's.
"""

from collections.abc import Callable
from typing import Annotated, Final, Literal

from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, RootModel

from agents.core.tooling import Tool, ToolContext, ToolRefused
from agents.db import in_db
from agents.tools.registry import register
from memory import documents, files, folder, notes
from memory.documents import Home
from memory.errors import FolderRefused
from memory.models import owns_scope, scope_of
from memory.policy import keeps_memory

# Anthropic's own tool, which its models know: platform.claude.com, "Memory tool".
NATIVE: Final = "memory_20250818"

_NOBODY: Final = (
    "Not written: it is not known who speaks here, so there is nobody's memory to write to."
)
_OFF: Final = "Not written: this agent remembers nothing."
_TAINTED: Final = (
    "Not written: this conversation shows text from outside, which is never remembered as it is. "
    "Use remember_fact; somebody of the team will look at it."
)
_DOCUMENT: Final = "MEMORY.md, or a name such as memory/projects.md"

Name = Annotated[str, Field(min_length=1, max_length=100, description=_DOCUMENT)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MemoryAppend(_Arguments):
    """Arguments of ``memory_append``."""

    document: Name = files.MEMORY
    text: str = Field(min_length=1, max_length=4_000, description="Markdown lines to add.")


class MemoryEdit(_Arguments):
    """Arguments of ``memory_edit``."""

    document: Name = files.MEMORY
    old: str = Field(min_length=1, max_length=4_000, description="A text that it has just once.")
    new: str = Field(max_length=4_000, description="What takes its place; empty takes it out.")


class DailyNoteAppend(_Arguments):
    """Arguments of ``daily_note``."""

    text: str = Field(min_length=1, max_length=2_000, description="One line for today's notes.")


class View(_Arguments):
    """Lists a folder, or shows a file."""

    command: Literal["view"]
    path: str
    view_range: tuple[int, int] | None = None


class Create(_Arguments):
    """Stores a new file."""

    command: Literal["create"]
    path: str
    file_text: str


class StrReplace(_Arguments):
    """Exchanges a text that a file has once."""

    command: Literal["str_replace"]
    path: str
    old_str: str
    new_str: str = ""


class Insert(_Arguments):
    """Puts lines behind a line of a file."""

    command: Literal["insert"]
    path: str
    insert_line: int
    insert_text: str


class Delete(_Arguments):
    """Deletes a file or a folder."""

    command: Literal["delete"]
    path: str


class Rename(_Arguments):
    """Gives a file or a folder another path."""

    command: Literal["rename"]
    old_path: str
    new_path: str


Command = View | Create | StrReplace | Insert | Delete | Rename


class MemoryCommand(_Arguments):
    """Arguments of ``memory``, flat, as Anthropic's models send them."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: str | None = Field(default=None, description="/memories/… of all but rename")
    view_range: tuple[int, int] | None = Field(
        default=None, description="view: first and last line, -1 for the end"
    )
    file_text: str | None = Field(default=None, description="create: the whole text")
    old_str: str | None = Field(default=None, description="str_replace: a text it has just once")
    new_str: str | None = Field(default=None, description="str_replace: what takes its place")
    insert_line: int | None = Field(default=None, description="insert: behind this line, from 0")
    insert_text: str | None = Field(default=None, description="insert: the lines")
    old_path: str | None = Field(default=None, description="rename")
    new_path: str | None = Field(default=None, description="rename")


class _Parsed(RootModel[Annotated[Command, Field(discriminator="command")]]):
    """One command with the fields that it needs."""


async def _memory_append(arguments: MemoryAppend, context: ToolContext) -> str:
    await _check(context)
    return await in_db(_append, arguments.document, arguments.text, context)


async def _memory_edit(arguments: MemoryEdit, context: ToolContext) -> str:
    await _check(context)
    return await in_db(_edit, arguments, context)


async def _daily_note(arguments: DailyNoteAppend, context: ToolContext) -> str:
    await _check(context)
    is_new = await in_db(
        notes.add_note,
        viewer=context.viewer,
        text=arguments.text,
        at=timezone.now(),
        time_zone=context.time_zone,
        source=_source(context),
    )
    return "Added to today's notes." if is_new else "It stood there already; nothing was added."


async def _memory(arguments: MemoryCommand, context: ToolContext) -> str:
    try:
        parsed = _Parsed.model_validate(arguments.model_dump(exclude_none=True)).root
    except ValueError as exc:
        raise ToolRefused(f"The arguments do not fit the command {arguments.command!r}.") from exc
    is_looking = isinstance(parsed, View)
    await _check(context, writes=not is_looking)
    return await in_db(_in_folder, parsed, context)


async def _check(context: ToolContext, *, writes: bool = True) -> None:
    if not owns_scope(context.viewer):
        raise ToolRefused(_NOBODY)
    if writes and context.is_tainted:
        raise ToolRefused(_TAINTED)
    if not await in_db(keeps_memory, context.viewer.agent_id):
        raise ToolRefused(_OFF)


def _append(name: str, text: str, context: ToolContext) -> str:
    home, path = scope_of(context.viewer), _path(name)
    return _refusing(lambda: _append_to(home, path, text, context))


def _append_to(home: Home, path: str, text: str, context: ToolContext) -> str:
    # What a day's file or a path out of the folder is, the folder knows.
    name = folder.file_name(path)
    with documents.locked(home, name) as document:
        before = document.text.rstrip("\n")
        whole = f"{before}\n{text.strip()}\n" if before else f"{text.strip()}\n"
        folder.save(home, name, whole, path=path, source=_source(context))
    return f"Added to {name}."


def _edit(arguments: MemoryEdit, context: ToolContext) -> str:
    home, path = scope_of(context.viewer), _path(arguments.document)
    return _refusing(
        lambda: folder.str_replace(
            home, path, arguments.old, arguments.new, source=_source(context)
        )
    )


def _in_folder(command: Command, context: ToolContext) -> str:
    home, source = scope_of(context.viewer), _source(context)
    return _refusing(lambda: _run(command, home, source))


def _run(command: Command, home: Home, source: str) -> str:
    match command:
        case View():
            return folder.view(home, command.path, command.view_range)
        case Create():
            return folder.create(home, command.path, command.file_text, source=source)
        case StrReplace():
            return folder.str_replace(
                home, command.path, command.old_str, command.new_str, source=source
            )
        case Insert():
            return folder.insert(
                home, command.path, command.insert_line, command.insert_text, source=source
            )
        case Delete():
            return folder.delete(home, command.path, source=source)
        case Rename():
            return folder.rename(home, command.old_path, command.new_path, source=source)


def _refusing(act: Callable[[], str]) -> str:
    try:
        return act()
    except FolderRefused as refusal:
        raise ToolRefused(str(refusal)) from refusal


def _path(name: str) -> str:
    """Return a document's path in the folder."""
    plain = name.strip()
    if plain.startswith(f"{folder.ROOT}/"):
        return plain
    return f"{folder.ROOT}/{plain.removeprefix('memory/')}"


def _source(context: ToolContext) -> str:
    return f"{context.turn} {context.call_id}"


register(
    Tool(
        name="memory_append",
        description=(
            "Adds lines to your own long-term memory document of the person you talk with, or of "
            "the group: MEMORY.md, or another one such as memory/projects.md. Never passwords, "
            "keys or card numbers."
        ),
        arguments=MemoryAppend,
        run=_memory_append,
    )
)
register(
    Tool(
        name="memory_edit",
        description=(
            "Exchanges a text in one of your memory documents, for what has changed or was wrong. "
            "The earlier version stays in the history."
        ),
        arguments=MemoryEdit,
        run=_memory_edit,
    )
)
register(
    Tool(
        name="daily_note",
        description=(
            "Adds one line of your own to today's notes, for what mattered today and not for ever."
        ),
        arguments=DailyNoteAppend,
        run=_daily_note,
        safe_to_repeat=True,
    )
)
register(
    Tool(
        name="memory",
        description=(
            "Your memory as files below /memories: view, create, str_replace, insert, delete, "
            "rename. They belong to the person you talk with, or to the group, and are there in "
            "every later conversation. View the folder before you begin a longer task."
        ),
        arguments=MemoryCommand,
        run=_memory,
        native=NATIVE,
    )
)

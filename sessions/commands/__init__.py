"""Commands that every channel understands: one registry, one way to run them."""

from sessions.commands import about, conversation
from sessions.commands.registry import (
    Choice,
    Command,
    CommandContext,
    Invocation,
    Reply,
    find,
    language_of,
    menu,
    register,
    run,
)

for _command in (*about.COMMANDS, *conversation.COMMANDS):
    register(_command)

__all__ = [
    "Choice",
    "Command",
    "CommandContext",
    "Invocation",
    "Reply",
    "find",
    "language_of",
    "menu",
    "register",
    "run",
]

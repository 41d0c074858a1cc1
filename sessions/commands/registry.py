"""What a command is, how a text becomes one, and how it is run."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from django.conf import settings
from django.db import transaction
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext

from agents.models import Person
from sessions.models import ChannelAccount, ChatSession

Where = Literal["private", "group"]
EVERYWHERE: Final[frozenset[Where]] = frozenset({"private", "group"})
PRIVATE_ONLY: Final[frozenset[Where]] = frozenset({"private"})

_SHAPE: Final = re.compile(
    r"/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]{1,64}))?(?:\s+(.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several answers that a reply offers: what would be written to choose it.

    A channel with buttons shows them as buttons; the reply's text names them too.

    Args:
        label: Words on the button.
    """

    label: str
    command: str
    argument: str

    @property
    def text(self) -> str:
        """Return the choice as one would write it."""
        return f"/{self.command} {self.argument}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command says, in its reader's language.

    Args:
        text: Plain text; nothing in it is markup.
        choices: Rows of buttons.
        begins_anew: Whether a new stretch of the conversation began with it.
    """

    text: str
    choices: tuple[tuple[Choice, ...], ...] = ()
    begins_anew: bool = False


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Who wrote a command, and where.

    Args:
        person: None where nobody is known, as in a channel's posts.
        argument: What stood after it, without white space at its ends.
    """

    session: ChatSession
    person: Person | None
    account: ChannelAccount
    argument: str

    @property
    def is_private(self) -> bool:
        """Return whether nobody else reads along."""
        return self.session.kind == ChatSession.Kind.DIRECT


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Args:
        name: As it is written after the slash.
        summary: What it does, for the menu and /help; at most 256 characters.
        handler: Does it, in a transaction and in the person's language.
        where: The kinds of chat in whose menu it stands; it is understood in all.
        takes_argument: Whether what stands after it belongs to it.
        channels: Where it is understood; None for everywhere.
    """

    name: str
    summary: Promise
    handler: Callable[[CommandContext], Reply]
    where: frozenset[Where] = EVERYWHERE
    takes_argument: bool = False
    channels: frozenset[str] | None = None

    def is_for(self, channel: str) -> bool:
        """Return whether a channel has it."""
        return self.channels is None or channel in self.channels


@dataclass(frozen=True, slots=True)
class Invocation:
    """A message that is a command."""

    command: Command
    argument: str


_commands: dict[str, Command] = {}


def register(command: Command) -> None:
    """Make a command known, in the order in which menus list them.

    Raises:
        ValueError: There is one of that name.
    """
    if command.name in _commands:
        raise ValueError(f"/{command.name} is registered already")
    _commands[command.name] = command


def menu(where: Where, *, channel: str) -> tuple[Command, ...]:
    """Return the commands of one kind of chat, in order."""
    return tuple(
        command
        for command in _commands.values()
        if where in command.where and command.is_for(channel)
    )


def find(text: str, *, channel: str, bot_username: str | None = None) -> Invocation | None:
    """Return the command that a message is; None for a text, and for what nobody registered.

    Args:
        bot_username: Of the bot that reads it: a command may name the bot it is for, and one
            that names another is not ours.
    """
    shape = _SHAPE.fullmatch(text.strip())
    if shape is None:
        return None
    name, addressed_to, argument = shape.groups()
    if addressed_to and addressed_to.casefold() != (bot_username or "").casefold():
        return None
    command = _commands.get(name.lower())
    if command is None or not command.is_for(channel):
        return None
    return Invocation(command, (argument or "").strip())


def language_of(person: Person | None) -> str:
    """Return the language in which a person is answered; the active one where they have none."""
    known = person.language if person is not None else ""
    if known in dict(settings.LANGUAGES):
        return known
    return translation.get_language() or settings.LANGUAGE_CODE


@transaction.atomic
def run(
    invocation: Invocation,
    *,
    session: ChatSession,
    person: Person | None,
    account: ChannelAccount,
    language: str | None = None,
) -> Reply:
    """Do what a command says; whoever calls has checked that the person may talk here.

    It is not repeated for the same message: the caller stores the message, or its update, in the
    same transaction.

    Args:
        session: With its agent.
        language: Of the reply; None takes the person's own.
    """
    command = invocation.command
    context = CommandContext(session, person, account, invocation.argument)
    with translation.override(language or language_of(person)):
        reply = command.handler(context)
        if command.takes_argument or not invocation.argument:
            return reply
        # Words that nobody read are not lost in silence.
        unread = gettext("What stood after /%(command)s was not read: send it by itself.")
        text = f"{reply.text}\n\n{unread % {'command': command.name}}"
        return Reply(text, reply.choices, begins_anew=reply.begins_anew)

"""The menu of commands that Telegram shows beside the field for messages.

One for each language and kind of chat; Telegram chooses by the language of its app. A person who
chose another language with /lang gets a menu of their own chat.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

import structlog
from django.conf import settings
from django.utils import translation
from pydantic import JsonValue

from agents.core.errors import AgentError
from agents.net import BadAddress
from sessions import commands
from sessions.channels.telegram.asking import AskError, ask, ask_at
from sessions.channels.telegram.servers import Server, own_sessions
from sessions.channels.telegram.tokens import NotAToken
from sessions.commands.registry import Where
from sessions.models import ChannelAccount, ChannelContact

_log = structlog.get_logger(__name__)

SCOPES: Final[Mapping[Where, str]] = {
    "private": "all_private_chats",
    "group": "all_group_chats",
}
_CHANNEL: Final = ChannelAccount.Channel.TELEGRAM.value


def listed(where: Where, language: str) -> list[JsonValue]:
    """Return the commands of a kind of chat as the Bot API takes them."""
    with translation.override(language):
        return [
            {"command": command.name, "description": str(command.summary)}
            for command in commands.menu(where, channel=_CHANNEL)
        ]


async def publish(server: Server, token: str) -> None:
    """Set a bot's menus in every language; apps in another one are shown English.

    Raises:
        AskError: It did not work.
    """
    await asyncio.gather(
        *(
            ask_at(
                server,
                token,
                "setMyCommands",
                commands=listed(where, language),
                scope={"type": scope},
                language_code="" if language == settings.LANGUAGE_CODE else language,
            )
            for where, scope in SCOPES.items()
            for language, _ in settings.LANGUAGES
        )
    )


async def publish_for(account: ChannelAccount, peer: str, language: str) -> None:
    """Set the menu of one person's private chat in the language that they chose.

    Raises:
        KeyMissing: The token cannot be had now.
        AskError: It did not work.
    """
    await ask(
        account,
        "setMyCommands",
        commands=listed("private", language),
        scope={"type": "chat", "chat_id": int(peer)},
    )


async def refresh(contact: ChannelContact) -> None:
    """Set the menu of a contact's private chat in their person's language.

    A menu is a convenience: where it cannot be set, that is only logged.

    Args:
        contact: With account and person.
    """
    try:
        async with own_sessions():
            await publish_for(
                contact.account, contact.external_id, commands.language_of(contact.person)
            )
    except (AskError, AgentError, NotAToken, BadAddress) as error:
        _log.info("menu.not_set", account=contact.account_id, error=type(error).__name__)

"""The menu of commands that Telegram shows beside the field for messages.

One for each language and kind of chat; Telegram chooses by the language of its app. A person who
chose another language with /lang gets a menu of their own chat.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Final

import structlog
from django.conf import settings
from django.utils import translation
from pydantic import JsonValue
from redis.exceptions import RedisError

from agents.core.errors import AgentError
from agents.net import BadAddress
from sessions import commands
from sessions.channels.telegram.asking import AskError, ask, ask_at
from sessions.channels.telegram.servers import Server, own_sessions, server_of
from sessions.channels.telegram.tokens import NotAToken, token_of
from sessions.commands.registry import Where
from sessions.events.redis_client import blocking_client
from sessions.models import ChannelAccount, ChannelContact

_log = structlog.get_logger(__name__)

SCOPES: Final[Mapping[Where, str]] = {
    "private": "all_private_chats",
    "group": "all_group_chats",
}
# Set again now and then, in case somebody else changed them.
CURRENT_FOR_S: Final = 30 * 86_400
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
    await asyncio.to_thread(_note_current, server, token)


async def keep_current(account: ChannelAccount) -> None:
    """Set a bot's menus where they are not those of this release.

    A menu is a convenience: where it cannot be set, that is only logged.
    """
    try:
        server, token = server_of(account), token_of(account)
        if not await asyncio.to_thread(_is_current, server, token):
            await publish(server, token)
    except (AskError, AgentError, NotAToken, BadAddress) as error:
        _log.info("menu.not_set", account=account.pk, error=type(error).__name__)


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


@cache
def fingerprint() -> str:
    """Return what tells this release's menus from those of others."""
    menus = [listed(where, language) for where in SCOPES for language, _ in settings.LANGUAGES]
    return hashlib.sha256(json.dumps(menus).encode()).hexdigest()


def _is_current(server: Server, token: str) -> bool:
    """Return whether a bot was given this release's menus; False where nobody knows."""
    try:
        return blocking_client().get(_key(server, token)) == fingerprint().encode()
    except RedisError:
        return False


def _note_current(server: Server, token: str) -> None:
    try:
        blocking_client().set(_key(server, token), fingerprint(), ex=CURRENT_FOR_S)
    except RedisError as error:
        # They are set once more at the next start.
        _log.info("menu.not_noted", error=type(error).__name__)


def _key(server: Server, token: str) -> str:
    """Return under which key it is noted; of a token only the bot's number, which is public."""
    return f"menu:{token.partition(':')[0]}:{server.base_url}"

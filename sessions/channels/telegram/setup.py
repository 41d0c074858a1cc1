"""Connecting a bot: who a token is, what stands in its way, and keeping it.

A token lives here as long as one request: it is asked about, sealed, and never shown or logged.
"""

from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit

import structlog
from django.db import IntegrityError, transaction
from pydantic import BaseModel, ValidationError

from agents.db import in_db
from agents.models import Agent, Team, User
from agents.net import BadAddress
from agents.net.guard import web_address
from agents.services import audit, keys
from sessions.channels.telegram import menu
from sessions.channels.telegram.asking import AskError, Refused, Unreachable, ask, ask_at
from sessions.channels.telegram.servers import TELEGRAM, Server, own_sessions, server_of
from sessions.channels.telegram.tokens import NotAToken, checked, seal_token, token_of
from sessions.models import ChannelAccount

_log = structlog.get_logger(__name__)

NAME_CHARACTERS: Final = 100
TELEGRAM_CHANNEL: Final = ChannelAccount.Channel.TELEGRAM

Reason = Literal[
    "no_token",
    "token_refused",
    "key_missing",
    "no_address",
    "address_private",
    "unreachable",
    "not_the_api",
    "here_already",
    "another_bot",
]


class SetupTrouble(Exception):
    """A bot cannot be connected.

    Args:
        reason: Why, for whoever puts it into words.
        missing: Why its token cannot be had, for ``key_missing``.
        username: Whose token it is, for ``another_bot``.
    """

    def __init__(
        self, reason: Reason, *, missing: keys.KeyMissing | None = None, username: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.missing = missing
        self.username = username


@dataclass(frozen=True, slots=True)
class Draft:
    """A bot as it was described, before anybody was asked.

    Args:
        token: In clear; empty where a reference says where it stands.
        may_reach_private: Whether the address comes from a superuser.
    """

    token: str = field(default="", repr=False)
    reference: str = ""
    base_url: str = ""
    may_reach_private: bool = False

    def opened(self) -> tuple[str, Server]:
        """Return the token in clear, and where it is asked.

        Raises:
            SetupTrouble: There is none, or the address is none.
        """
        try:
            token = checked(self.token) if self.token else token_of(self._referring())
        except NotAToken as exc:
            raise SetupTrouble("no_token") from exc
        except keys.KeyMissing as error:
            raise SetupTrouble("key_missing", missing=error) from error
        base_url = self.base_url.rstrip("/") or TELEGRAM
        try:
            web_address(base_url)
        except BadAddress as exc:
            raise SetupTrouble("no_address") from exc
        return token, Server(base_url, self.may_reach_private)

    def _referring(self) -> ChannelAccount:
        return ChannelAccount(token_reference=self.reference)


@dataclass(frozen=True, slots=True)
class Found:
    """Who a token is.

    Args:
        reads_all_group_messages: False while the bot's privacy mode is on.
        webhook_host: Where another program has this bot's messages brought; empty for nowhere.
    """

    bot_id: int
    name: str
    username: str
    reads_all_group_messages: bool
    webhook_host: str = ""


class _Me(BaseModel):
    id: int
    first_name: str
    username: str = ""
    can_read_all_group_messages: bool = False


class _Webhook(BaseModel):
    url: str = ""


async def look(draft: Draft, *, own_webhook: str = "") -> Found:
    """Return who a token is, and whether somebody else has its messages brought to them.

    Args:
        own_webhook: An address of ours, which is nobody else's.

    Raises:
        SetupTrouble: It is nobody, or nobody could be asked.
    """
    token, server = draft.opened()
    try:
        async with own_sessions():
            me = _Me.model_validate(await ask_at(server, token, "getMe"))
            webhook = _Webhook.model_validate(await ask_at(server, token, "getWebhookInfo"))
    except (AskError, ValidationError) as error:
        raise _trouble(error) from error
    is_foreign = webhook.url and not (own_webhook and webhook.url.startswith(own_webhook))
    return Found(
        bot_id=me.id,
        name=me.first_name,
        username=me.username,
        reads_all_group_messages=me.can_read_all_group_messages,
        webhook_host=(urlsplit(webhook.url).hostname or "?") if is_foreign else "",
    )


async def take_over(draft: Draft, found: Found) -> None:
    """Make a bot ours: no foreign webhook takes its messages, and its menu lists our commands.

    What was sent to it meanwhile stays and is answered.

    Raises:
        SetupTrouble: Nobody could be asked.
    """
    token, server = draft.opened()
    try:
        async with own_sessions():
            if found.webhook_host:
                await ask_at(server, token, "deleteWebhook", drop_pending_updates=False)
            await menu.publish(server, token)
    except AskError as error:
        raise _trouble(error) from error


async def introduce(account: ChannelAccount) -> None:
    """Learn who a bot is that a file named, and set its menus; keep what it says of itself.

    Raises:
        KeyMissing, NotAToken, BadAddress, AskError: It could not be asked.
    """
    me = _Me.model_validate(await ask(account, "getMe"))
    await menu.publish(server_of(account), token_of(account))
    await in_db(_keep_who, account, me)


def connect(draft: Draft, found: Found, *, agent: Agent, by: User) -> ChannelAccount:
    """Keep a bot, bound to an agent; pollers find its row within seconds.

    Raises:
        SetupTrouble: It is connected here already.
    """
    if is_here(found.bot_id):
        raise SetupTrouble("here_already")
    try:
        return _connect(draft, found, agent=agent, by=by)
    except IntegrityError as exc:
        # Somebody else connected it in this moment.
        raise SetupTrouble("here_already") from exc


@transaction.atomic
def change_token(account: ChannelAccount, draft: Draft, found: Found, *, by: User) -> None:
    """Give a bot another token, as after @BotFather revoked the old one.

    Raises:
        SetupTrouble: The token is another bot's.
    """
    if account.bot_id is not None and account.bot_id != found.bot_id:
        raise SetupTrouble("another_bot", username=found.username)
    # Without the columns that a poller writes meanwhile, such as its offset.
    account.save(update_fields=_fill(account, draft, found))
    audit.record(
        team_id=account.team_id,
        actor=by,
        action="bot.token_changed",
        subject=audit.subject_of(account),
    )


def draft_of(account: ChannelAccount) -> Draft:
    """Return a stored bot as a draft, to ask it again.

    Raises:
        SetupTrouble: Its token cannot be had.
    """
    try:
        token = token_of(account)
    except NotAToken as exc:
        raise SetupTrouble("no_token") from exc
    except keys.KeyMissing as error:
        raise SetupTrouble("key_missing", missing=error) from error
    return Draft(
        token=token, base_url=account.base_url, may_reach_private=account.may_reach_private
    )


def is_here(bot_id: int) -> bool:
    """Return whether a bot is connected to some team of this deployment."""
    return ChannelAccount.objects.filter(
        channel=TELEGRAM_CHANNEL, bot_id=bot_id, archived_at=None
    ).exists()


@transaction.atomic
def _connect(draft: Draft, found: Found, *, agent: Agent, by: User) -> ChannelAccount:
    account = ChannelAccount(
        team=agent.team,
        agent=agent,
        channel=TELEGRAM_CHANNEL,
        name=_free_name(agent.team, found.name),
    )
    _fill(account, draft, found)
    account.save()
    audit.record(
        team_id=account.team_id,
        actor=by,
        action="bot.connected",
        subject=audit.subject_of(account),
        changes=audit.changes_between(None, account, ("name", "username", "agent")),
    )
    return account


def _fill(account: ChannelAccount, draft: Draft, found: Found) -> list[str]:
    """Take over what was entered and found; return the columns."""
    values = {
        "sealed_token": seal_token(draft.token) if draft.token else "",
        "token_reference": "" if draft.token else draft.reference,
        "base_url": draft.base_url.rstrip("/"),
        "may_reach_private": draft.may_reach_private and bool(draft.base_url),
        "bot_id": found.bot_id,
        "username": found.username,
        "reads_all_group_messages": found.reads_all_group_messages,
        "last_error_code": "",
        "last_error": "",
        "last_error_at": None,
    }
    for name, value in values.items():
        setattr(account, name, value)
    return list(values)


def _keep_who(account: ChannelAccount, me: _Me) -> None:
    account.username = me.username
    account.reads_all_group_messages = me.can_read_all_group_messages
    # Two rows with one bot: the poller finds out by itself, and says so on the row.
    account.bot_id = me.id if not is_here(me.id) else account.bot_id
    account.save(update_fields=["username", "reads_all_group_messages", "bot_id"])


def _free_name(team: Team, wanted: str) -> str:
    """Return a name that no bot of the team has yet."""
    taken = set(
        ChannelAccount.objects.filter(team=team, channel=TELEGRAM_CHANNEL).values_list(
            "name", flat=True
        )
    )
    wanted = wanted.strip()[: NAME_CHARACTERS - 6] or "Bot"
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted} {number}"
    return name


def _trouble(error: AskError | ValidationError) -> SetupTrouble:
    if isinstance(error, Refused) and error.is_token_refused:
        return SetupTrouble("token_refused")
    if isinstance(error, Unreachable) and error.is_address_refused:
        return SetupTrouble("address_private")
    if isinstance(error, ValidationError):
        return SetupTrouble("not_the_api")
    _log.info("bot.not_reached", error=str(error))
    return SetupTrouble("unreachable")

"""The poller: any number of bots on one event loop, each asked for by one poller at a time.

A bot whose row changed is begun anew; one that nobody tends is taken at the next look. Where
Telegram, the database or a token fail, the bot waits and its row says why.
"""

import asyncio
import contextlib
import random
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from typing import Final

import structlog
from django.db import Error as DatabaseError
from django.db import InterfaceError, OperationalError
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from agents.core.errors import LeaseLost
from agents.core.messages import JsonObject
from agents.db import in_db
from agents.net import BadAddress
from agents.services.keys import KeyMissing
from sessions.channels.telegram import (
    courtesies,
    menu,
    receiving,
    registering,
    setup,
    standing,
    tending,
    updates,
)
from sessions.channels.telegram.asking import AskError, Refused, Unreachable, ask
from sessions.channels.telegram.registering import NoPublicAddress
from sessions.channels.telegram.servers import close_sessions
from sessions.channels.telegram.standing import Trouble
from sessions.channels.telegram.tokens import NotAToken
from sessions.models import ChannelAccount

_log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 1.0
# Proxies and routers forget connections that are silent for longer.
LONG_POLL_S: Final = 25
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 30.0
# A failure or two pass unseen: Telegram restarts its servers now and then.
SAID_AFTER: Final = 3
# A token that stands elsewhere may change there without a word.
REFERENCE_AGAIN_S: Final = 30.0
# One that was entered may have been refused in passing: a restart of the server, a proxy's 404.
TOKEN_AGAIN_S: Final = 300.0
WEBHOOK_LOOKED_AT_EVERY_S: Final = 300.0
# Foreign webhooks that are taken away without a word.
WEBHOOKS_REMOVED: Final = 3

_Work = Callable[[], Awaitable[float]]
_UPDATES: Final = TypeAdapter(list[JsonObject])


class _WebhookInfo(BaseModel):
    url: str = ""
    pending_update_count: int = 0
    last_error_message: str = ""


@dataclass(frozen=True, slots=True)
class _Tended:
    """A bot that this poller tends, and what it was begun with."""

    bot: "Bot"
    task: asyncio.Task[None]
    begun_with: tuple[object, ...]


class Poller:
    """Tends bots until it is told to stop; make one a process."""

    def __init__(self, *, look_every_s: float = LOOK_EVERY_S) -> None:
        self.token = uuid.uuid4()
        self._life = tending.life_of(self.token)
        self._look_every_s = look_every_s
        self._tended: dict[int, _Tended] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Tend all bots that nobody else tends, until the event is set."""
        _log.info("poller.started")
        try:
            while not stop.is_set():
                await self._look()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._look_every_s)
        finally:
            await self._end()
        _log.info("poller.stopped")

    @property
    def tended(self) -> frozenset[int]:
        """Return the accounts that are tended now."""
        return frozenset(self._tended)

    async def _look(self) -> None:
        """Begin with bots that are new, again with those that changed, leave those that went."""
        # First: without it what is held here counts as a dead poller's.
        await self._life.hold()
        try:
            accounts = await in_db(tending.hold, self.token)
        except DatabaseError as error:
            # The leases run on without us; each write checks them.
            _log.warning("poller.blind", error=type(error).__name__)
            return
        for account in accounts:
            known = self._tended.get(account.pk)
            if known is None or known.task.done() or known.begun_with != _begin_with(account):
                await self._leave(account.pk)
                self._begin(account)
            else:
                known.bot.account = account
        for account_id in self._tended.keys() - {account.pk for account in accounts}:
            await self._leave(account_id)

    def _begin(self, account: ChannelAccount) -> None:
        bot = Bot(account, self.token)
        task = asyncio.create_task(bot.run(), name=f"bot {account.pk}")
        self._tended[account.pk] = _Tended(bot, task, _begin_with(account))

    async def _leave(self, account_id: int) -> None:
        tended = self._tended.pop(account_id, None)
        if tended is not None:
            tended.task.cancel()
            await asyncio.wait([tended.task])

    async def _end(self) -> None:
        for account_id in list(self._tended):
            await self._leave(account_id)
        with contextlib.suppress(DatabaseError):
            await in_db(tending.release, self.token)
        await self._life.release()
        await close_sessions()


class Bot:
    """One bot, tended for as long as its token and its ways stay as they are.

    Args:
        account: Its row, kept as it is now: who may talk with it may change at any time.
    """

    def __init__(self, account: ChannelAccount, token: uuid.UUID) -> None:
        self.account = account
        self._token = token
        self._offset = account.update_offset
        self._failures = 0
        self._webhooks_removed = 0
        self._has_registered = False
        self._is_ailing = account.last_error_code in standing.PASSING
        self._courtesies: set[asyncio.Task[JsonValue]] = set()
        self._menus: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Ask for updates, or see to it that they are brought; ends where the lease is lost."""
        is_brought = self.account.receives == ChannelAccount.Receives.WEBHOOK
        work: _Work = self._keep_webhook if is_brought else self._poll
        _log.info("bot.tended", account=self.account.pk, receives=self.account.receives)
        try:
            with contextlib.suppress(LeaseLost):
                while True:
                    pause_s = await self._guarded(work)
                    await asyncio.sleep(pause_s)
        finally:
            for task in self._courtesies:
                task.cancel()
            if self._menus is not None:
                self._menus.cancel()

    async def _guarded(self, work: _Work) -> float:
        """Do one round; return the seconds until the next."""
        try:
            if not self.account.username:
                # A file named it; by its user name it knows when a group speaks to it.
                await setup.introduce(self.account)
            pause_s = await work()
        except Refused as refused:
            return await self._refused(refused)
        except (Unreachable, ValidationError) as error:
            text = str(error) if isinstance(error, Unreachable) else type(error).__name__
            return await self._failed(Trouble.UNREACHABLE, text)
        except (KeyMissing, NotAToken) as error:
            await self._note(Trouble.TOKEN_MISSING, str(error))
            return REFERENCE_AGAIN_S
        except BadAddress as error:
            await self._note(Trouble.BAD_ADDRESS, str(error))
            return REFERENCE_AGAIN_S
        except NoPublicAddress:
            await self._note(Trouble.NO_PUBLIC_ADDRESS)
            return REFERENCE_AGAIN_S
        except (OperationalError, InterfaceError) as error:
            # Nothing is lost: Telegram keeps what we did not confirm.
            _log.warning("bot.waits", account=self.account.pk, error=type(error).__name__)
            return self._pause()
        except LeaseLost:
            raise
        except Exception:
            # A mistake of ours must not make the bot deaf for ever.
            _log.exception("bot.broke", account=self.account.pk)
            return self._pause()
        self._failures = 0
        if self._menus is None:
            # Once: what it lists changes with a release alone.
            refreshed = menu.keep_current(self.account)
            self._menus = asyncio.create_task(refreshed, name=f"menus {self.account.pk}")
        return pause_s

    # --- polling ----------------------------------------------------------------------------

    async def _poll(self) -> float:
        """Ask for updates once, and take in what came."""
        said = await ask(
            self.account,
            "getUpdates",
            longer_s=LONG_POLL_S,
            offset=self._offset,
            # At first only a look, which says at once whether the bot is well.
            timeout=0 if self._is_ailing else LONG_POLL_S,
            allowed_updates=list(registering.ALLOWED_UPDATES),
        )
        came = _UPDATES.validate_python(said)
        self._webhooks_removed = 0
        await self._note_well()
        for update in came:
            await self._take(update)
        return 0.0

    async def _take(self, update: JsonObject) -> None:
        """Take one update in; one that cannot be is passed over, after some tries.

        Raises:
            LeaseLost: Another poller tends the bot by now.
        """
        number = updates.id_of(update)
        _log.info("update.received", account=self.account.pk, update=number)
        for tried in count(1):
            try:
                await in_db(tending.take, self.account, update, token=self._token)
            except (LeaseLost, OperationalError, InterfaceError):
                raise
            except Exception:
                _log.exception("update.broken", account=self.account.pk, update=number)
                if tried >= receiving.TRIES:
                    await in_db(tending.pass_over, self.account, update, token=self._token)
                    await self._note(Trouble.UPDATE_BROKEN, f"update {number}")
                    break
                await asyncio.sleep(FIRST_PAUSE_S)
            else:
                break
        if number is not None:
            # Not the highest ever: after an idle week Telegram begins at any number.
            self._offset = number + 1
        await self._acknowledge(update)

    async def _acknowledge(self, update: JsonObject) -> None:
        """Let a pressed button come to rest, or a message show that it arrived."""
        courtesy = courtesies.of_press(update)
        if courtesy is None and self.account.shows_receipts:
            courtesy = await in_db(courtesies.of_message, update, self.account)
        if courtesy is not None:
            asked = ask(self.account, courtesy.method, longer_s=0.0, **courtesy.parameters)
            task = asyncio.create_task(asked, name=f"courtesy {self.account.pk}")
            self._courtesies.add(task)
            task.add_done_callback(self._courtesies.discard)
            task.add_done_callback(courtesies.log_failed)

    async def _refused(self, refused: Refused) -> float:
        if refused.is_token_refused:
            await self._note(Trouble.TOKEN_REVOKED, refused.description)
            # Another token is another beginning; one that stands elsewhere is looked up again.
            return REFERENCE_AGAIN_S if self.account.token_reference else TOKEN_AGAIN_S
        if refused.status == HTTPStatus.TOO_MANY_REQUESTS:
            return float(refused.retry_after_s or self._pause())
        if refused.status == HTTPStatus.CONFLICT:
            return await self._conflict(refused)
        is_theirs = refused.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        trouble = Trouble.UNREACHABLE if is_theirs else Trouble.REFUSED
        return await self._failed(trouble, refused.description)

    async def _conflict(self, refused: Refused) -> float:
        """Take a webhook away that stands in the way; wait for another program to end."""
        if "webhook" not in refused.description:
            # One such answer is usual where another poller of ours was killed.
            return await self._failed(Trouble.OTHER_POLLER, refused.description, after=2)
        self._webhooks_removed += 1
        if self._webhooks_removed > WEBHOOKS_REMOVED:
            await self._note(Trouble.FOREIGN_WEBHOOK, refused.description)
            pause_s = LONGEST_PAUSE_S
        else:
            pause_s = 0.0
        _log.warning("bot.webhook_removed", account=self.account.pk)
        try:
            await registering.unregister(self.account)
        except AskError as error:
            return await self._failed(Trouble.UNREACHABLE, str(error))
        return pause_s

    # --- a webhook --------------------------------------------------------------------------

    async def _keep_webhook(self) -> float:
        """Set the webhook where it is not ours, and look whether Telegram gets through."""
        url = registering.webhook_url(self.account)
        info = await self._webhook_info()
        if info.url != url or self._failures or not self._has_registered:
            await registering.register(self.account)
            self._has_registered = True
            info = await self._webhook_info()
        if info.pending_update_count and info.last_error_message:
            await self._note(Trouble.WEBHOOK_FAILING, info.last_error_message)
        else:
            await self._note_well()
        return WEBHOOK_LOOKED_AT_EVERY_S

    async def _webhook_info(self) -> _WebhookInfo:
        return _WebhookInfo.model_validate(await ask(self.account, "getWebhookInfo"))

    # --- how it is ---------------------------------------------------------------------------

    async def _failed(self, trouble: Trouble, text: str, *, after: int = SAID_AFTER) -> float:
        """Count a failure; its row tells of it once it lasts. Return the seconds to wait."""
        pause_s = self._pause()
        if self._failures >= after:
            await self._note(trouble, text)
        else:
            _log.warning("bot.failed", account=self.account.pk, trouble=str(trouble), said=text)
        return pause_s

    def _pause(self) -> float:
        """Return twice as much as the last time, never the same for two bots."""
        longest: float = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**self._failures)
        self._failures += 1
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 — a pause, no secret

    async def _note(self, trouble: Trouble, text: str = "") -> None:
        self._is_ailing = True
        await in_db(standing.note, self.account.pk, trouble, text)

    async def _note_well(self) -> None:
        if self._is_ailing:
            await in_db(standing.note_well, self.account.pk)
            self._is_ailing = False


def _begin_with(account: ChannelAccount) -> tuple[object, ...]:
    """Return what a bot has to be begun anew for where it changed."""
    return (
        account.sealed_token,
        account.token_reference,
        account.base_url,
        account.may_reach_private,
        account.receives,
    )

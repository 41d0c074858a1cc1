"""Messages that Telegram brings: `POST /telegram/<account>/`, as plain ASGI before Django.

Django's middleware is for people's pages; here it would cost more than the work itself, and let
messages wait behind slow pages. Telegram has no cookie, so there is nothing to forge. Who brings
something is known by the account's secret; without it not even the body is read.
"""

import json
import re
from collections.abc import Iterable
from datetime import timedelta
from http import HTTPStatus
from typing import Final

import structlog
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    HTTPScope,
    Scope,
)
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from redis.exceptions import RedisError

from agents.core.messages import JsonObject
from agents.db import in_db
from sessions.channels.telegram import courtesies, receiving, registering, standing, updates
from sessions.channels.telegram.courtesies import Courtesy
from sessions.channels.telegram.standing import Trouble
from sessions.events.redis_client import blocking_client
from sessions.models import ChannelAccount

_log = structlog.get_logger(__name__)

# The database is away, or was too busy: it may work later.
WAITING: Final = (OperationalError, InterfaceError)
MAX_BYTES: Final = 2**20
# Telegram brings an update again for a day.
TRIES_KEPT_S: Final = 2 * 86_400
HEARD_EVERY: Final = timedelta(minutes=1)
SECRET: Final = b"x-telegram-bot-api-secret-token"
_PATH: Final = re.compile(re.escape(registering.PREFIX) + r"([0-9]{1,18})/", re.ASCII)


class _Answer(Exception):
    """The request ends here, with a status."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


def in_front_of(application: ASGI3Application) -> ASGI3Application:
    """Answer what Telegram brings, and leave everything else to an application."""

    async def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(registering.PREFIX):
            await application(scope, receive, send)
            return
        status, reply = HTTPStatus.OK, b""
        try:
            reply = await _receive(scope, receive)
        except _Answer as ended:
            status = ended.status
        await _send(send, status, reply)

    return answer


async def _receive(scope: HTTPScope, receive: ASGIReceiveCallable) -> bytes:
    """Take one update in; return what Telegram is to do about it, if anything.

    Raises:
        _Answer: It is refused.
    """
    found = _PATH.fullmatch(scope["path"])
    if found is None:
        raise _Answer(HTTPStatus.NOT_FOUND)
    if scope["method"] != "POST":
        raise _Answer(HTTPStatus.METHOD_NOT_ALLOWED)
    account_id = int(found[1])
    knows = registering.is_secret_of(account_id, _header(scope["headers"], SECRET))
    try:
        if not knows:
            is_there = await in_db(lambda: _brought(account_id).exists())
            raise _Answer(HTTPStatus.FORBIDDEN if is_there else HTTPStatus.NOT_FOUND)
        update = _parsed(await _body(scope, receive))
        _log.info("update.received", account=account_id, update=update["update_id"])
        courtesy = await in_db(_take, account_id, update)
    except WAITING as error:
        # Telegram brings it again.
        _log.warning("webhook.waits", account=account_id, error=type(error).__name__)
        raise _Answer(HTTPStatus.SERVICE_UNAVAILABLE) from error
    return courtesy.as_reply() if courtesy is not None else b""


def _brought(account_id: int) -> QuerySet[ChannelAccount]:
    """Return the account if its messages are brought."""
    return ChannelAccount.objects.filter(
        pk=account_id,
        channel=ChannelAccount.Channel.TELEGRAM,
        receives=ChannelAccount.Receives.WEBHOOK,
        switched_off_at=None,
        archived_at=None,
        agent__archived_at=None,
        agent__isnull=False,
    )


def _take(account_id: int, update: JsonObject) -> Courtesy | None:
    """Take an update in; return what Telegram is to show for it.

    Raises:
        _Answer: There is no such account.
    """
    account = _brought(account_id).first()
    if account is None:
        raise _Answer(HTTPStatus.NOT_FOUND)
    try:
        with transaction.atomic():
            receiving.take(account, update)
            _note_heard(account)
    except WAITING:
        raise
    except Exception:
        standing.note(account.pk, Trouble.UPDATE_BROKEN, f"update {update['update_id']}")
        if not _is_last_try(account, update):
            raise
        # What follows in its chat waits behind it, and would for a day.
        _log.exception("update.broken", account=account.pk, update=update["update_id"])
        receiving.pass_over(account, update)
        return None
    return courtesies.of_press(update) or courtesies.of_message(update, account)


def _is_last_try(account: ChannelAccount, update: JsonObject) -> bool:
    """Count a try of an update that broke something of ours; return whether it was the last."""
    key = f"update-tries:{account.pk}:{update['update_id']}"
    try:
        with blocking_client().pipeline() as pipeline:
            pipeline.incr(key)
            pipeline.expire(key, TRIES_KEPT_S)
            tried, _ = pipeline.execute()
    except RedisError as error:
        # It is brought again, and counted then.
        _log.warning("update.not_counted", account=account.pk, error=type(error).__name__)
        return False
    return int(tried) >= receiving.TRIES


def _note_heard(account: ChannelAccount) -> None:
    """Write down when the bot heard last, once a minute: more would queue its messages up."""
    now = timezone.now()
    if account.received_at is None or now - account.received_at > HEARD_EVERY:
        bot = ChannelAccount.objects.filter(pk=account.pk)
        is_old = Q(received_at=None) | Q(received_at__lt=now - HEARD_EVERY)
        bot.filter(is_old).update(received_at=now)


def _header(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in headers if name == wanted), "")


async def _body(scope: HTTPScope, receive: ASGIReceiveCallable) -> bytes:
    """Return the whole body.

    Raises:
        _Answer: It is too long, or broke off.
    """
    named = _header(scope["headers"], b"content-length")
    if named.isdecimal() and int(named) > MAX_BYTES:
        raise _Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _Answer(HTTPStatus.BAD_REQUEST)
        body += message.get("body", b"")
        if len(body) > MAX_BYTES:
            raise _Answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        if not message.get("more_body", False):
            return bytes(body)


def _parsed(body: bytes) -> JsonObject:
    """Return an update.

    Raises:
        _Answer: It is none.
    """
    try:
        update = json.loads(body)
    except (ValueError, RecursionError):
        update = None
    if not isinstance(update, dict) or updates.id_of(update) is None:
        raise _Answer(HTTPStatus.BAD_REQUEST)
    return update


async def _send(send: ASGISendCallable, status: HTTPStatus, reply: bytes) -> None:
    head = [(b"content-length", str(len(reply)).encode())]
    if reply:
        head.append((b"content-type", b"application/json"))
    await send(
        {"type": "http.response.start", "status": status, "headers": head, "trailers": False}
    )
    await send({"type": "http.response.body", "body": reply, "more_body": False})

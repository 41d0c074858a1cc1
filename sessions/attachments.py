"""What came with a message, fetched and made readable before its turn is decided.

A file that cannot be had breaks nothing: its row says why, and the model is told. A turn whose
worker dies meanwhile begins again with what is still missing.
"""

import asyncio
from functools import cache
from typing import Final, Protocol, cast

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from agents.core.protocols import Charge
from agents.db import in_db
from agents.models import File, ProviderAccount
from agents.services import caps, files, hearing, ledger, pictures
from agents.services.hearing import NotHeard
from agents.services.pictures import NotAPicture, Picture
from memory import wal
from memory.policy import policy_of
from sessions.models import Attachment, Content, Turn

_log = structlog.get_logger(__name__)

TRIES: Final = 3
PAUSE_S: Final = 1.0
# Nobody waits longer for an answer because of what came with the question.
LONGEST_FETCH_S: Final = 60.0
SPOKEN: Final = (Attachment.Kind.VOICE, Attachment.Kind.AUDIO)

TOO_LARGE: Final = "too_large"
UNREACHABLE: Final = "unreachable"
NO_HEARING: Final = "no_hearing"
NOT_HEARD: Final = "not_heard"
CAP: Final = "cap"


class NotFetched(Exception):
    """The channel did not give a file.

    Args:
        code: Why, as ``Attachment.error`` keeps it.
        is_final: Whether asking again would change nothing.
    """

    def __init__(self, code: str, *, is_final: bool) -> None:
        super().__init__(code)
        self.code = code
        self.is_final = is_final


class Source(Protocol):
    """Where a channel's files are; one for each of ``settings.QANOT_FILE_SOURCES``."""

    async def fetch(self, attachment: Attachment) -> bytes:
        """Return a file's bytes; the message's account is loaded.

        Raises:
            NotFetched: There are none.
        """
        ...


@cache
def source_of(channel: str) -> Source:
    """Return a channel's source, loaded at its first use.

    Raises:
        KeyError: The channel has none in the settings.
    """
    # A dotted path names anything; that it is a source is its author's promise.
    return cast(Source, import_string(settings.QANOT_FILE_SOURCES[channel])())


async def fetch(turn: Turn) -> None:
    """Fetch what came with a turn's messages and was not fetched yet.

    Args:
        turn: With its session and the session's agent loaded.
    """
    for attachment in await in_db(_waiting, turn.pk):
        try:
            async with asyncio.timeout(LONGEST_FETCH_S):
                await _take(attachment, turn)
        except TimeoutError:
            await in_db(_fail, attachment, UNREACHABLE)


def has_waiting(turn_id: int) -> bool:
    """Return whether something of a turn's messages is still to be fetched."""
    return _unfetched(turn_id).exists()


def says_nothing_readable(turn_id: int) -> bool:
    """Return whether a turn's messages are nothing but speech that could not be heard."""
    of_turn = Attachment.objects.filter(message__turn_id=turn_id)
    if not of_turn.exists() or of_turn.exclude(kind__in=SPOKEN).exists():
        return False
    if of_turn.filter(transcript__isnull=False).exists():
        return False
    messages = Turn.objects.get(pk=turn_id).messages.all()
    return not messages.exclude(content__text="").exists()


# --- one attachment ----------------------------------------------------------------------------


async def _take(attachment: Attachment, turn: Turn) -> None:
    if attachment.file is None:
        try:
            content = await _asked(attachment)
        except NotFetched as refusal:
            _log.warning("file.not_fetched", attachment=attachment.pk, code=refusal.code)
            await in_db(_fail, attachment, refusal.code)
            return
    else:
        # Its channel brought the bytes with it.
        content = await in_db(files.read, attachment.file)
    picture = await _picture(attachment, content)
    await in_db(_keep, attachment, turn, content, picture)
    if attachment.kind in SPOKEN:
        await _hear(attachment, turn)
    else:
        await in_db(_settle, attachment)
    _log.info("file.fetched", attachment=attachment.pk, turn=turn.pk)


async def _asked(attachment: Attachment) -> bytes:
    if attachment.size_bytes is not None and attachment.size_bytes > files.MAX_BYTES:
        raise NotFetched(TOO_LARGE, is_final=True)
    source = source_of(attachment.message.account.channel)
    for tried in range(1, TRIES + 1):
        try:
            return await source.fetch(attachment)
        except NotFetched as refusal:
            if refusal.is_final or tried == TRIES:
                raise
            await asyncio.sleep(PAUSE_S * tried)
    raise AssertionError("the last try returns or raises")


async def _picture(attachment: Attachment, content: bytes) -> Picture | None:
    """Return what models are shown of it; None for what is no picture."""
    is_image = attachment.media_type.startswith("image/")
    if attachment.kind != Attachment.Kind.PHOTO and not is_image:
        return None
    try:
        return await asyncio.to_thread(pictures.fit, content)
    except NotAPicture as error:
        _log.info("picture.unreadable", attachment=attachment.pk, error=str(error))
        return None


async def _hear(attachment: Attachment, turn: Turn) -> None:
    """Turn speech into text, bill it, and note what it says before anybody answers."""
    account = await in_db(_hearing_account, turn)
    if isinstance(account, str):
        await in_db(_fail, attachment, account)
        return
    if attachment.file is None:
        raise AssertionError("it was fetched")
    file, model = attachment.file, turn.session.agent.speech_model
    recording = await in_db(files.read, file)
    try:
        text, charge = await hearing.hear(
            account, recording, name=file.name, media_type=file.media_type, model=model
        )
    except NotHeard as refusal:
        _log.warning("speech.not_heard", attachment=attachment.pk, code=str(refusal))
        await in_db(_fail, attachment, NOT_HEARD)
        return
    await in_db(_note_heard, attachment, turn, text, charge)


# --- in the database ---------------------------------------------------------------------------


def _unfetched(turn_id: int) -> QuerySet[Attachment]:
    return Attachment.objects.filter(
        message__turn_id=turn_id, state=Attachment.State.WAITING
    ).order_by("message_id", "number")


def _waiting(turn_id: int) -> list[Attachment]:
    return list(_unfetched(turn_id).select_related("message__account", "file"))


def _keep(attachment: Attachment, turn: Turn, content: bytes, picture: Picture | None) -> None:
    """Store the bytes; of a photo only what models are shown, which says nothing of its place."""
    name = attachment.name or attachment.kind
    if attachment.file is None:
        is_photo = picture is not None and attachment.kind == Attachment.Kind.PHOTO
        kept, media_type = content, attachment.media_type
        if picture is not None and is_photo:
            kept, media_type = picture.data, picture.media_type
        attachment.file = _store(turn, attachment, kept, name, media_type)
        attachment.picture = attachment.file if is_photo else None
    if picture is not None and attachment.picture is None:
        attachment.picture = _store(turn, attachment, picture.data, name, picture.media_type)
    attachment.name, attachment.size_bytes = attachment.file.name, attachment.file.size_bytes
    attachment.media_type = attachment.file.media_type
    attachment.save(update_fields=["file", "picture", "name", "size_bytes", "media_type"])


def _store(turn: Turn, attachment: Attachment, content: bytes, name: str, media_type: str) -> File:
    session = turn.session
    return files.store(
        content,
        name=name,
        media_type=media_type,
        team_id=session.team_id,
        person_id=None if session.chat_id else session.person_id,
        chat_id=session.chat_id,
        origin=attachment.message.ref,
    )


def _settle(attachment: Attachment) -> None:
    attachment.state = Attachment.State.FETCHED
    attachment.save(update_fields=["state"])


def _fail(attachment: Attachment, code: str) -> None:
    attachment.state, attachment.error = Attachment.State.FAILED, code
    attachment.save(update_fields=["state", "error"])


def _hearing_account(turn: Turn) -> ProviderAccount | str:
    """Return who hears for the turn's agent, or why nobody does."""
    account = ProviderAccount.objects.filter(
        pk=turn.session.agent.speech_account_id or 0, switched_off_at=None
    ).first()
    if account is None:
        return NO_HEARING
    allowance = caps.allowance(turn.session.agent, now=timezone.now())
    if allowance.cap_usd is not None and allowance.spent_usd >= allowance.cap_usd:
        return CAP
    return account


@transaction.atomic
def _note_heard(attachment: Attachment, turn: Turn, text: str, charge: Charge) -> None:
    """Keep what was heard with its cost, and its facts where they are the person's own words."""
    session = turn.session
    if text:
        attachment.transcript = Content.objects.create(
            team_id=session.team_id, text=text.replace("\x00", "")
        )
        # What was forwarded, or answers a quote, may be somebody else's words.
        if attachment.message.context_id is None:
            wal.append(
                text,
                viewer=turn.viewer,
                source=f"attachment:{attachment.pk}",
                thread=f"session:{session.pk}/{turn.generation.number}",
                author_id=attachment.message.person_id,
                at=attachment.message.received_at,
                policy=policy_of(session.agent),
            )
    attachment.state = Attachment.State.FETCHED
    attachment.save(update_fields=["transcript", "state"])
    ledger.record(
        charge,
        ledger.Spender(
            origin=turn.ref,
            kind="speech",
            team_id=session.team_id,
            agent_id=session.agent_id,
            person_id=session.person_id,
            channel=session.account.channel,
        ),
    )

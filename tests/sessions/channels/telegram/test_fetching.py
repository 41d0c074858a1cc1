"""Files that people send to a bot, fetched from its server."""

import asyncio
import traceback
from collections.abc import Iterator

import pytest

from agents.services import files
from sessions.attachments import TOO_LARGE, UNREACHABLE, NotFetched, source_of
from sessions.channels.telegram import client, tokens
from sessions.models import Attachment, ChannelAccount, InboundMessage
from tests.fakes.telegram import TOKEN, FakeTelegram


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as fake:
        yield fake


def fetch(telegram: FakeTelegram, reference: str, *, token: str = TOKEN) -> bytes:
    """Fetch a file as the worker does."""
    account = ChannelAccount(
        channel="telegram",
        sealed_token=tokens.seal_token(token),
        base_url=telegram.base_url,
        may_reach_private=True,
    )
    message = InboundMessage(account=account)

    async def run() -> bytes:
        try:
            source = source_of("telegram")
            return await source.fetch(Attachment(message=message, reference=reference))
        finally:
            await client.close_bots()

    return asyncio.run(run())


def test_a_file_comes_whole(telegram: FakeTelegram) -> None:
    content = bytes(range(256)) * 1_000
    assert fetch(telegram, telegram.api.keep_file(content)) == content


def test_a_file_that_is_gone_is_not_asked_for_again(telegram: FakeTelegram) -> None:
    with pytest.raises(NotFetched) as refused:
        fetch(telegram, "file-99")
    assert (refused.value.code, refused.value.is_final) == (UNREACHABLE, True)


def test_a_file_beyond_the_servers_limit_is_too_large(telegram: FakeTelegram) -> None:
    with pytest.raises(NotFetched) as refused:
        fetch(telegram, telegram.api.keep_file(b"0" * (files.MAX_BYTES + 1)))
    assert (refused.value.code, refused.value.is_final) == (TOO_LARGE, True)


def test_an_own_server_that_knows_no_limit_is_cut_off(
    telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.channels.telegram.files.MAX_BYTES", 1_000)
    with pytest.raises(NotFetched) as refused:
        fetch(telegram, telegram.api.keep_file(b"0" * 70_000))
    assert refused.value.code == TOO_LARGE


def test_a_server_that_is_away_is_asked_again_and_no_error_shows_the_token() -> None:
    with FakeTelegram() as telegram:
        pass
    with pytest.raises(NotFetched) as refused:
        fetch(telegram, "file-1")
    assert (refused.value.code, refused.value.is_final) == (UNREACHABLE, False)
    told = "".join(traceback.format_exception(refused.value))
    assert TOKEN.partition(":")[2] not in told

"""What a recording says, by a server that speaks OpenAI's wire."""

from collections.abc import Iterator

import pytest

from agents.core.errors import AddressNotAllowed, AuthenticationFailed, ProviderError
from agents.core.messages import Usage
from agents.providers import Endpoint
from agents.providers.speech import Hearing
from tests.fakes.speech import FakeSpeech


@pytest.fixture
def fake() -> Iterator[FakeSpeech]:
    """Serve the wire."""
    with FakeSpeech() as server:
        yield server


async def hear(fake: FakeSpeech, **given: bool) -> tuple[str, Usage]:
    """Let it hear four bytes."""
    hearing = Hearing(
        Endpoint(
            api_key="sk-fake",
            base_url=fake.base_url,
            may_reach_private=given.get("may_reach_private", True),
        )
    )
    try:
        heard = await hearing.hear(b"OggS", name="a.ogg", media_type="audio/ogg", model="whisper-1")
    finally:
        await hearing.aclose()
    return heard.text, heard.usage


async def test_a_recording_is_sent_as_a_file_and_comes_back_as_text(fake: FakeSpeech) -> None:
    fake.text = " Mening ismim Bobur.\n"
    text, usage = await hear(fake)
    assert text == "Mening ismim Bobur."
    assert usage == Usage(is_estimate=True)
    (sent,) = fake.heard
    assert (sent.file_name, sent.content) == ("a.ogg", b"OggS")
    assert sent.fields == {"model": "whisper-1", "response_format": "json"}


async def test_tokens_are_counted_where_the_server_tells_them(fake: FakeSpeech) -> None:
    fake.usage = {"type": "tokens", "input_tokens": 14, "output_tokens": 45}
    _, usage = await hear(fake)
    assert usage == Usage(input_tokens=14, output_tokens=45)


@pytest.mark.parametrize(
    ("status", "expected"), [(401, AuthenticationFailed), (500, ProviderError)]
)
async def test_a_refusal_is_told_by_its_kind(
    fake: FakeSpeech, status: int, expected: type[ProviderError]
) -> None:
    fake.status = status
    with pytest.raises(expected):
        await hear(fake)


async def test_private_addresses_are_for_accounts_that_may(fake: FakeSpeech) -> None:
    with pytest.raises(AddressNotAllowed):
        await hear(fake, may_reach_private=False)
    assert fake.heard == []

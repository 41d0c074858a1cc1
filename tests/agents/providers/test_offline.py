"""The offline provider says what it was given, and never more."""

import pytest

from agents.core.events import TextDelta
from agents.core.messages import Usage
from agents.core.protocols import SystemPart
from agents.providers import OFFLINE_PART, offline_part, open_provider
from agents.providers.offline import NEUTRAL_TEXT
from tests.agents.providers.calls import ask, collect, make_call

TEXT = "Hozircha model ulanmagan.\n\n- Qo‘shish: **Admin → Accounts**\n"


async def test_the_given_text_comes_word_by_word() -> None:
    call = make_call(system=(SystemPart("soul", "Be kind."), offline_part(TEXT)))
    provider = open_provider("offline")
    *pieces, _ = await collect(provider, call)
    assert len(pieces) == len(TEXT.split())
    assert all(isinstance(piece, TextDelta) for piece in pieces)
    reply = await ask(provider, call)
    assert reply.message.text == TEXT
    assert (reply.usage, reply.model, reply.stop_reason) == (Usage(), "offline", "end")
    assert await provider.complete(call) == reply
    await provider.aclose()


@pytest.mark.parametrize("stored", ["", "no json", "[]", "{}", '{"text": 7}', '{"text": " "}'])
async def test_without_a_text_it_says_that_there_is_no_model(stored: str) -> None:
    call = make_call(system=(SystemPart(OFFLINE_PART, stored),))
    assert (await ask(open_provider("offline"), call)).message.text == NEUTRAL_TEXT
    assert (await ask(open_provider("offline"))).message.text == NEUTRAL_TEXT

"""The provider that speaks while no model is set up; it never pretends to be one."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator

from agents.core.events import Done, ProviderEvent, TextDelta
from agents.core.messages import AssistantMessage, Reply, TextBlock, Usage
from agents.core.protocols import ModelCall, SystemPart
from agents.providers.endpoint import Endpoint

OFFLINE_PART = "offline"
OFFLINE_MODEL = "offline"
# Where the platform said nothing; its own texts are translated, this one cannot be.
NEUTRAL_TEXT = "No model is set up here yet, so I cannot answer."
PAUSE_S = 0.01

_WORDS = re.compile(r"\s*\S+\s*")


def offline_part(text: str) -> SystemPart:
    """Return the system part that tells the offline provider what to say.

    Adapters of real models leave it out of what they send.
    """
    stored = json.dumps({"text": text}, ensure_ascii=False)
    return SystemPart(name=OFFLINE_PART, text=stored, is_stable=False)


class OfflineProvider:
    """Says, word by word, what the platform put into the call."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Take what every provider takes, and need none of it."""

    async def stream(self, call: ModelCall) -> AsyncGenerator[ProviderEvent, None]:
        """Say the text in words, a moment apart."""
        text = _given_text(call)
        for number, word in enumerate(_WORDS.findall(text)):
            if number:
                await asyncio.sleep(PAUSE_S)
            yield TextDelta(word)
        yield Done(_reply(text))

    async def complete(self, call: ModelCall) -> Reply:
        """Say the text at once."""
        return _reply(_given_text(call))

    async def aclose(self) -> None:
        """Hold nothing, so give nothing back."""


def _given_text(call: ModelCall) -> str:
    for part in call.system:
        if part.name == OFFLINE_PART:
            try:
                given = json.loads(part.text)
            except ValueError:
                break
            text = given.get("text") if isinstance(given, dict) else None
            if isinstance(text, str) and text.strip():
                return text
    return NEUTRAL_TEXT


def _reply(text: str) -> Reply:
    return Reply(
        message=AssistantMessage(blocks=(TextBlock(text),)),
        stop_reason="end",
        usage=Usage(),
        model=OFFLINE_MODEL,
    )

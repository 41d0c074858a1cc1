"""What is known about a model before it is asked: its window, its price, what it can.

The server's own word goes first; where it says nothing, the price list that the ledger uses
knows windows too. Nothing here asks the network.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from genai_prices import types
from genai_prices.data_snapshot import get_snapshot

from agents.core.protocols import ModelInfo
from agents.providers.presets import preset as find_preset

UNKNOWN_WINDOW: Final = 32_000
# Below it there is little left beside persona, tools and memory.
SMALL_WINDOW: Final = 16_000
# More than people read at once. Models may write longer, but what they may write is what the
# daily cap has to count with.
PROPOSED_OUTPUT: Final = 8_192

_LISTED_AS: Final = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "google",
    "groq": "groq",
}


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model, as people are shown it and as a chain's link is filled in.

    Args:
        window_tokens: A careful guess where it is not known.
        max_output_tokens: A proposal that the model and its window allow.
        input_usd_mtok: Dollars a million tokens; zero for a model on one's own machine, None
            where the price is not known.
    """

    name: str
    window_tokens: int
    is_window_known: bool
    max_output_tokens: int
    supports_tools: bool
    supports_images: bool
    input_usd_mtok: Decimal | None
    output_usd_mtok: Decimal | None

    @property
    def is_window_small(self) -> bool:
        """Return whether an agent will soon forget what was said."""
        return self.window_tokens < SMALL_WINDOW


def facts(
    model: str, *, said: ModelInfo | None = None, preset: str = "", base_url: str = ""
) -> ModelFacts:
    """Return what is known about a model.

    Args:
        said: What its server says about it.
        preset: Of the account; the same model costs something else elsewhere.
        base_url: Of the account, where the preset does not say whose server it is.
    """
    said = said or ModelInfo(model)
    chosen = find_preset(preset)
    is_local = chosen is not None and chosen.is_local
    listed = None if is_local else _listed(model, preset=preset, base_url=base_url)
    known = said.window_tokens or (listed.context_window if listed else None)
    window = known or UNKNOWN_WINDOW
    prices = _prices(listed) if listed else (None, None)
    if chosen is not None and chosen.is_free:
        prices = (Decimal(0), Decimal(0))
    return ModelFacts(
        name=model,
        window_tokens=window,
        is_window_known=known is not None and not said.is_window_assumed,
        max_output_tokens=_proposed_output(window, said.max_output_tokens),
        supports_tools=said.supports_tools is not False,
        # Models on one's own machine mostly cannot see, and those that can say so.
        supports_images=said.supports_images is not False
        if not is_local
        else said.supports_images is True,
        input_usd_mtok=prices[0],
        output_usd_mtok=prices[1],
    )


def listed_name(model: str) -> str:
    """Return a model's name as price lists write it: without Google's prefix."""
    return model.removeprefix("models/")


def _proposed_output(window: int, limit: int | None) -> int:
    return max(1, min(PROPOSED_OUTPUT, limit or PROPOSED_OUTPUT, window // 4))


def _listed(model: str, *, preset: str, base_url: str) -> types.ModelInfo | None:
    snapshot, name = get_snapshot(), listed_name(model)
    try:
        if provider_id := _LISTED_AS.get(preset):
            return snapshot.find_provider_model(name, None, provider_id, None)[1]
        if base_url:
            return snapshot.find_provider_model(name, None, None, base_url)[1]
    except LookupError:
        pass
    try:
        return snapshot.find_provider_model(name, None, None, None)[1]
    except LookupError:
        return None


def _prices(listed: types.ModelInfo) -> tuple[Decimal | None, Decimal | None]:
    price = listed.get_prices(datetime.now(UTC))
    input_usd, output_usd = _base(price.input_mtok), _base(price.output_mtok)
    return (None, None) if input_usd is None or output_usd is None else (input_usd, output_usd)


def _base(price: Decimal | types.TieredPrices | None) -> Decimal | None:
    """Return a price's first step; longer prompts may cost more."""
    return price.base if isinstance(price, types.TieredPrices) else price

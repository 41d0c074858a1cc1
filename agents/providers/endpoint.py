"""What an adapter is made from: where it asks, with which key, and within which bounds."""

from dataclasses import dataclass, field
from typing import Literal

from agents.providers.limits import ProviderLimits

PromptCache = Literal["off", "5m", "1h"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One account at a provider, in plain values.

    Args:
        api_key: Empty where the server wants none.
        base_url: None for the provider's own.
        may_reach_private: True where its address was given by somebody who may reach this
            machine and its network.
        private_hosts: Hosts that anybody's address may name although they are private.
        prompt_cache: How long a provider keeps what we mark, where we decide.
    """

    api_key: str = field(default="", repr=False)
    base_url: str | None = None
    limits: ProviderLimits = field(default_factory=ProviderLimits)
    may_reach_private: bool = False
    private_hosts: frozenset[str] = frozenset()
    prompt_cache: PromptCache = "5m"

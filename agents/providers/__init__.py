"""Model providers, each loaded at first use: importing this package imports no SDK.

``open_provider`` gives the adapter of a kind, ``warm`` imports what it needs ahead of time and
``register`` makes a further kind known by its dotted path.
"""

from agents.providers.endpoint import Endpoint
from agents.providers.limits import ProviderLimits
from agents.providers.offline import OFFLINE_PART, offline_part
from agents.providers.registry import is_warm, kinds, open_provider, register, warm

__all__ = [
    "OFFLINE_PART",
    "Endpoint",
    "ProviderLimits",
    "is_warm",
    "kinds",
    "offline_part",
    "open_provider",
    "register",
    "warm",
]

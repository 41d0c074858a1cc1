"""The one way out: every fetch that a person, a model or a document can steer.

``fetch`` asks one address within bounds; ``Guard`` says which addresses may be connected to, also
for the connections that the model SDKs keep.
"""

from agents.net.client import Fetched, fetch
from agents.net.errors import (
    AddressRefused,
    BadAddress,
    NetError,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
)
from agents.net.guard import Guard

__all__ = [
    "AddressRefused",
    "BadAddress",
    "Fetched",
    "Guard",
    "NetError",
    "TooLarge",
    "TooManyRedirects",
    "TooSlow",
    "Unreachable",
    "fetch",
]

"""Which adapter speaks for which kind of provider, loaded at its first use."""

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from agents.core.protocols import Provider
from agents.providers.endpoint import Endpoint

# The others come from the settings (QANOT_PROVIDERS); this one is always there.
_paths: dict[str, str] = {"offline": "agents.providers.offline.OfflineProvider"}
_loaded: dict[str, "_Opens"] = {}


class _Opens(Protocol):
    def __call__(self, endpoint: Endpoint, /) -> Provider:
        """Make an adapter."""
        ...


def kinds() -> Sequence[str]:
    """Return the kinds that are known."""
    return tuple(_paths)


def register(kind: str, path: str) -> None:
    """Make a kind known by its adapter's dotted path; nothing is imported yet."""
    _paths[kind] = path
    _loaded.pop(kind, None)


def open_provider(kind: str, endpoint: Endpoint | None = None) -> Provider:
    """Return an adapter that owns one client, for the life of one event loop.

    The first one of a kind imports its SDK (up to a second): ``warm`` does that ahead of time.

    Raises:
        LookupError: No such kind.
    """
    return _load(kind)(endpoint or Endpoint())


def warm(kind: str) -> None:
    """Import what a kind needs, so that its first call does not wait for it.

    Raises:
        LookupError: No such kind.
    """
    _load(kind)


def is_warm(kind: str) -> bool:
    """Return whether what a kind needs is imported, so that opening one takes no time."""
    return kind in _loaded


def _load(kind: str) -> _Opens:
    if kind in _loaded:
        return _loaded[kind]
    if kind not in _paths:
        raise LookupError(f"no provider of the kind {kind!r}")
    module, _, name = _paths[kind].rpartition(".")
    # A dotted path names anything; that it opens a provider is its author's promise.
    _loaded[kind] = cast(_Opens, getattr(import_module(module), name))
    return _loaded[kind]

"""Adapters are loaded at first use, by kind."""

import subprocess
import sys

import pytest
from pytest_django import Settings

from agents.providers import kinds, open_provider, register, registry, warm
from agents.providers.offline import OfflineProvider

PROBE = """
import sys
import agents.providers
kind, path = sys.argv[1:]
agents.providers.register(kind, path)
agents.providers.open_provider("offline")
print(sorted({"anthropic", "openai", "httpx2", "aiohttp"} & set(sys.modules)))
agents.providers.warm(kind)
print(kind in sys.modules)
"""


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_an_sdk_is_imported_when_it_is_needed(kind: str, settings: Settings) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, kind, settings.QANOT_PROVIDERS[kind]],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["[]", "True"]


def test_an_unknown_kind_is_a_lookup_error() -> None:
    with pytest.raises(LookupError, match="'telepathy'"):
        open_provider("telepathy")
    with pytest.raises(LookupError):
        warm("telepathy")


def test_a_further_kind_is_a_dotted_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_paths", dict(registry._paths))
    register("silent", "agents.providers.offline.OfflineProvider")
    assert "silent" in kinds()
    assert isinstance(open_provider("silent"), OfflineProvider)

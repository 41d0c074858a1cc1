"""The providers that people choose from: what is known about each before anybody has typed.

Titles are names and stay as they are; hints are codes, which the admin turns into words.
Sources: the providers' own documentation of their OpenAI-compatible addresses and of their
servers' default ports (read in November 2026).
"""

from dataclasses import dataclass
from typing import Final, Literal

PresetName = Literal["anthropic", "openai", "gemini", "groq", "ollama", "local", "compatible"]
Hint = Literal["key", "free_key", "ollama", "local", "compatible"]

OLLAMA_URL: Final = "http://127.0.0.1:11434/v1"
LLAMA_CPP_URL: Final = "http://127.0.0.1:8080/v1"
VLLM_URL: Final = "http://127.0.0.1:8000/v1"
# A model that a home computer first has to read from its disk.
SLOW_LOAD_S: Final = 300


@dataclass(frozen=True, slots=True)
class Preset:
    """One provider as people know it.

    Args:
        kind: The adapter's, as in ``QANOT_PROVIDERS``.
        base_url: Empty for the adapter's own, or where only the person knows it.
        key_page: Where one gets a key; empty where none is needed or nobody can say.
        wants_key: True where it answers nobody without a key.
        is_local: True where it runs on the person's own machine or network.
        is_free: True where tokens cost nothing.
        first_event_s: Seconds to the first event; None for the platform's limit.
        hint: What to tell people who choose it.
    """

    name: PresetName
    title: str
    kind: Literal["anthropic", "openai"]
    base_url: str
    key_page: str
    wants_key: bool
    is_local: bool
    is_free: bool
    first_event_s: int | None
    hint: Hint


def _hosted(
    name: PresetName,
    title: str,
    *,
    key_page: str,
    kind: Literal["anthropic", "openai"] = "openai",
    base_url: str = "",
    hint: Hint = "key",
) -> Preset:
    return Preset(
        name=name,
        title=title,
        kind=kind,
        base_url=base_url,
        key_page=key_page,
        wants_key=True,
        is_local=False,
        is_free=False,
        first_event_s=None,
        hint=hint,
    )


def _local(name: PresetName, title: str, *, base_url: str, hint: Hint) -> Preset:
    return Preset(
        name=name,
        title=title,
        kind="openai",
        base_url=base_url,
        key_page="",
        wants_key=False,
        is_local=True,
        is_free=True,
        first_event_s=SLOW_LOAD_S,
        hint=hint,
    )


PRESETS: Final[tuple[Preset, ...]] = (
    _hosted(
        "anthropic",
        "Anthropic",
        kind="anthropic",
        key_page="https://platform.claude.com/settings/keys",
    ),
    _hosted("openai", "OpenAI", key_page="https://platform.openai.com/api-keys"),
    _hosted(
        "gemini",
        "Google Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai/",
        key_page="https://aistudio.google.com/apikey",
        hint="free_key",
    ),
    _hosted(
        "groq",
        "Groq",
        base_url="https://api.groq.com/openai/v1",
        key_page="https://console.groq.com/keys",
        hint="free_key",
    ),
    _local("ollama", "Ollama", base_url=OLLAMA_URL, hint="ollama"),
    _local("local", "llama.cpp / vLLM", base_url=LLAMA_CPP_URL, hint="local"),
    Preset(
        name="compatible",
        title="OpenAI-compatible",
        kind="openai",
        base_url="",
        key_page="",
        wants_key=False,
        is_local=False,
        is_free=False,
        first_event_s=None,
        hint="compatible",
    ),
)


def preset(name: str) -> Preset | None:
    """Return the preset of a name; None for one that is not, or no longer, known."""
    return next((known for known in PRESETS if known.name == name), None)

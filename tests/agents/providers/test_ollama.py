"""Ollama: its real windows, its habits, and whether one is there."""

import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from agents.core.errors import ProviderTimeout, RequestRefused
from agents.core.events import Alive, Done
from agents.core.protocols import ListsModels, ModelCall, ModelInfo, Provider
from agents.net import Guard
from agents.providers import Endpoint, ProviderLimits, ollama, open_provider
from tests.agents.providers.calls import WEATHER, ask, collect, make_call
from tests.fakes.ollama import FakeModel, FakeOllama
from tests.fakes.openai import FakeOpenAI

GUARD = Guard(may_reach_private=True)
MODELS = (
    FakeModel("qwen3:8b", window=32_768, thinks=True),
    FakeModel("small:1b", can=("completion", "vision"), num_ctx=8_192),
    FakeModel("tiny:latest", num_ctx=200_000, trained=2_048),
    FakeModel("big:cloud", trained=262_144, host="https://ollama.com"),
    FakeModel("nomic-embed-text:latest", can=("embedding",)),
)


@pytest.fixture
def fake() -> Iterator[FakeOllama]:
    """Serve an Ollama with a model of each sort."""
    with FakeOllama(*MODELS) as server:
        yield server
        server.assert_done()


@pytest.fixture
async def provider(fake: FakeOllama) -> AsyncIterator[Provider]:
    """Open the adapter on it."""
    opened = open_provider("openai", Endpoint(base_url=fake.base_url, may_reach_private=True))
    yield opened
    await opened.aclose()


def call_to(model: str, *, has_tools: bool = False) -> ModelCall:
    """Return a call to one of the server's models."""
    call = make_call("How is it?", tools=(WEATHER,) if has_tools else ())
    return replace(call, model=model)


async def probed(fake: FakeOllama) -> dict[str, ModelInfo]:
    """Return what an Ollama says about its models, by name."""
    found = await ollama.probe(fake.base_url, guard=GUARD)
    assert found is not None
    return {info.name: info for info in found}


# --- windows ---


async def test_the_window_is_what_the_server_loads_and_not_what_was_trained(
    fake: FakeOllama,
) -> None:
    assert await probed(fake) == {
        # Nobody told: the smallest of the server's usual sizes.
        "qwen3:8b": ModelInfo("qwen3:8b", 4_096, None, True, False, is_window_assumed=True),
        # The Modelfile tells.
        "small:1b": ModelInfo("small:1b", 8_192, None, False, True),
        # It asks for more than there is.
        "tiny:latest": ModelInfo("tiny:latest", 2_048, None, True, False),
        "big:cloud": ModelInfo("big:cloud", 262_144, None, True, False),
    }


async def test_once_a_model_is_loaded_its_window_is_known(
    fake: FakeOllama, provider: Provider
) -> None:
    await ask(provider, call_to("qwen3:8b"))
    assert (await probed(fake))["qwen3:8b"] == ModelInfo("qwen3:8b", 32_768, None, True, False)


async def test_the_adapter_lists_the_same(fake: FakeOllama, provider: Provider) -> None:
    assert isinstance(provider, ListsModels)
    assert {info.name: info for info in await provider.list_models()} == await probed(fake)


# --- is one there? ---


async def test_nobody_there_is_none_at_once() -> None:
    began_s = time.monotonic()
    assert await ollama.probe("http://127.0.0.1:9/v1", guard=GUARD) is None
    assert time.monotonic() - began_s < ollama.PROBE_S


async def test_another_server_is_none() -> None:
    with FakeOpenAI() as other:
        assert await ollama.probe(other.base_url, guard=GUARD) is None


async def test_a_guard_that_refuses_the_address_is_obeyed(fake: FakeOllama) -> None:
    assert await ollama.probe(fake.base_url, guard=Guard()) is None
    assert fake.asked == []


# --- its habits ---


async def test_a_model_without_tools_answers_anyway(fake: FakeOllama, provider: Provider) -> None:
    fake.play("Sunny.")
    reply = await ask(provider, call_to("small:1b", has_tools=True))
    assert reply.message.text == "Sunny."
    assert ["tools" in request.body for request in fake.requests] == [True, False]


async def test_thoughts_are_hidden_and_give_signs_of_life(
    fake: FakeOllama, provider: Provider
) -> None:
    fake.play("Sunny.")
    events = [event async for event in provider.stream(call_to("qwen3:8b"))]
    assert events[0] == Alive()
    done = events[-1]
    assert isinstance(done, Done)
    assert done.reply.message.text == "Sunny."


async def test_a_plain_answer_is_without_thoughts_too(fake: FakeOllama, provider: Provider) -> None:
    fake.play("Sunny.")
    assert (await provider.complete(call_to("qwen3:8b"))).message.text == "Sunny."


async def test_a_slow_first_load_is_waited_for_as_long_as_the_account_says() -> None:
    with FakeOllama(FakeModel("slow:7b", load_s=0.6)) as fake:
        patient, hasty = (
            open_provider(
                "openai",
                Endpoint(
                    base_url=fake.base_url,
                    may_reach_private=True,
                    limits=ProviderLimits(first_event_s=first_event_s, between_events_s=0.2),
                ),
            )
            for first_event_s in (5.0, 0.2)
        )
        with pytest.raises(ProviderTimeout):
            await ask(hasty, call_to("slow:7b"))
        fake.loaded.clear()
        assert (await ask(patient, call_to("slow:7b"))).message.text
        await hasty.aclose()
        await patient.aclose()


async def test_a_model_that_is_not_there_is_refused(provider: Provider) -> None:
    with pytest.raises(RequestRefused):
        await collect(provider, call_to("gone:1b"))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:11500", "http://127.0.0.1:11500/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),  # noqa: S104 - a setting of theirs
        (":8080", "http://127.0.0.1:8080/v1"),
        ("[::]:11434", "http://[::1]:11434/v1"),
        ("gpu.example.org", "http://gpu.example.org:11434/v1"),
        ("https://gpu.example.org/", "https://gpu.example.org:443/v1"),
        ("http://gpu.example.org", "http://gpu.example.org:80/v1"),
        ("gpu:99999", "http://gpu:11434/v1"),
        ("gpu:port", "http://gpu:11434/v1"),
        ("::1", "http://127.0.0.1:11434/v1"),
        ("http://[::1", "http://127.0.0.1:11434/v1"),
    ],
)
def test_its_address_is_read_as_its_own_programs_do(host: str, address: str) -> None:
    assert ollama.address_of(host) == address

"""Which models a server has: every list is read as its server writes it."""

from collections.abc import AsyncIterator, Iterator

import pytest
from aiohttp import web

from agents.core.errors import AuthenticationFailed, Overloaded, ProviderError, StreamBroken
from agents.core.protocols import ListsModels, ModelInfo, Provider
from agents.providers import Endpoint, open_provider
from agents.providers.listing import as_run_by_llama_cpp, chats, openai_models
from tests.agents.providers.conftest import KEY
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.openai import FakeOpenAI
from tests.fakes.script import Refusal
from tests.fakes.server import FakeServer


async def listed(provider: Provider) -> tuple[ModelInfo, ...]:
    """Return a provider's models."""
    assert isinstance(provider, ListsModels)
    return await provider.list_models()


async def test_models_are_listed_in_the_servers_order(provider: Provider, fake: FakeServer) -> None:
    fake.models = [{"id": name} for name in ("b-1", "a-2", "c-3", "a-1", "d")]
    assert [info.name for info in await listed(provider)] == ["b-1", "a-2", "c-3", "a-1", "d"]
    assert KEY in fake.keys[-1]


async def test_a_server_without_models_lists_none(provider: Provider) -> None:
    assert await listed(provider) == ()


@pytest.mark.parametrize(
    ("status", "expected"), [(401, AuthenticationFailed), (503, Overloaded), (529, Overloaded)]
)
async def test_a_refused_list_is_translated(
    provider: Provider, fake: FakeServer, status: int, expected: type[ProviderError]
) -> None:
    fake.list_refusal = Refusal(status, fake.wire.refusal(status, f"No {KEY}."))
    with pytest.raises(expected) as caught:
        await listed(provider)
    assert KEY not in str(caught.value)


async def test_a_page_that_is_no_list_is_no_answer(provider: Provider, fake: FakeServer) -> None:
    fake.list_refusal = Refusal(200, "<html>Sign in</html>")
    with pytest.raises(StreamBroken):
        await listed(provider)


# --- Anthropic ---


@pytest.fixture
def anthropic() -> Iterator[FakeAnthropic]:
    """Serve Anthropic's wire alone."""
    with FakeAnthropic() as server:
        yield server


@pytest.fixture
async def claude(anthropic: FakeAnthropic) -> AsyncIterator[Provider]:
    """Open Anthropic's adapter alone."""
    endpoint = Endpoint(api_key=KEY, base_url=anthropic.base_url, may_reach_private=True)
    opened = open_provider("anthropic", endpoint)
    yield opened
    await opened.aclose()


async def test_pages_are_read_to_the_end(claude: Provider, anthropic: FakeAnthropic) -> None:
    anthropic.models = [{"id": f"claude-{number}"} for number in range(5)]
    assert len(await listed(claude)) == 5
    assert anthropic.listed == 3


async def test_what_anthropic_says_of_its_limits_is_kept(
    claude: Provider, anthropic: FakeAnthropic
) -> None:
    anthropic.models = [
        {"id": "claude-opus-5", "max_input_tokens": 1_000_000, "max_tokens": 128_000},
        {"id": "claude-old", "max_input_tokens": None},
    ]
    assert await listed(claude) == (
        ModelInfo("claude-opus-5", 1_000_000, 128_000),
        ModelInfo("claude-old"),
    )


# --- OpenAI and its kin ---


def test_each_servers_own_fields_are_read() -> None:
    body = {
        "data": [
            {"id": "Qwen/Qwen3-8B", "owned_by": "vllm", "max_model_len": 16_384},
            {"id": "gpt-oss-120b", "context_window": 131_072, "max_completion_tokens": 65_536},
            {
                "id": "x/y",
                "context_length": 200_000,
                "top_provider": {"max_completion_tokens": 8_000},
                "supported_parameters": ["tools", "temperature"],
            },
            {"id": "x/z", "context_length": 8_000, "supported_parameters": ["temperature"]},
            {
                "id": "mistral-small",
                "max_context_length": 128_000,
                "capabilities": {"function_calling": True},
            },
            {"id": "models/gemini-3-flash"},
        ]
    }
    assert openai_models(body) == (
        ModelInfo("Qwen/Qwen3-8B", 16_384),
        ModelInfo("gpt-oss-120b", 131_072, 65_536),
        ModelInfo("x/y", 200_000, 8_000, True),
        ModelInfo("x/z", 8_000, None, False),
        ModelInfo("mistral-small", 128_000, None, True),
        ModelInfo("models/gemini-3-flash"),
    )


@pytest.mark.parametrize("body", [None, [], {}, {"data": None}, {"data": [None, 7, {}]}, "models"])
def test_odd_lists_are_empty(body: object) -> None:
    assert openai_models(body) == ()


@pytest.mark.parametrize(
    "name",
    [
        "text-embedding-3-large",
        "models/gemini-embedding-001",
        "whisper-large-v3",
        "gpt-4o-mini-tts",
        "tts-1",
        "dall-e-3",
        "omni-moderation-latest",
        "gpt-4o-transcribe",
        "gpt-realtime",
        "gpt-image-1",
        "models/imagen-4.0-generate-001",
        "models/veo-3.0-generate-001",
        "meta-llama/llama-prompt-guard-2-22m",
        "davinci-002",
    ],
)
def test_models_that_do_not_chat_are_left_out(name: str) -> None:
    assert not chats(name)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5",
        "o4-mini",
        "models/gemini-2.5-flash",
        "llama-3.3-70b-versatile",
        "openai/gpt-oss-120b",
        "qwen3:8b",
        "claude-opus-4-7",
        "deepseek-chat",
        "mistral-7b-instruct",
        "gpt-4o-2024-11-20",
    ],
)
def test_models_that_chat_are_kept(name: str) -> None:
    assert chats(name)


class FakeLlamaCpp(FakeOpenAI):
    """llama.cpp's server, with the window that it runs with beside its list."""

    def _route(self, router: web.UrlDispatcher) -> None:
        router.add_get("/props", self._props)

    async def _props(self, _: web.Request) -> web.Response:
        return web.json_response({"default_generation_settings": {"n_ctx": 16_384}})


async def test_llama_cpp_is_asked_for_its_real_window() -> None:
    with FakeLlamaCpp() as fake:
        fake.models = [{"id": "m.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]
        opened = open_provider("openai", Endpoint(base_url=fake.base_url, may_reach_private=True))
        assert await listed(opened) == (ModelInfo("m.gguf", 16_384),)
        await opened.aclose()


async def test_a_server_that_is_only_like_another_is_listed_all_the_same() -> None:
    with FakeOpenAI() as fake:
        fake.models = [{"id": "a", "owned_by": "llamacpp"}, {"id": "b", "owned_by": "library"}]
        opened = open_provider("openai", Endpoint(base_url=fake.base_url, may_reach_private=True))
        assert await listed(opened) == (ModelInfo("a"), ModelInfo("b"))
        await opened.aclose()


def test_llama_cpp_runs_with_what_its_props_say() -> None:
    props = {
        "default_generation_settings": {"n_ctx": 8_192},
        "chat_template_caps": {"supports_tools": False, "supports_tool_calls": False},
    }
    assert as_run_by_llama_cpp(ModelInfo("m"), props) == ModelInfo("m", 8_192, None, False)
    assert as_run_by_llama_cpp(ModelInfo("m"), None) == ModelInfo("m")
    seeing = as_run_by_llama_cpp(ModelInfo("m"), {"modalities": {"vision": True}})
    assert seeing.supports_images is True


def test_lists_say_which_models_see() -> None:
    body = {
        "data": [
            {"id": "a", "architecture": {"input_modalities": ["text", "image"]}},
            {"id": "b", "architecture": {"input_modalities": ["text"]}},
            {"id": "c", "capabilities": {"vision": True}},
            {"id": "d"},
        ]
    }
    found = {info.name: info.supports_images for info in openai_models(body)}
    assert found == {"a": True, "b": False, "c": True, "d": None}

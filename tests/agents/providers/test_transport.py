"""Both SDKs connect through the guard: every attempt is noted, none leaves this machine."""

import zlib
from collections.abc import AsyncIterator, Callable

import pytest

from agents.core.errors import AddressNotAllowed, ProviderError, RequestRefused, StreamBroken
from agents.core.protocols import ListsModels, Provider
from agents.providers import Endpoint, open_provider, transport
from tests.agents.net.world import PUBLIC, World, make_world
from tests.agents.providers.calls import ask, make_call
from tests.agents.providers.conftest import KEY
from tests.fakes.script import Refusal, SendRaw, answer
from tests.fakes.server import FakeServer

Opens = Callable[..., Provider]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, fake: FakeServer) -> World:
    """Let the fake stand where an attempt is let through."""
    made = make_world(monkeypatch)
    made.server = ("127.0.0.1", fake.port)
    return made


@pytest.fixture
async def opens(kind: str) -> AsyncIterator[Opens]:
    """Open adapters, and close them at the end."""
    opened: list[Provider] = []

    def open_at(
        base_url: str, *, may_reach_private: bool = False, private_hosts: tuple[str, ...] = ()
    ) -> Provider:
        endpoint = Endpoint(
            api_key=KEY,
            base_url=base_url,
            may_reach_private=may_reach_private,
            private_hosts=frozenset(private_hosts),
        )
        opened.append(open_provider(kind, endpoint))
        return opened[-1]

    yield open_at
    for provider in opened:
        await provider.aclose()


async def test_an_account_asks_a_public_server(
    world: World, opens: Opens, fake: FakeServer
) -> None:
    world.names["models.example"] = [[PUBLIC]]
    fake.play("Hello.")

    assert (await ask(opens("http://models.example/v1"))).message.text == "Hello."
    assert world.attempts == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:11434",
        "localhost",
        "0x7f.1",
        "[::1]",
        "[::ffff:7f00:1]",
        "10.0.0.1",
        "169.254.169.254",
        "inside.example",
    ],
)
async def test_a_private_address_is_refused_with_words(
    world: World, opens: Opens, host: str
) -> None:
    world.names |= {"localhost": [["127.0.0.1"]], "inside.example": [["10.0.0.1", "fd00::1"]]}
    provider = opens(f"http://{host}/v1")

    for asked in (ask(provider), provider.complete(make_call())):
        with pytest.raises(AddressNotAllowed, match="QANOT_PRIVATE_HOSTS may allow it"):
            await asked

    assert world.attempts == []


async def test_an_odd_address_is_refused_without_an_attempt(world: World, opens: Opens) -> None:
    for address in (
        "http://2130706433/v1",
        "http://0177.0.0.1/v1",
        "unix:///run/docker.sock",
        "http://a@10.0.0.1/v1",
    ):
        with pytest.raises(RequestRefused):
            await ask(opens(address))

    assert world.attempts == []


async def test_a_name_that_flips_after_it_was_checked_reaches_nothing(
    world: World, opens: Opens, fake: FakeServer
) -> None:
    world.names["flips.example"] = [[PUBLIC], ["169.254.169.254"]]
    fake.play("Hello.")

    await ask(opens("http://flips.example/v1"))
    with pytest.raises(AddressNotAllowed):
        await ask(opens("http://flips.example/v1"))

    assert world.attempts == [(PUBLIC, 80)]


async def test_superusers_accounts_and_listed_hosts_are_asked(
    world: World, opens: Opens, fake: FakeServer
) -> None:
    world.names["gpu.lan"] = [["192.168.0.9"]]
    fake.play("One.", "Two.")

    await ask(opens("http://gpu.lan:8080/v1", may_reach_private=True))
    await ask(opens("http://gpu.lan:8080/v1", private_hosts=("gpu.lan",)))

    assert world.attempts == [("192.168.0.9", 8080)] * 2


async def test_a_conversation_keeps_its_connection(
    world: World, opens: Opens, fake: FakeServer
) -> None:
    world.names["models.example"] = [[PUBLIC]]
    fake.play("One.", "Two.")
    provider = opens("http://models.example/v1")

    await ask(provider)
    await ask(provider)

    assert len(world.attempts) == 1


async def test_proxies_of_the_environment_are_not_asked(
    world: World, opens: Opens, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:3128")
    world.names["models.example"] = [[PUBLIC]]
    fake.play("Hello.")

    await ask(opens("http://models.example/v1"))

    assert world.attempts == [(PUBLIC, 80)]


@pytest.mark.parametrize("is_packed", [False, True])
async def test_of_an_endless_answer_no_more_is_read_than_agreed(
    world: World,
    opens: Opens,
    fake: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
    is_packed: bool,
) -> None:
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 2**20)
    monkeypatch.setattr(transport, "MAX_LIST_BYTES", 2**20)
    world.names["models.example"] = [[PUBLIC]]
    provider = opens("http://models.example/v1")
    endless = "x" * (2**20 + 1)
    packed = {"Content-Encoding": "deflate"} if is_packed else {}
    body = zlib.compress(endless.encode()).decode("latin-1") if is_packed else endless
    assert isinstance(provider, ListsModels)
    for status in (200, 500):
        fake.list_refusal = Refusal(status, body, headers=packed, charset="latin-1")
        with pytest.raises(StreamBroken, match="too long"):
            await provider.list_models()
        fake.play(*[fake.list_refusal] * 2)
        with pytest.raises(StreamBroken):
            await ask(provider)
        with pytest.raises(StreamBroken):
            await provider.complete(make_call())


async def test_an_endless_stream_ends(
    world: World, opens: Opens, fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 2**20)
    world.names["models.example"] = [[PUBLIC]]
    fake.play(answer(SendRaw(b": more\n\n" * 2**18)))
    with pytest.raises(StreamBroken, match="too long"):
        await ask(opens("http://models.example/v1"))


def test_a_refused_address_takes_the_account_out_of_use() -> None:
    assert not AddressNotAllowed("private").retryable
    assert issubclass(AddressNotAllowed, ProviderError)

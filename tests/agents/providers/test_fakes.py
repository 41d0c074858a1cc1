"""The fakes themselves: what tests and benchmarks rely on."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from urllib.request import urlopen

import pytest

from agents.core.errors import RateLimited, RequestRefused, StreamBroken
from agents.core.events import Done, TextDelta, ToolCallBegan
from agents.core.messages import ToolCall, ToolResult, UserMessage
from agents.providers import Endpoint, open_provider
from tests.agents.providers.calls import ask, collect, make_call
from tests.agents.providers.conftest import FAKES, KEY, LIMITS
from tests.fakes.script import stamped
from tests.fakes.scripted import Pause, ScriptedProvider, reply
from tests.fakes.server import Body


def test_a_leftover_script_fails(kind: str) -> None:
    with FAKES[kind]() as fake:
        fake.play("Never asked for.")
        with pytest.raises(AssertionError, match="1 scripted"):
            fake.assert_done()


async def test_a_surprise_request_fails(kind: str) -> None:
    with FAKES[kind]() as fake:
        provider = open_provider(
            kind,
            Endpoint(api_key=KEY, base_url=fake.base_url, limits=LIMITS, may_reach_private=True),
        )
        with pytest.raises(RequestRefused):
            await ask(provider)
        await provider.aclose()
        with pytest.raises(AssertionError, match="no script expected"):
            fake.assert_done()


async def test_pieces_carry_the_time_of_their_sending(kind: str) -> None:
    with FAKES[kind]() as fake:
        fake.play(stamped(5, 0.01))
        provider = open_provider(
            kind,
            Endpoint(api_key=KEY, base_url=fake.base_url, limits=LIMITS, may_reach_private=True),
        )
        before_ns = time.monotonic_ns()
        text = (await ask(provider)).message.text
        await provider.aclose()
    times = [int(number) for number in re.findall(r"t=(\d+) ", text)]
    assert len(times) == 5
    moments = [before_ns, *times, time.monotonic_ns()]
    assert moments == sorted(moments)
    assert times[-1] - times[0] >= 0.035 * 10**9


@pytest.fixture
def address(kind: str) -> Iterator[str]:
    """Run a fake as a process of its own."""
    module = FAKES[kind].__module__
    process = subprocess.Popen(
        [sys.executable, "-m", module, "--chunks", "3", "--interval-ms", "1"],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.terminate()
    assert process.returncode == 0


def recorded(address: str) -> list[Body]:
    """Return what a fake in another process recorded."""
    with urlopen(f"{address}/recorded") as shown:  # noqa: S310 (loopback)
        requests: list[Body] = json.load(shown)
    return requests


async def test_as_a_process_it_answers_by_the_text(kind: str, address: str) -> None:
    provider = open_provider(
        kind, Endpoint(api_key=KEY, base_url=f"{address}/v1", limits=LIMITS, may_reach_private=True)
    )
    assert len(await collect(provider)) == 4
    assert len(await collect(provider, make_call("Say chunks=7 interval_ms=0, please."))) == 8
    wish = make_call('Now [[tool remember_fact {"fact": "tea"}]]')
    called = await ask(provider, wish)
    assert called.message.tool_calls[0].arguments == {"fact": "tea"}
    result = ToolResult(called.message.tool_calls[0].id, "remember_fact", "Noted.")
    after = make_call(*wish.messages, called.message, result)
    assert not (await ask(provider, after)).message.tool_calls
    await provider.aclose()
    requests = await asyncio.to_thread(recorded, address)
    assert len(requests) == 4
    assert KEY not in json.dumps(requests)


async def test_a_scripted_provider_plays_its_scripts() -> None:
    call = ToolCall("a", "weather", {"city": "Xiva"})
    provider = ScriptedProvider(
        "Hello you", RateLimited("slow"), reply(call), [TextDelta("Well"), StreamBroken("cut")]
    )
    assert [type(event) for event in await collect(provider)] == [TextDelta, TextDelta, Done]
    with pytest.raises(RateLimited):
        await provider.complete(make_call())
    assert (await collect(provider))[0] == ToolCallBegan("weather")
    with pytest.raises(StreamBroken):
        await collect(provider)
    provider.assert_done()
    assert provider.was_plain == [False, True, False, False]
    assert provider.calls[0].messages == (UserMessage("Hello."),)
    assert provider.closed_early == 0
    with pytest.raises(AssertionError):
        await collect(provider)


async def test_a_scripted_provider_notes_who_stops_listening() -> None:
    provider = ScriptedProvider([TextDelta("Well"), Pause(), Done(reply("Well"))])
    stream = provider.stream(make_call())
    assert await anext(stream) == TextDelta("Well")
    await stream.aclose()
    assert provider.closed_early == 1

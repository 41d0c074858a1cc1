"""A program talks to an agent over a real network connection, server and worker."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from agents.core.messages import JsonObject
from agents.models import ChainLink, ProviderAccount
from sessions.models import TranscriptEntry, Turn
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.script import Say, answer
from tests.sessions.channels import rest_platform, rest_rows
from tests.sessions.channels.rest_platform import Web
from tests.sessions.channels.rest_rows import Client

pytestmark = pytest.mark.django_db(transaction=True)

TIMEOUT_S = 30.0
WORDS = "".join(f"{number} " for number in range(40))


@dataclass
class Scene:
    """A client whose agent has a fake model, and the processes that serve it."""

    client: Client
    fake: FakeAnthropic
    web: Web
    http: httpx.Client

    def post(self, text: str, key: str) -> JsonObject:
        response = self.http.post(
            f"/api/v1/agents/{self.client.agent.public_id}/messages",
            json={"text": text},
            headers={"Idempotency-Key": key},
        )
        response.raise_for_status()
        turn: JsonObject = response.json()["turn"]
        return turn

    def events(self, turn: JsonObject, last: str = "") -> Iterator[tuple[str, JsonObject]]:
        """Yield what an ordinary reader of server-sent events would."""
        headers = {"Last-Event-ID": last} if last else {}
        with self.http.stream("GET", f"/api/v1/turns/{turn['id']}/events", headers=headers) as it:
            event_id = ""
            for line in it.iter_lines():
                if line.startswith("id: "):
                    event_id = line.removeprefix("id: ")
                elif line.startswith("data: "):
                    yield event_id, json.loads(line.removeprefix("data: "))


def shown(frames: list[JsonObject]) -> str:
    """Return the text that a reader of docs/events.md ends up with."""
    text = ""
    for frame in frames:
        if frame["type"] == "snapshot":
            text = str(frame["text"])
        elif frame["type"] == "text":
            text += str(frame["text"])
    return text


@pytest.fixture
def sardor() -> Client:
    return rest_rows.make_client("Sardor")


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    """Serve for all tests here: a process takes seconds to start."""
    with rest_platform.web() as server:
        yield server


@pytest.fixture
def scene(sardor: Client, fake: FakeAnthropic, web: Web) -> Iterator[Scene]:
    account = ProviderAccount.objects.create(
        team=sardor.team,
        name="Fake",
        kind=ProviderAccount.Kind.ANTHROPIC,
        base_url=fake.base_url,
        may_reach_private=True,
        key_reference="env:FAKE_KEY",
    )
    ChainLink.objects.create(agent=sardor.agent, account=account, model="claude-sonnet-5-5")
    with (
        # It ends before the tables are emptied: its sweep would be in the way.
        rest_platform.worker(FAKE_KEY="sk-fake"),
        httpx.Client(
            base_url=web.address, headers=sardor.headers, timeout=TIMEOUT_S, trust_env=False
        ) as http,
    ):
        yield Scene(sardor, fake, web, http)
    fake.assert_done()


def test_a_message_is_answered_while_one_listens(scene: Scene) -> None:
    scene.fake.play(answer(Say(WORDS, chunks=40, interval_s=0.02)))

    turn = scene.post("Count.", "count")
    events = list(scene.events(turn))
    again = scene.post("Count.", "count")
    over = scene.http.get(f"/api/v1/turns/{turn['id']}", params={"wait": 10}).json()
    page = scene.http.get(f"/api/v1/conversations/{turn['conversation']}/transcript").json()

    frames = [frame for _, frame in events]
    assert frames[-1]["type"] == "turn.ended"
    assert "".join(str(f["text"]) for f in frames if f["type"] == "text") == WORDS
    assert [frame["n"] for frame in frames] == list(range(1, len(frames) + 1))
    assert again["id"] == turn["id"]
    assert over["answer"].split() == WORDS.split()
    assert over["usage"]["output_tokens"] > 0
    assert [item["role"] for item in page["items"]] == ["user", "assistant"]
    assert Turn.objects.count() == 1


def test_a_web_server_that_dies_loses_and_repeats_nothing(scene: Scene) -> None:
    scene.fake.play(answer(Say(WORDS, chunks=40, interval_s=0.05)))
    turn = scene.post("Count.", "count")

    seen: list[tuple[str, JsonObject]] = []
    for event in scene.events(turn):
        seen.append(event)
        if len(seen) == 5:
            scene.web.kill()
            break
    scene.web.start()
    seen += scene.events(turn, last=seen[-1][0])

    frames = [frame for _, frame in seen]
    # The turn may have ended meanwhile: then the whole text comes from the transcript.
    assert shown(frames).split() == WORDS.split()
    assert [frame["n"] for frame in frames] == list(range(1, len(frames) + 1))
    assert frames[-1]["type"] == "turn.ended"


def test_a_stopped_turn_keeps_what_was_said(scene: Scene) -> None:
    scene.fake.play(answer(Say("word ", chunks=None, interval_s=0.02)))
    turn = scene.post("Talk for ever.", "talk")

    for _, frame in scene.events(turn):
        if frame["type"] == "text":
            response = scene.http.post(f"/api/v1/turns/{turn['id']}/stop")
            assert response.status_code in (200, 202)
    over = scene.http.get(f"/api/v1/turns/{turn['id']}", params={"wait": 10}).json()

    assert over["state"] == "stopped"
    assert over["is_partial"] is True
    assert over["answer"].startswith("word")
    assert TranscriptEntry.objects.filter(is_partial=True).count() == 1

"""The REST API: messages, turns, conversations, and what it says when it refuses."""

import asyncio
import uuid
from typing import Any
from unittest import mock

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.test import AsyncClient
from django.utils import timezone

from agents.models import Agent, ApiToken, AuditEvent, Person
from agents.services import tokens
from memory.models import WalEntry
from sessions.inbox import MAX_CHARACTERS
from sessions.models import ChatSession, InboundMessage, Turn
from tests.sessions.channels import rest_rows
from tests.sessions.channels.rest_rows import Client

pytestmark = pytest.mark.django_db(transaction=True)

PROBLEM = "application/problem+json"


@pytest.fixture
def sardor() -> Client:
    return rest_rows.make_client("Sardor")


@pytest.fixture
def stranger() -> Client:
    return rest_rows.make_client("Stranger")


# Test responses are Any: Django's test client adds `json` and the like to them.
async def post(
    http: AsyncClient, client: Client, text: object = "Hello", *, key: str = "", **body: object
) -> Any:
    return await http.post(
        f"/api/v1/agents/{client.agent.public_id}/messages",
        {"text": text, **body},
        content_type="application/json",
        headers=client.headers | ({"Idempotency-Key": key} if key else {}),
    )


def assert_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == PROBLEM
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["code"] == code
    assert all(body[name] for name in ("type", "title", "detail", "instance"))
    return body


async def test_agents_are_those_of_the_team_that_live(
    async_client: AsyncClient, sardor: Client, stranger: Client
) -> None:
    await sync_to_async(Agent.objects.create)(
        team=sardor.team, name="Old", slug="old", archived_at=timezone.now()
    )

    response = await async_client.get("/api/v1/agents", headers=sardor.headers)

    assert response.status_code == 200
    assert [item["id"] for item in response.json()["items"]] == [str(sardor.agent.public_id)]
    assert response["Cache-Control"] == "no-store"


async def test_a_message_becomes_a_turn_of_ones_own_conversation(
    async_client: AsyncClient, sardor: Client
) -> None:
    response = await post(async_client, sardor, thread="work")

    assert response.status_code == 202
    turn = response.json()["turn"]
    assert response["Location"] == f"/api/v1/turns/{turn['id']}"
    assert turn["state"] == "queued"
    assert turn["answer"] is None
    session = await ChatSession.objects.select_related("agent", "account").aget()
    assert str(session.public_id) == turn["conversation"]
    assert session.key == (
        f"agent:{sardor.agent.public_id}:rest:direct:{sardor.person.public_id}:work"
    )
    assert await sync_to_async(lambda: session.person)() == sardor.person


async def test_each_message_without_a_key_is_another_one(
    async_client: AsyncClient, sardor: Client
) -> None:
    first, second = [await post(async_client, sardor) for _ in range(2)]

    assert first.json()["turn"]["id"] != second.json()["turn"]["id"]
    assert first.json()["turn"]["conversation"] == second.json()["turn"]["conversation"]


async def test_the_same_key_and_body_is_the_same_message(
    async_client: AsyncClient, sardor: Client
) -> None:
    first = await post(async_client, sardor, key="one")
    again = await post(async_client, sardor, key="one")

    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["turn"]["id"] == first.json()["turn"]["id"]
    assert again["Location"] == first["Location"]
    assert await InboundMessage.objects.acount() == 1


@pytest.mark.parametrize("changed", [{"text": "Bye"}, {"thread": "other"}])
async def test_the_same_key_with_another_body_is_refused(
    async_client: AsyncClient, sardor: Client, changed: dict[str, str]
) -> None:
    await post(async_client, sardor, key="one")

    response = await post(async_client, sardor, key="one", **changed)

    assert_problem(response, 422, "key_reused")
    assert await InboundMessage.objects.acount() == 1
    assert await ChatSession.objects.acount() == 1


async def test_a_key_belongs_to_its_token(async_client: AsyncClient, sardor: Client) -> None:
    other = await sync_to_async(rest_rows.make_client)("Sarvar", sardor.team)

    first = await post(async_client, sardor, key="one")
    second = await post(async_client, other, text="Mine", key="one")

    assert second.status_code == 202
    assert second.json()["turn"]["id"] != first.json()["turn"]["id"]


async def test_twenty_posts_at_once_make_one_turn(
    async_client: AsyncClient, sardor: Client
) -> None:
    responses = await asyncio.gather(*(post(async_client, sardor, key="one") for _ in range(20)))

    assert sorted(response.status_code for response in responses) == [200] * 19 + [202]
    assert len({response.json()["turn"]["id"] for response in responses}) == 1
    assert await Turn.objects.acount() == 1
    assert await InboundMessage.objects.acount() == 1


@pytest.mark.parametrize("text", ["", "  \n\t ", "\x00"])
async def test_a_message_of_nothing_is_refused(
    async_client: AsyncClient, sardor: Client, text: str
) -> None:
    assert_problem(await post(async_client, sardor, text), 422, "empty_message")
    assert await Turn.objects.acount() == 0
    assert await ChatSession.objects.acount() == 0


async def test_a_message_that_is_too_long_is_refused(
    async_client: AsyncClient, sardor: Client
) -> None:
    body = assert_problem(
        await post(async_client, sardor, "x" * (MAX_CHARACTERS + 1)), 422, "message_too_long"
    )

    assert str(MAX_CHARACTERS) in body["detail"]


async def test_invalid_fields_are_listed(async_client: AsyncClient, sardor: Client) -> None:
    response = await post(
        async_client,
        sardor,
        text=5,
        thread="a:b",
        more=1,
        key="with space",
    )

    body = assert_problem(response, 422, "invalid")
    assert {error["field"] for error in body["errors"]} == {
        "body.text",
        "body.thread",
        "body.more",
        "header.Idempotency-Key",
    }


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"text": ', b"[" * 100_000])
async def test_a_body_that_is_no_json_is_refused(
    async_client: AsyncClient, sardor: Client, body: bytes
) -> None:
    response = await async_client.post(
        f"/api/v1/agents/{sardor.agent.public_id}/messages",
        body,
        content_type="application/json",
        headers=sardor.headers,
    )

    assert_problem(response, 400, "malformed_body")


async def test_a_body_that_is_too_large_is_refused(
    async_client: AsyncClient, sardor: Client
) -> None:
    response = await post(async_client, sardor, "x" * 3_000_000)

    assert_problem(response, 413, "body_too_large")


@pytest.mark.parametrize("sent", ["", "Bearer", "Bearer qanot_wrong", "Basic cXFxOnFxcQ=="])
async def test_without_a_good_token_nothing_is_shown(
    async_client: AsyncClient, sardor: Client, sent: str
) -> None:
    headers = {"Authorization": sent} if sent else {}

    response = await async_client.get("/api/v1/agents", headers=headers)

    assert_problem(response, 401, "unauthorized")
    assert response["WWW-Authenticate"].startswith('Bearer realm="qanot"')


async def test_a_token_without_the_scope_is_refused(
    async_client: AsyncClient, sardor: Client
) -> None:
    _, secret = await sync_to_async(tokens.issue)(
        team=sardor.team, person=sardor.person, name="none", scopes=[]
    )

    response = await async_client.get(
        "/api/v1/agents", headers={"Authorization": f"Bearer {secret}"}
    )

    assert_problem(response, 403, "scope_missing")


async def test_a_revoked_token_is_refused(async_client: AsyncClient, sardor: Client) -> None:
    await ApiToken.objects.aupdate(revoked_at=timezone.now())

    response = await async_client.get("/api/v1/agents", headers=sardor.headers)

    assert_problem(response, 401, "unauthorized")


@pytest.fixture
async def foreign(async_client: AsyncClient, stranger: Client) -> dict[str, str]:
    """Return a stranger's ids by kind."""
    posted = await post(async_client, stranger)
    turn = posted.json()["turn"]
    return {
        "agent": str(stranger.agent.public_id),
        "turn": turn["id"],
        "conversation": turn["conversation"],
    }


BODY = {"data": {"text": "x"}, "content_type": "application/json"}
ADDRESSES = [
    ("post", "agent", "/api/v1/agents/{}/messages"),
    ("get", "turn", "/api/v1/turns/{}"),
    ("get", "turn", "/api/v1/turns/{}?wait=1"),
    ("post", "turn", "/api/v1/turns/{}/stop"),
    ("get", "turn", "/api/v1/turns/{}/events"),
    ("get", "conversation", "/api/v1/conversations/{}/transcript"),
    ("get", "conversation", "/api/v1/conversations?before={}"),
]


@pytest.mark.parametrize(("method", "kind", "address"), ADDRESSES)
async def test_foreign_and_unknown_ids_look_the_same(
    async_client: AsyncClient,
    sardor: Client,
    foreign: dict[str, str],
    method: str,
    kind: str,
    address: str,
) -> None:
    bodies = []
    for public_id in (foreign[kind], str(uuid.uuid4())):
        response = await getattr(async_client, method)(
            address.format(public_id),
            **(
                {"data": {"text": "x"}, "content_type": "application/json"}
                if method == "post"
                else {}
            ),
            headers=sardor.headers,
        )
        bodies.append(assert_problem(response, 404, "not_found"))

    assert bodies[0]["detail"] == bodies[1]["detail"]
    assert await Turn.objects.filter(stop_requested_at__isnull=False).acount() == 0
    assert await Turn.objects.acount() == 1


async def test_a_foreign_turn_is_no_edge_of_ones_own_transcript(
    async_client: AsyncClient, sardor: Client, foreign: dict[str, str]
) -> None:
    own = (await post(async_client, sardor)).json()["turn"]
    other = (await post(async_client, sardor, thread="other")).json()["turn"]
    address = f"/api/v1/conversations/{own['conversation']}/transcript?before="

    for turn in (foreign["turn"], other["id"], str(uuid.uuid4())):
        response = await async_client.get(f"{address}{turn}", headers=sardor.headers)
        assert_problem(response, 404, "not_found")

    # Of one's own other conversations there is nothing to tell.
    told = AuditEvent.objects.filter(action="api.foreign_id").values_list("subject", flat=True)
    assert [subject async for subject in told] == [f"turn:{foreign['turn']}"]


@pytest.mark.parametrize(("method", "kind", "address"), ADDRESSES[1:6])
async def test_another_person_of_the_team_is_foreign_too(
    async_client: AsyncClient,
    stranger: Client,
    foreign: dict[str, str],
    method: str,
    kind: str,
    address: str,
) -> None:
    colleague = await sync_to_async(rest_rows.make_client)("Colleague", stranger.team)

    response = await getattr(async_client, method)(
        address.format(foreign[kind]), headers=colleague.headers
    )

    assert_problem(response, 404, "not_found")


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("get", "/api/v1/turns/not-an-id"),
        ("get", "/api/v1/nowhere"),
        ("post", "/api/v1/nowhere"),
        ("get", "/api/v1/"),
    ],
)
async def test_an_unknown_address_is_a_problem_too(
    async_client: AsyncClient, sardor: Client, method: str, address: str
) -> None:
    response = await getattr(async_client, method)(address, headers=sardor.headers)

    assert_problem(response, 404, "not_found")


async def test_a_method_that_an_address_does_not_know(
    async_client: AsyncClient, sardor: Client
) -> None:
    response = await async_client.delete("/api/v1/agents", headers=sardor.headers)

    assert_problem(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET"


async def test_a_turn_tells_its_answer_and_what_it_used(
    async_client: AsyncClient, sardor: Client
) -> None:
    turn_id = (await post(async_client, sardor)).json()["turn"]["id"]
    turn = await sync_to_async(rest_rows.start)(turn_id)
    await sync_to_async(rest_rows.end)(turn, "Let me see.", "**Hello**")

    response = await async_client.get(f"/api/v1/turns/{turn_id}", headers=sardor.headers)

    body = response.json()
    assert response.status_code == 200
    assert body["state"] == "answered"
    assert body["is_over"] is True
    assert body["answer"] == "Let me see.\n\n**Hello**"
    assert body["notice"] is None
    assert body["committed_at"].endswith("Z")
    assert body["usage"]["calls"] == 1
    assert body["usage"]["input_tokens"] == 10
    assert body["usage"]["cost_usd"] == "0.00012000"


async def test_a_turn_that_the_platform_ended_says_why(
    async_client: AsyncClient, sardor: Client
) -> None:
    turn_id = (await post(async_client, sardor)).json()["turn"]["id"]
    turn = await sync_to_async(rest_rows.start)(turn_id)
    await sync_to_async(rest_rows.end)(
        turn, state="failed", notice={"v": 1, "code": "rate_limit", "values": {}}
    )

    body = (await async_client.get(f"/api/v1/turns/{turn_id}", headers=sardor.headers)).json()

    assert body["state"] == "failed"
    assert body["answer"] is None
    assert body["notice"]["code"] == "rate_limit"
    assert body["notice"]["text"]


async def test_waiting_returns_at_the_end_of_the_turn(
    async_client: AsyncClient, sardor: Client
) -> None:
    turn_id = (await post(async_client, sardor)).json()["turn"]["id"]
    turn = await sync_to_async(rest_rows.start)(turn_id)
    waiting = asyncio.create_task(
        async_client.get(f"/api/v1/turns/{turn_id}?wait=30", headers=sardor.headers)
    )
    await asyncio.sleep(0)
    await sync_to_async(rest_rows.end)(turn, "Hello")

    async with asyncio.timeout(10):
        response = await waiting

    assert response.json()["answer"] == "Hello"


async def test_waiting_ends_with_its_time(async_client: AsyncClient, sardor: Client) -> None:
    turn_id = (await post(async_client, sardor)).json()["turn"]["id"]

    async with asyncio.timeout(5):
        response = await async_client.get(
            f"/api/v1/turns/{turn_id}?wait=0.2", headers=sardor.headers
        )

    assert response.json()["state"] == "queued"


async def test_stopping_is_asked_once_and_never_undone(
    async_client: AsyncClient, sardor: Client
) -> None:
    turn_id = (await post(async_client, sardor)).json()["turn"]["id"]
    address = f"/api/v1/turns/{turn_id}/stop"

    first = await async_client.post(address, headers=sardor.headers)
    again = await async_client.post(address, headers=sardor.headers)

    assert first.status_code == 202
    assert first.json()["stop_requested_at"] is not None
    assert again.json()["stop_requested_at"] == first.json()["stop_requested_at"]


async def test_a_turn_that_is_over_is_not_stopped(
    async_client: AsyncClient, sardor: Client
) -> None:
    turn_id = (await post(async_client, sardor)).json()["turn"]["id"]
    turn = await sync_to_async(rest_rows.start)(turn_id)
    await sync_to_async(rest_rows.end)(turn, "Hello")

    response = await async_client.post(f"/api/v1/turns/{turn_id}/stop", headers=sardor.headers)

    assert response.status_code == 200
    assert response.json()["stop_requested_at"] is None


async def test_a_transcript_comes_in_pages_of_whole_turns(
    async_client: AsyncClient, sardor: Client
) -> None:
    for number in range(3):
        posted = (await post(async_client, sardor, f"Question {number}")).json()["turn"]
        turn = await sync_to_async(rest_rows.start)(posted["id"])
        await sync_to_async(rest_rows.end)(turn, f"Answer {number}")
    waiting = (await post(async_client, sardor, "Question 3")).json()["turn"]
    address = f"/api/v1/conversations/{waiting['conversation']}/transcript?limit=2"

    newest = (await async_client.get(address, headers=sardor.headers)).json()
    older = (
        await async_client.get(f"{address}&before={newest['before']}", headers=sardor.headers)
    ).json()

    assert [(item["role"], item["text"]) for item in newest["items"]] == [
        ("user", "Question 2"),
        ("assistant", "Answer 2"),
        ("user", "Question 3"),
    ]
    assert [item["text"] for item in older["items"]] == [
        "Question 0",
        "Answer 0",
        "Question 1",
        "Answer 1",
    ]
    assert older["before"] is None


async def test_a_transcript_has_the_platforms_words(
    async_client: AsyncClient, sardor: Client
) -> None:
    posted = (await post(async_client, sardor)).json()["turn"]
    turn = await sync_to_async(rest_rows.start)(posted["id"])
    await sync_to_async(rest_rows.end)(
        turn,
        "So far",
        state="ended",
        notice={"v": 1, "code": "max_tokens", "values": {}},
        is_partial=True,
    )

    page = (
        await async_client.get(
            f"/api/v1/conversations/{posted['conversation']}/transcript", headers=sardor.headers
        )
    ).json()

    assert [item["role"] for item in page["items"]] == ["user", "assistant", "notice"]
    assert [item["is_partial"] for item in page["items"]] == [False, True, False]


async def test_conversations_come_newest_first_in_pages(
    async_client: AsyncClient, sardor: Client
) -> None:
    for thread in ("a", "b", "c"):
        await post(async_client, sardor, thread=thread)

    first = (await async_client.get("/api/v1/conversations?limit=2", headers=sardor.headers)).json()
    rest = (
        await async_client.get(
            f"/api/v1/conversations?limit=2&before={first['before']}", headers=sardor.headers
        )
    ).json()

    assert [item["thread"] for item in first["items"] + rest["items"]] == ["c", "b", "a"]
    assert rest["before"] is None


async def test_an_archived_conversation_is_not_listed_but_there(
    async_client: AsyncClient, sardor: Client
) -> None:
    posted = (await post(async_client, sardor, "hi")).json()
    conversation = posted["turn"]["conversation"]
    await ChatSession.objects.aupdate(archived_at=timezone.now())

    listed = await async_client.get("/api/v1/conversations", headers=sardor.headers)
    assert listed.json()["items"] == []
    address = f"/api/v1/conversations/{conversation}/transcript"
    assert (await async_client.get(address, headers=sardor.headers)).status_code == 200

    again = (await post(async_client, sardor, "one more thing")).json()
    assert again["turn"]["conversation"] == conversation
    listed = await async_client.get("/api/v1/conversations", headers=sardor.headers)
    assert len(listed.json()["items"]) == 1


async def test_a_fact_that_was_taken_back_is_not_noted_any_more(
    async_client: AsyncClient, sardor: Client
) -> None:
    first = await post(async_client, sardor, "My name is Sardor", key="k1")
    assert [fact["text"] for fact in first.json()["noted"]] == ["My name is Sardor"]
    await WalEntry.objects.aupdate(retracted_at=timezone.now())
    again = await post(async_client, sardor, "My name is Sardor", key="k1")
    assert again.json()["message"] == first.json()["message"]
    assert again.json()["noted"] == []


async def test_a_database_that_is_away_is_said_so(
    async_client: AsyncClient, sardor: Client
) -> None:
    with mock.patch("agents.services.tokens.verify", side_effect=OperationalError("secret host")):
        response = await async_client.get("/api/v1/agents", headers=sardor.headers)

    assert_problem(response, 503, "unavailable")
    assert response["Retry-After"]
    assert b"secret" not in response.content


async def test_a_bug_shows_no_traceback(async_client: AsyncClient, sardor: Client) -> None:
    with mock.patch("sessions.channels.rest.reading.agents", side_effect=KeyError("inside")):
        response = await async_client.get("/api/v1/agents", headers=sardor.headers)

    assert_problem(response, 500, "internal")
    assert b"inside" not in response.content
    assert b"Traceback" not in response.content


async def test_an_archived_person_is_out(async_client: AsyncClient, sardor: Client) -> None:
    await Person.objects.aupdate(archived_at=timezone.now())

    assert_problem(
        await async_client.get("/api/v1/agents", headers=sardor.headers), 401, "unauthorized"
    )

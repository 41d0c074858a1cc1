"""The operator's board: whose turns it shows to whom, and that it asks little of the database."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, Membership, Person, User
from qanot_site.beat_life import LOCK_ID
from sessions import dashboards
from sessions.models import ChatSession, Outgoing, Turn, WorkerProcess
from sessions.turns import leases
from tests import factories
from tests.qanot_site.admin_scene import Side, build_side
from tests.sessions.conftest import wait_until

pytestmark = pytest.mark.django_db

NOTICE = {"v": 1, "code": "cap_reached", "values": {"cap": "zaytun"}}


@contextmanager
def lock(statement: str, *keys: int) -> Iterator[None]:
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as other:
        other.execute(statement, keys)
        yield


def turn_of(team: Side, state: str, *, person: str = "", **columns: object) -> Turn:
    agent = team.one(Agent)
    someone = factories.person(team=agent.team, display_name=person or "Somebody")
    session = factories.chat_session(agent=agent, person=someone)
    columns.setdefault("accepted_at", timezone.now() - timedelta(seconds=30))
    return Turn.objects.create(
        session=session, generation=session.generations.get(), state=state, **columns
    )


@pytest.fixture
def ours() -> Side:
    return build_side("ours")


@pytest.fixture
def theirs() -> Side:
    return build_side("theirs")


def get(user: User, name: str = "board", **headers: str) -> tuple[int, str, str]:
    client = Client(headers=headers)
    client.force_login(user)
    answer = client.get(reverse(f"admin:{name}"))
    return answer.status_code, answer.content.decode(), answer.headers.get("ETag", "")


@pytest.mark.parametrize("role", ["owner", "editor", "operator"])
def test_readers_see_their_own_teams_turns_only(ours: Side, theirs: Side, role: str) -> None:
    turn_of(ours, Turn.State.RUNNING, person="Malika", claimed_at=timezone.now())
    turn_of(ours, Turn.State.QUEUED, person="Aziz")
    now = timezone.now()
    for side in (ours, theirs):
        turn_of(side, Turn.State.FAILED, committed_at=now, notice=NOTICE)
    turn_of(theirs, Turn.State.RUNNING, person="Stranger", claimed_at=now)
    status, page, _ = get(ours.users[role])
    assert status == 200
    assert "Malika" in page
    assert "Aziz" in page
    assert "Stranger" not in page
    assert "Agent theirs" not in page
    assert "Account theirs" not in page
    # Why it failed, without what the notice quotes.
    assert "cap_reached" in page
    assert "zaytun" not in page


def test_members_have_no_board_and_nobody_is_let_in_without_a_login(ours: Side) -> None:
    assert get(ours.users["member"])[0] == 302
    assert Client().get(reverse("admin:board-live")).status_code == 302


def test_superuser_sees_all_teams_and_the_hosts(ours: Side, theirs: Side) -> None:
    root = factories.user(is_superuser=True)
    worker = WorkerProcess.objects.create(name="host-seven:99")
    turn_of(theirs, Turn.State.RUNNING, person="Stranger", claimed_at=timezone.now())
    with lock("SELECT pg_advisory_lock(%s, %s)", leases.WORKER_LOCKS, worker.pk):
        page = get(root)[1]
        of_operator = get(ours.users["operator"])[1]
    assert "Stranger" in page
    assert "host-seven:99" in page
    assert f"worker {worker.pk}" in of_operator
    assert "host-seven" not in of_operator


def test_part_that_did_not_change_is_not_sent_again(ours: Side) -> None:
    operator = ours.users["operator"]
    status, page, tag = get(operator, "board-live")
    assert (status, bool(tag)) == (200, True)
    assert "<html" not in page
    assert get(operator, "board-live", if_none_match=tag)[:2] == (304, "")
    turn_of(ours, Turn.State.QUEUED)
    assert get(operator, "board-live", if_none_match=tag)[0] == 200


def test_turn_whose_worker_is_gone_is_marked(ours: Side) -> None:
    turn = turn_of(ours, Turn.State.RUNNING, claimed_at=timezone.now(), attempt=1)
    worker = WorkerProcess.objects.create(name="x")
    leased = {"leased_by": worker.pk, "lease_token": uuid.uuid4()}
    ChatSession.objects.filter(pk=turn.session_id).update(**leased)
    assert "its worker is gone" in get(ours.users["operator"])[1]
    with lock("SELECT pg_advisory_lock(%s, %s)", leases.WORKER_LOCKS, worker.pk):
        assert "its worker is gone" not in get(ours.users["operator"])[1]


def test_beat_is_who_holds_the_lock(ours: Side) -> None:
    with lock("SELECT pg_advisory_lock(%s)", LOCK_ID):
        assert "last tick" in get(ours.users["operator"])[1]
    wait_until(lambda: "planned work does not start" in get(ours.users["operator"])[1])


def test_errors_are_those_of_the_last_hour(ours: Side) -> None:
    now = timezone.now()
    old = turn_of(ours, Turn.State.FAILED, committed_at=now - timedelta(hours=2), notice=NOTICE)
    new = turn_of(ours, Turn.State.FAILED, committed_at=now, notice=NOTICE)
    Outgoing.objects.create(
        session=old.session, turn=old, state=Outgoing.State.UNKNOWN, created_at=now, tried_at=now
    )
    found = dashboards.errors({ours.team.pk})
    assert (found.failed, found.undelivered) == (1, 1)
    assert {failure.turn for failure in found.latest} == {new.pk, old.pk}
    assert dashboards.errors(set()).latest == ()


def test_id_of_a_moment_lies_before_the_ids_given_after_it(ours: Side) -> None:
    before = timezone.now() - timedelta(milliseconds=5)
    turn = turn_of(ours, Turn.State.QUEUED)
    assert dashboards.first_id_of(before) <= turn.public_id
    assert dashboards.first_id_of(timezone.now() + timedelta(seconds=5)) > turn.public_id


def test_spending_counts_the_agents_own_day_and_unknown_prices_at_the_ceiling() -> None:
    agent = factories.agent(time_zone="Asia/Tashkent", daily_cap_usd=Decimal(2))
    team = agent.team
    spent = {"team_id": team.pk, "agent_id": agent.pk}
    factories.usage_record(**spent, cost_usd=Decimal("0.5"))
    factories.usage_record(**spent, cost_usd=None, input_tokens=10_000, output_tokens=0)
    (found,) = dashboards.spending([team.pk])
    assert found.usd == Decimal("0.65")
    assert found.percent == 32
    factories.agent(team=team, daily_cap_usd=None)
    assert [row.percent for row in dashboards.spending([team.pk])] == [32, None]


def test_board_costs_at_most_15_queries_however_much_runs(ours: Side) -> None:
    for number in range(40):
        turn_of(ours, Turn.State.RUNNING, person=f"P{number}", claimed_at=timezone.now())
        turn_of(ours, Turn.State.QUEUED)
    client = Client()
    client.force_login(ours.users["operator"])
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = client.get(reverse("admin:board"))
    assert len(queries) <= 15, [query["sql"][:90] for query in queries]
    assert "and 10 more" in page.content.decode()


def test_names_are_escaped(ours: Side) -> None:
    turn_of(ours, Turn.State.RUNNING, person="<img src=x>", claimed_at=timezone.now())
    assert "<img src=x" not in get(ours.users["operator"])[1]


def test_doctors_page_is_for_superusers(ours: Side) -> None:
    assert get(ours.users["owner"], "doctor")[0] == 403
    status, page, _ = get(factories.user(is_superuser=True), "doctor")
    assert status == 200
    assert "workers.none" in page


def test_page_of_a_turn_shows_its_course_and_no_private_words(ours: Side) -> None:
    person = ours.one(Person)
    turn = Turn.objects.get(session__person=person)
    client = Client()
    client.force_login(ours.users["owner"])
    page = client.get(reverse("admin:bot_sessions_turn_change", args=[turn.pk])).content.decode()
    assert "current_time" in page
    assert "claude-x" in page
    assert "SOUL.md" in page
    assert "zaytun-private" not in page


@pytest.mark.parametrize("button", ["end", "retry"])
def test_buttons_of_a_turn_ask_for_a_post_and_for_ones_own_team(
    ours: Side, theirs: Side, button: str
) -> None:
    turn = turn_of(theirs, Turn.State.QUEUED)
    address = reverse(f"admin:bot_sessions_turn_{button}", args=[turn.pk])
    client = Client()
    client.force_login(ours.users["owner"])
    assert client.get(address).status_code == 405
    assert client.post(address).status_code == 404
    client.force_login(theirs.users["member"])
    assert client.post(address).status_code == 302
    turn.refresh_from_db()
    assert turn.state == Turn.State.QUEUED


def test_operator_ends_a_turn_and_tries_it_again(ours: Side) -> None:
    turn = turn_of(ours, Turn.State.QUEUED)
    text = factories.content(team=ours.team, text="Hello")
    factories.inbound_message(session=turn.session, turn=turn, content=text)
    client = Client()
    client.force_login(ours.users["operator"])
    role = Membership.objects.get(user=ours.users["operator"]).role
    assert role == Membership.Role.OPERATOR
    ended = client.post(reverse("admin:bot_sessions_turn_end", args=[turn.pk]), follow=True)
    assert "The turn is ended" in ended.content.decode()
    assert "Try it again" in ended.content.decode()
    again = client.post(reverse("admin:bot_sessions_turn_retry", args=[turn.pk]), follow=True)
    assert "The same is asked again" in again.content.decode()
    assert turn.session.turns.filter(state=Turn.State.QUEUED).count() == 1
    old = client.get(reverse("admin:bot_sessions_turn_change", args=[turn.pk]))
    assert "Tried again: see that turn" in old.content.decode()

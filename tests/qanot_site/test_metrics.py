"""`/metrics`: who may read it, and what it says."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions import dashboards
from sessions.channels.telegram.standing import Trouble
from sessions.models import Outgoing, Turn
from tests import factories

pytestmark = pytest.mark.django_db

TOKEN = "metrics-token-of-many-characters"


@pytest.fixture
def token(settings: Settings) -> str:
    settings.QANOT_METRICS_TOKEN = TOKEN
    return TOKEN


def scraped(given: str = TOKEN) -> str:
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {given}"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return answer.content.decode()


def test_without_a_token_in_the_settings_there_is_no_page() -> None:
    answer = Client().get("/metrics", headers={"Authorization": "Bearer "})
    assert answer.status_code == 404


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", TOKEN, "Bearer é"])
def test_whoever_has_another_token_or_comes_from_loopback_is_refused(
    token: str, given: str
) -> None:
    answer = Client(REMOTE_ADDR="127.0.0.1").get("/metrics", headers={"Authorization": given})
    assert answer.status_code == 401
    assert "qanot_turns" not in answer.content.decode()


def test_figures_are_those_of_the_database(token: str) -> None:
    session = factories.chat_session()
    factories.turn(session=session, state=Turn.State.QUEUED, accepted_at=timezone.now())
    agent = session.agent
    factories.usage_record(team_id=agent.team_id, agent_id=agent.pk, cost_usd=Decimal("1.25"))
    account = factories.provider_account(team=agent.team, switched_off_at=timezone.now())
    heard = factories.telegram_account(leased_until=timezone.now() + timedelta(minutes=1))
    factories.telegram_account(last_error_code=Trouble.UNREACHABLE)
    factories.telegram_account(switched_off_at=timezone.now())
    factories.channel_update(account=heard)
    over = factories.turn(state=Turn.State.ANSWERED)
    factories.outgoing(turn=over, account=heard, state=Outgoing.State.SENT)
    found = scraped()
    for line in (
        "qanot_database_up 1.0",
        'qanot_bots{state="heard"} 1.0',
        'qanot_bots{state="troubled"} 1.0',
        'qanot_bots{state="unheard"} 0.0',
        "qanot_bot_updates_last_hour 1.0",
        'qanot_bot_sends_last_hour{state="sent"} 1.0',
        'qanot_bot_sends_last_hour{state="failed"} 0.0',
        "qanot_bot_sends_held_back 0.0",
        'qanot_turns{state="queued"} 1.0',
        'qanot_turns{state="running"} 0.0',
        "qanot_workers 0.0",
        "qanot_beat_up 0.0",
        f'qanot_spent_today_usd{{agent="{agent.pk}"}} 1.25',
        f'qanot_daily_cap_usd{{agent="{agent.pk}"}} 5.0',
        f'qanot_provider_state{{account="{account.pk}",state="off"}} 1.0',
        f'qanot_provider_state{{account="{account.pk}",state="ready"}} 0.0',
    ):
        assert line in found.splitlines(), line
    assert "process_resident_memory_bytes" in found
    assert agent.name not in found
    assert account.name not in found


def test_without_a_database_the_scrape_still_answers(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(teams: object) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(dashboards, "load", away)
    found = scraped()
    assert "qanot_database_up 0.0" in found.splitlines()
    assert "qanot_turns" not in found

"""Everybody connects their own Telegram with their team's bots."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Person, User
from sessions.channels.telegram import pairing
from sessions.models import PairingLink
from tests import factories

pytestmark = pytest.mark.django_db

PAGE = "/account/telegram/"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_member_gets_a_link_that_makes_them_one_person() -> None:
    bot = factories.telegram_account()
    user = factories.membership(team=bot.team).user
    client = client_of(user)
    assert f"@{bot.username}" in client.get(PAGE).content.decode()
    assert not PairingLink.objects.exists()
    page = client.post(PAGE, {"bot": bot.pk}).content.decode()
    assert "<svg" in page
    found = re.search(rf"https://t\.me/{bot.username}\?start=([\w-]+)", page)
    assert found is not None
    contact = factories.channel_contact(account=bot, display_name="Me there")
    opened = pairing.open_link(bot, found[1], contact)
    assert opened.person == Person.objects.get(user=user, team=bot.team)
    assert "you are Me there there" in client.get(PAGE).content.decode()


@pytest.mark.parametrize(
    "columns",
    [{"archived_at": factories.NOON}, {"switched_off_at": factories.NOON}, {"username": ""}],
)
def test_bots_that_do_not_hear_are_not_offered(columns: dict[str, object]) -> None:
    bot = factories.telegram_account(**columns)
    client = client_of(factories.membership(team=bot.team).user)
    page = client.get(PAGE).content.decode()
    assert "There is no bot yet" in page
    assert client.post(PAGE, {"bot": bot.pk}).status_code == 404


def test_bots_of_other_teams_do_not_exist() -> None:
    bot = factories.telegram_account()
    client = client_of(factories.membership().user)
    assert bot.username not in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"bot": bot.pk}).status_code == 404
    assert client.post(PAGE, {"bot": "1 or 1"}).status_code == 404


def test_chat_leads_there_once_there_is_a_bot() -> None:
    user = factories.membership().user
    client = client_of(user)
    way = f'href="{reverse("account-telegram")}"'
    assert way not in client.get("/chat/").content.decode()
    team = user.memberships.get().team
    factories.telegram_account(agent=factories.agent(team=team))
    assert way in client.get("/chat/").content.decode()
    assert way in client.get(reverse("logins")).content.decode()

"""Connecting a bot in the admin, and its page: against a Bot API server on loopback."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, AuditEvent, Membership, Person, User
from sessions.channels.telegram import pairing, setup, tokens
from sessions.models import ChannelAccount, ChannelContact, PairingLink, PairingRequest
from tests import factories
from tests.fakes.telegram import TOKEN, FakeTelegram

pytestmark = pytest.mark.django_db

NAME = "admin:bot_sessions_channelaccount"
SECRET = TOKEN.partition(":")[2]


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as fake:
        yield fake


@pytest.fixture
def agent() -> Agent:
    return factories.agent(name="Bee")


@pytest.fixture
def root() -> Client:
    return client_of(User.objects.create_superuser("root"))


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def with_role(agent: Agent, role: str) -> Client:
    user = factories.user()
    Membership.objects.create(user=user, team=agent.team, role=role)
    return client_of(user)


def connect(client: Client, agent: Agent, telegram: FakeTelegram, **given: str) -> Any:
    values = {"token": TOKEN, "agent": str(agent.pk), "base_url": telegram.base_url, **given}
    return client.post(reverse(f"{NAME}_connect"), values)


def connected(client: Client, agent: Agent, telegram: FakeTelegram) -> ChannelAccount:
    assert connect(client, agent, telegram).status_code == 302
    return ChannelAccount.objects.get(channel="telegram")


def page_of(bot: ChannelAccount) -> str:
    return reverse(f"{NAME}_change", args=[bot.pk])


# --- connecting ---------------------------------------------------------------------------


def test_pasted_token_becomes_a_bot_of_its_agent(
    root: Client, agent: Agent, telegram: FakeTelegram
) -> None:
    answer = connect(root, agent, telegram)
    bot = ChannelAccount.objects.get(channel="telegram")
    assert answer["Location"] == page_of(bot)
    assert (bot.agent, bot.team, bot.bot_id) == (agent, agent.team, 111111)
    assert bot.username == "fake111111_bot"
    assert tokens.token_of(bot) == TOKEN
    assert SECRET not in bot.sealed_token
    assert AuditEvent.objects.filter(action="bot.connected", team_id=agent.team_id).exists()


def test_token_is_shown_nowhere(root: Client, agent: Agent, telegram: FakeTelegram) -> None:
    bot = connected(root, agent, telegram)
    refused = connect(root, agent, telegram)
    pages = [
        refused.content,
        root.get(page_of(bot)).content,
        root.get(reverse(f"{NAME}_changelist")).content,
        root.get(reverse(f"{NAME}_token", args=[bot.pk])).content,
        root.get(reverse(f"{NAME}_standing", args=[bot.pk])).content,
        root.get(reverse(f"{NAME}_history", args=[bot.pk])).content,
    ]
    assert not [page for page in pages if SECRET.encode() in page]
    assert not any(SECRET in str(row) for row in LogEntry.objects.values())
    assert not any(SECRET in str(row) for row in AuditEvent.objects.values())


def test_menu_is_set_in_every_language(root: Client, agent: Agent, telegram: FakeTelegram) -> None:
    connected(root, agent, telegram)
    menus = telegram.bot().commands
    assert len(menus) == 10
    private = [command["command"] for command in menus["all_private_chats::"]]
    assert private == ["help", "status", "lang", "start", "new", "reset", "stop"]
    group = [command["command"] for command in menus["all_group_chats::uz"]]
    assert "lang" not in group


def test_foreign_webhook_is_told_of_and_removed(
    root: Client, agent: Agent, telegram: FakeTelegram
) -> None:
    telegram.bot().webhook = "https://elsewhere.example.org/hook"
    values = {"token": TOKEN, "base_url": telegram.base_url}
    told = root.post(reverse(f"{NAME}_check"), values).json()
    assert told["ok"]
    assert told["username"] == "@fake111111_bot"
    assert "elsewhere.example.org" in told["notes"][0]
    assert telegram.bot().webhook
    connected(root, agent, telegram)
    assert telegram.bot().webhook == ""


def test_bot_is_connected_once(root: Client, agent: Agent, telegram: FakeTelegram) -> None:
    connected(root, agent, telegram)
    assert "connected here already" in connect(root, agent, telegram).content.decode()
    values = {"token": TOKEN, "base_url": telegram.base_url}
    assert "already" in root.post(reverse(f"{NAME}_check"), values).json()["title"]
    assert ChannelAccount.objects.filter(channel="telegram").count() == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"token": "222222:AAwrong-token_of-nobody"}, "does not know this token"),
        ({"token": "hello"}, "does not look like a bot"),
        ({"token": ""}, "Paste the token first"),
        ({"base_url": "http://127.0.0.1:9"}, "Nobody answers there"),
        ({"token": "", "token_reference": "env:NO_SUCH_VARIABLE_HERE"}, "is not set"),
        ({"token_reference": "env:SOMETHING"}, "not both"),
    ],
)
def test_mistakes_are_told_in_words(
    root: Client, agent: Agent, telegram: FakeTelegram, given: dict[str, str], words: str
) -> None:
    page = connect(root, agent, telegram, **given).content.decode()
    assert words in page
    assert SECRET not in page
    assert not ChannelAccount.objects.filter(channel="telegram").exists()


def test_token_in_a_variable_is_only_referred_to(
    root: Client, agent: Agent, telegram: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_BOT_TOKEN", TOKEN)
    answer = connect(root, agent, telegram, token="", token_reference="env:TEAM_BOT_TOKEN")
    assert answer.status_code == 302
    bot = ChannelAccount.objects.get(channel="telegram")
    assert (bot.sealed_token, bot.token_reference) == ("", "env:TEAM_BOT_TOKEN")


def test_editor_names_neither_variables_nor_private_addresses(
    agent: Agent, telegram: FakeTelegram
) -> None:
    editor = with_role(agent, "editor")
    assert "it is private" in connect(editor, agent, telegram).content.decode()
    page = connect(editor, agent, telegram, token="", token_reference="env:HOME")
    assert "Only a superuser" in page.content.decode()
    assert telegram.calls == []


@pytest.mark.parametrize("role", ["operator", "member"])
def test_others_connect_no_bots(agent: Agent, telegram: FakeTelegram, role: str) -> None:
    client = with_role(agent, role)
    for step in ("connect", "check"):
        assert client.post(reverse(f"{NAME}_{step}"), {"token": TOKEN}).status_code in (302, 403)
    assert telegram.calls == []


def test_agent_of_another_team_cannot_be_chosen(agent: Agent, telegram: FakeTelegram) -> None:
    editor = with_role(agent, "editor")
    answer = connect(editor, factories.agent(), telegram)
    assert answer.status_code == 200
    assert not ChannelAccount.objects.filter(channel="telegram").exists()


# --- the bot's page -----------------------------------------------------------------------


def test_code_connects_the_asking_admin(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent)
    editor = with_role(agent, "editor")
    page = editor.get(page_of(bot)).content.decode()
    assert "not connected yet" in page
    assert not PairingLink.objects.exists()
    link = editor.post(reverse(f"{NAME}_link", args=[bot.pk])).json()
    assert link["picture"].startswith("<svg")
    address, _, token = link["address"].partition("?start=")
    assert address == f"https://t.me/{bot.username}"
    contact = factories.channel_contact(account=bot, display_name="Sardor on Telegram")
    assert pairing.open_link(bot, token, contact).outcome == "connected"
    standing = editor.get(reverse(f"{NAME}_standing", args=[bot.pk])).content.decode()
    assert "data-paired" in standing
    assert "Sardor on Telegram" in standing
    person = Person.objects.get(user__isnull=False, team=agent.team)
    assert ChannelContact.objects.get(pk=contact.pk).person == person


def test_standing_is_told_in_words(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent)
    editor = with_role(agent, "editor")

    def standing(**columns: object) -> str:
        ChannelAccount.objects.filter(pk=bot.pk).update(**columns)
        page = editor.get(reverse(f"{NAME}_standing", args=[bot.pk]))
        return page.content.decode()

    now = timezone.now()
    assert "starting…" in standing()
    assert "manage.py poller" in standing(created_at=now - timedelta(minutes=1))
    assert 'data-state="live"' in standing(leased_until=now + timedelta(minutes=1))
    revoked = standing(last_error_code="token_revoked")
    assert 'data-state="troubled"' in revoked
    assert "does not know its token any more" in revoked
    assert "switched off" in standing(switched_off_at=now)


def test_revoked_token_shows_on_its_row(agent: Agent) -> None:
    factories.telegram_account(agent=agent, last_error_code="token_revoked")
    page = with_role(agent, "operator").get(reverse(f"{NAME}_changelist")).content.decode()
    assert "token revoked" in page


def test_settings_are_stored_beside_what_pollers_write(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent)
    editor = with_role(agent, "editor")
    form = editor.get(page_of(bot)).context["adminform"].form
    values = {
        name: "" if form[name].value() is None else form[name].value() for name in form.fields
    }
    values |= {"bound_channels": "", "groups": "all", "shows_receipts": "on"}
    ChannelAccount.objects.filter(pk=bot.pk).update(update_offset=77)
    answer = editor.post(page_of(bot), values)
    assert answer.status_code == 302, answer.context["errors"]
    bot.refresh_from_db()
    assert (bot.groups, bot.shows_receipts, bot.update_offset) == ("all", True, 77)
    assert AuditEvent.objects.filter(action="channelaccount.changed").exists()


def test_bot_is_switched_off_and_on(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent, last_error_code="token_revoked")
    editor = with_role(agent, "editor")
    for action, is_off in (("switch_off_selected", True), ("switch_on_selected", False)):
        editor.post(reverse(f"{NAME}_changelist"), {"action": action, "_selected_action": bot.pk})
        bot.refresh_from_db()
        assert (bot.switched_off_at is not None) is is_off
    assert bot.last_error_code == ""
    actions = AuditEvent.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["bot.switched_off", "bot.switched_on"]


def test_archived_bot_may_be_connected_anew_and_then_stays_archived(
    root: Client, agent: Agent, telegram: FakeTelegram
) -> None:
    bot = connected(root, agent, telegram)
    chosen = {"_selected_action": bot.pk}
    root.post(reverse(f"{NAME}_changelist"), {"action": "archive_selected", **chosen})
    assert connect(root, agent, telegram).status_code == 302
    page = f"{reverse(f'{NAME}_changelist')}?archived=yes"
    answer = root.post(page, {"action": "restore_selected", **chosen}, follow=True)
    assert "connected anew by now" in answer.content.decode()
    bot.refresh_from_db()
    assert bot.archived_at is not None


def test_another_token_of_the_same_bot_is_taken(
    root: Client, agent: Agent, telegram: FakeTelegram
) -> None:
    bot = connected(root, agent, telegram)
    ChannelAccount.objects.update(last_error_code="token_revoked")
    newer, other = "111111:AAnewer-token_of-this-bot", "333333:AAanother-bots_token"
    for token in (newer, other):
        telegram.add_bot(token)
    page = reverse(f"{NAME}_token", args=[bot.pk])
    refused = root.post(page, {"token": other, "base_url": telegram.base_url})
    assert "another bot" in refused.content.decode()
    assert root.post(page, {"token": newer, "base_url": telegram.base_url}).status_code == 302
    bot.refresh_from_db()
    assert tokens.token_of(bot) == newer
    assert bot.last_error_code == ""


def test_new_token_leaves_what_a_poller_wrote_meanwhile(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent)
    ChannelAccount.objects.filter(pk=bot.pk).update(update_offset=88)
    assert bot.bot_id is not None
    found = setup.Found(bot.bot_id, "Bee", bot.username, reads_all_group_messages=True)
    setup.change_token(bot, setup.Draft(token=TOKEN), found, by=factories.user())
    bot.refresh_from_db()
    assert (bot.update_offset, bot.reads_all_group_messages) == (88, True)


# --- contacts and requests ----------------------------------------------------------------


def test_code_that_somebody_told_lets_them_in(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent, access="pairing")
    contact = factories.channel_contact(account=bot)
    request = pairing.ask(contact)
    assert request is not None
    editor = with_role(agent, "editor")
    page = reverse(f"{NAME}_code", args=[bot.pk])
    wrong = editor.post(page, {"code": "000000"}, follow=True).content.decode()
    assert "Nobody waits with this code" in wrong
    right = editor.post(page, {"code": request.code}, follow=True).content.decode()
    assert "may talk with the bot now" in right
    contact.refresh_from_db()
    assert contact.access == ChannelContact.Access.ALLOWED
    assert with_role(agent, "operator").post(page, {"code": "x"}).status_code == 403


@pytest.mark.parametrize(("press", "access"), [("accept", "allowed"), ("refuse", "blocked")])
def test_request_is_decided_on_its_page(agent: Agent, press: str, access: str) -> None:
    bot = factories.telegram_account(agent=agent, access="pairing")
    contact = factories.channel_contact(account=bot, display_name="Aziza")
    request = pairing.ask(contact)
    assert request is not None
    editor = with_role(agent, "editor")
    listed = editor.get(reverse("admin:bot_sessions_pairingrequest_changelist")).content.decode()
    assert request.code in listed
    page = reverse("admin:bot_sessions_pairingrequest_change", args=[request.pk])
    assert "wants to talk" in editor.get(page).content.decode()
    decide = reverse("admin:bot_sessions_pairingrequest_decide", args=[request.pk])
    assert with_role(agent, "operator").post(decide, {press: "1"}).status_code == 403
    editor.post(decide, {press: "1"})
    contact.refresh_from_db()
    assert contact.access == access
    again = editor.post(decide, {press: "1"}, follow=True).content.decode()
    assert "decided already" in again
    assert PairingRequest.objects.get().decided_by is not None


def test_waiting_requests_are_counted_beside_the_page(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent)
    for _ in range(2):
        pairing.ask(factories.channel_contact(account=bot))
    pairing.ask(factories.channel_contact())
    page = with_role(agent, "editor").get(reverse("admin:index"))
    items = [item for group in page.context["sidebar_navigation"] for item in group["items"]]
    badges = {str(item["title"]): item.get("badge") for item in items}
    assert badges["Pairing requests"] == 2


def test_contacts_are_let_in_and_blocked_by_editors_only(agent: Agent) -> None:
    bot = factories.telegram_account(agent=agent)
    ours, theirs = factories.channel_contact(account=bot), factories.channel_contact()
    page = reverse("admin:bot_sessions_channelcontact_changelist")
    chosen = {"_selected_action": [ours.pk, theirs.pk]}
    with_role(agent, "operator").post(page, {"action": "block_selected", **chosen})
    ours.refresh_from_db()
    assert ours.access == "unknown"
    editor = with_role(agent, "editor")
    for action, access in (
        ("block_selected", "blocked"),
        ("allow_selected", "allowed"),
        ("forget_selected", "unknown"),
    ):
        editor.post(page, {"action": action, **chosen})
        ours.refresh_from_db()
        theirs.refresh_from_db()
        assert (ours.access, theirs.access) == (access, "unknown")


# --- bots of a file -----------------------------------------------------------------------


def test_what_a_file_says_is_changed_there(root: Client, agent: Agent) -> None:
    bot = factories.telegram_account(
        agent=agent, managed_by="qanot.toml", token_reference="env:BOT_TOKEN"
    )
    page = root.get(page_of(bot))
    assert "qanot.toml" in page.content.decode()
    assert list(page.context["adminform"].form.fields) == []
    assert root.get(reverse(f"{NAME}_token", args=[bot.pk])).status_code == 403

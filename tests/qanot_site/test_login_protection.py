"""Too many wrong passwords, where people are logged in, and how that ends."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone

from agents.models import AuditEvent, LoginRecord, Membership, User
from agents.services import logins
from sessions.channels.webchat import access
from tests import factories

pytestmark = pytest.mark.django_db

Role = Membership.Role
PASSWORD = "a long enough one 7"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.fixture
def user() -> User:
    made = factories.membership(role=Role.EDITOR).user
    made.username = "anna"
    made.set_password(PASSWORD)
    made.save()
    return made


def log_in(
    name: str = "anna", password: str = PASSWORD, path: str = "/login/", address: str = "10.0.0.1"
) -> tuple[int, Client]:
    client = Client(REMOTE_ADDR=address, HTTP_USER_AGENT=FIREFOX)
    answer = client.post(path, {"username": name, "password": password, "next": "/chat/"})
    return answer.status_code, client


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
@pytest.mark.parametrize("name", ["anna", "nobody"])
def test_after_five_wrong_passwords_there_is_a_pause(user: User, path: str, name: str) -> None:
    statuses = [log_in(name, "wrong", path)[0] for _ in range(5)]
    assert statuses == [200, 200, 200, 200, 429]
    client = Client(REMOTE_ADDR="10.0.0.1")
    answer = client.post(path, {"username": name, "password": PASSWORD})
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert "15 minutes" in answer.content.decode()
    # The person elsewhere, and others from here, are not held up.
    if name == "anna":
        assert log_in(path=path, address="10.0.0.2")[0] == 302
    assert log_in("somebody", "wrong", path)[0] == 200


@pytest.mark.parametrize("path", ["/login/", "/admin/login/"])
def test_a_name_that_nobody_can_have_is_as_wrong_as_any(path: str) -> None:
    statuses = [log_in("x" * 300, "wrong", path)[0] for _ in range(5)]
    assert statuses == [200, 200, 200, 200, 429]


def test_the_pause_ends_by_itself_and_tries_do_not_lengthen_it(user: User) -> None:
    start = timezone.now()
    with time_machine.travel(start, tick=False) as clock:
        for _ in range(6):
            log_in(password="wrong")
        clock.move_to(start + timedelta(minutes=14))
        assert log_in()[0] == 429
        clock.move_to(start + timedelta(minutes=15, seconds=1))
        assert log_in()[0] == 302


def test_who_exists_cannot_be_told_from_the_answers(user: User) -> None:
    def answer(name: str) -> str:
        client = Client(REMOTE_ADDR="10.0.0.9")
        page = client.post("/login/", {"username": name, "password": "wrong"})
        return f"{page.status_code} {page.content.decode().split('<form')[0]}"

    User.objects.create_user("locked", password=PASSWORD, is_active=False)
    assert answer("anna") == answer("nobody") == answer("locked")


def test_a_header_does_not_change_the_address(user: User) -> None:
    for number in range(5):
        Client(REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=f"1.2.3.{number}").post(
            "/login/", {"username": "anna", "password": "wrong"}
        )
    assert log_in()[0] == 429


def test_all_addresses_of_one_network_count_as_one(user: User) -> None:
    for number in range(5):
        log_in(password="wrong", address=f"2001:db8:1:2::{number}")
    assert log_in(address="2001:db8:1:2:3:4:5:6")[0] == 429
    assert log_in(address="2001:db8:1:3::1")[0] == 302
    assert LoginRecord.objects.get().address == "2001:db8:1:3::1"


def test_wrong_passwords_of_people_who_exist_are_in_their_teams_log(user: User) -> None:
    for _ in range(7):
        log_in(password="wrong")
        log_in("nobody", "wrong")
    team = user.memberships.get().team_id
    failed = AuditEvent.objects.filter(action="login.failed")
    assert set(failed.values_list("team_id", flat=True)) == {team}
    # Not those during the pause, which could fill the log.
    assert failed.count() == 5


# --- where people are logged in ----------------------------------------------------------------


def test_each_login_is_listed_and_ends_with_a_logout(user: User) -> None:
    _status, client = log_in()
    record = LoginRecord.objects.get()
    assert (record.user, record.address, record.ended_at) == (user, "10.0.0.1", None)
    page = client.get("/account/logins/").content.decode()
    assert "Firefox · Windows" in page
    assert "10.0.0.1" in page
    client.post("/logout/")
    record.refresh_from_db()
    assert record.ended_at is not None
    actions = AuditEvent.objects.values_list("action", flat=True)
    assert {"login.ok", "login.ended"} <= set(actions)
    assert "10.0.0.1" not in str(list(AuditEvent.objects.values()))


def test_somebody_ends_their_own_logins_and_nobody_elses(user: User) -> None:
    (_a, here), (_b, there) = log_in(), log_in()
    theirs = factories.login_record()
    mine = LoginRecord.objects.filter(user=user).order_by("id")
    for chosen in (mine[1].pk, theirs.pk, "x", "²", "9" * 30):
        assert here.post("/account/logins/end/", {"login": chosen}).status_code == 302
    assert there.get("/chat/").status_code == 302
    assert here.get("/chat/").status_code == 200
    theirs.refresh_from_db()
    assert theirs.ended_at is None
    _status, third = log_in()
    here.post("/account/logins/end/", {"login": "others"})
    assert third.get("/chat/").status_code == 302
    assert here.get("/account/logins/").status_code == 200


def test_a_socket_of_an_ended_login_knows_nobody(user: User) -> None:
    log_in()
    record = LoginRecord.objects.get()
    assert access.user_of(record.session_key) == user
    logins.end([record], by=user)
    assert access.user_of(record.session_key) is None


def test_owners_see_and_end_logins_of_their_team_without_the_address(user: User) -> None:
    team = user.memberships.get().team
    owner = factories.membership(team=team, role=Role.OWNER).user
    root = User.objects.create_superuser("root")
    factories.membership(team=team, user=root)
    _status, client = log_in()
    foreign = factories.login_record(user=factories.membership().user)
    rooted = factories.login_record(user=root)
    record = LoginRecord.objects.get(user=user)
    admin = Client()
    admin.force_login(owner)
    page = admin.get(reverse("admin:agents_loginrecord_changelist")).content.decode()
    assert "Firefox · Windows" in page
    one = admin.get(reverse("admin:agents_loginrecord_change", args=[record.pk]))
    for body in (page, one.content.decode()):
        assert "10.0.0.1" not in body
        assert record.session_key not in body
    chosen = [record.pk, foreign.pk, rooted.pk]
    admin.post(
        reverse("admin:agents_loginrecord_changelist"),
        {"action": "end_selected", "_selected_action": chosen},
    )
    assert client.get("/chat/").status_code == 302
    assert set(LoginRecord.objects.filter(ended_at=None)) == {foreign, rooted}
    editor = Client()
    editor.force_login(factories.membership(team=team, role=Role.EDITOR).user)
    assert editor.get(reverse("admin:agents_loginrecord_changelist")).status_code == 403


def test_who_is_switched_off_is_logged_out(user: User) -> None:
    _status, client = log_in()
    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    root.post(
        reverse("admin:agents_user_change", args=[user.pk]),
        {"username": "anna", "first_name": "", "last_name": "", "email": ""},
    )
    user.refresh_from_db()
    assert not user.is_active
    assert LoginRecord.objects.get().ended_at is not None
    assert not Session.objects.filter(pk=LoginRecord.objects.get().session_key).exists()
    assert client.get("/chat/").status_code == 302


def test_the_list_forgets_what_ended_90_days_ago(user: User) -> None:
    now = timezone.now()
    old = factories.login_record(ended_at=now - timedelta(days=91))
    recent = factories.login_record(ended_at=now - timedelta(days=89))
    lost = factories.login_record()
    log_in()
    assert not LoginRecord.objects.filter(pk=old.pk).exists()
    assert LoginRecord.objects.filter(pk=recent.pk).exists()
    lost.refresh_from_db()
    assert lost.ended_at is not None


@pytest.mark.django_db(transaction=True)
async def test_the_pause_is_said_under_the_real_servers_handler_too() -> None:
    client = AsyncClient(REMOTE_ADDR="10.0.0.1")
    for _ in range(6):
        answer = await client.post("/login/", {"username": "nobody", "password": "wrong"})
    assert answer.status_code == 429
    assert "15 minutes" in answer.content.decode()

"""The one-time link and the login page."""

from datetime import timedelta
from unittest import mock

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from agents.models import LoginLink, User
from agents.services import login_links

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return User.objects.create_user("owner", password="long enough 1")


def is_logged_in(client: Client) -> bool:
    return settings.SESSION_COOKIE_NAME in client.cookies


def test_link_logs_in_and_leads_to_the_chat(client: Client, user: User) -> None:
    answer = client.get(f"/login/{login_links.issue(user)}/")
    assert answer.status_code == 302
    assert answer["Location"] == "/chat/"
    assert is_logged_in(client)


def test_link_works_once(user: User) -> None:
    address = f"/login/{login_links.issue(user)}/"
    Client().get(address)
    second = Client()
    answer = second.get(address)
    assert answer.status_code == 410
    assert b"python3 manage.py up" in answer.content
    assert not is_logged_in(second)


def test_used_link_still_leads_on_whom_it_logged_in(client: Client, user: User) -> None:
    address = f"/login/{login_links.issue(user)}/"
    client.get(address)
    assert client.get(address)["Location"] == "/chat/"


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Sec-Purpose", "prefetch"),
        ("Sec-Purpose", "prefetch;prerender"),
        ("Purpose", "prefetch"),
        ("X-Moz", "prefetch"),
    ],
)
def test_browser_that_looks_ahead_does_not_use_the_link_up(
    client: Client, user: User, header: str, value: str
) -> None:
    address = f"/login/{login_links.issue(user)}/"
    answer = client.get(address, headers={header: value})
    assert answer.status_code == 503
    assert "no-store" in answer["Cache-Control"]
    assert not is_logged_in(client)
    assert client.get(address)["Location"] == "/chat/"


def test_head_does_not_use_the_link_up(client: Client, user: User) -> None:
    address = f"/login/{login_links.issue(user)}/"
    client.head(address)
    assert client.get(address)["Location"] == "/chat/"


def test_link_of_yesterday_is_refused_in_friendly_words(client: Client, user: User) -> None:
    address = f"/login/{login_links.issue(user)}/"
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = client.get(address)
    assert answer.status_code == 410
    assert not is_logged_in(client)


def test_link_of_a_switched_off_user_is_refused(client: Client, user: User) -> None:
    address = f"/login/{login_links.issue(user)}/"
    User.objects.update(is_active=False)
    assert client.get(address).status_code == 410


def test_post_is_no_way_in(client: Client, user: User) -> None:
    assert client.post(f"/login/{login_links.issue(user)}/").status_code == 405


def test_password_logs_in_who_may_not_enter_the_admin(client: Client, user: User) -> None:
    answer = client.post("/login/?next=/chat/", {"username": "owner", "password": "long enough 1"})
    assert answer["Location"] == "/chat/"


def test_wrong_password_is_said_so(client: Client, user: User) -> None:
    answer = client.post("/login/", {"username": "owner", "password": "wrong"})
    assert answer.status_code == 200
    assert b"do not fit together" in answer.content


def test_next_leads_nowhere_else(client: Client, user: User) -> None:
    answer = client.post(
        "/login/",
        {"username": "owner", "password": "long enough 1", "next": "https://evil.example/"},
    )
    assert answer["Location"] == "/chat/"


def test_bare_address_leads_to_the_chat(client: Client) -> None:
    assert client.get("/")["Location"] == "/chat/"


def test_error_page_needs_no_request_and_no_database(client: Client) -> None:
    client.raise_request_exception = False
    with mock.patch("qanot_site.login.redirect", side_effect=RuntimeError):
        answer = client.get("/")
    assert answer.status_code == 500
    assert b"Something broke on our side" in answer.content

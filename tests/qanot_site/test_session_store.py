"""A log-in follows its session to another key, so that it stays listed and can be ended."""

import pytest
from django.conf import settings
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest
from django.test import Client, override_settings

from agents.models import LoginRecord, User
from agents.services import logins
from qanot_site.session_store import SessionStore
from sessions.channels.webchat import access
from tests import factories

pytestmark = pytest.mark.django_db

PASSWORD = "a long enough one 7"


@pytest.fixture
def record(client: Client) -> LoginRecord:
    user = factories.membership().user
    user.set_password(PASSWORD)
    user.save()
    client.post("/login/", {"username": user.username, "password": PASSWORD})
    return LoginRecord.objects.get()


def test_who_sets_somebodys_password_stays_listed(record: LoginRecord) -> None:
    request = HttpRequest()
    request.session, request.user = SessionStore(record.session_key), record.user
    update_session_auth_hash(request, User.objects.create_user("other"))
    assert request.session.session_key != record.session_key
    assert logins.open_of([record.user]).get().session_key == request.session.session_key


def test_a_login_outlives_the_secret_key_and_can_still_be_ended(
    client: Client, record: LoginRecord
) -> None:
    before = record.session_key
    with override_settings(SECRET_KEY="new", SECRET_KEY_FALLBACKS=[settings.SECRET_KEY]):
        # A socket has nobody to tell of another key: the browser would be logged out.
        assert access.user_of(before) == record.user
        assert client.get("/chat/").status_code == 200
        record.refresh_from_db()
        assert record.session_key != before
        assert logins.open_of([record.user]).get() == record
        logins.end([record], by=record.user)
        assert client.get("/chat/").status_code == 302

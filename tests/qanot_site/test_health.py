"""`/healthz` and `/readyz`."""

import pytest
from django.test import Client, override_settings


def test_healthz_needs_nothing(client: Client) -> None:
    assert client.get("/healthz").content == b"ok"


@pytest.mark.django_db
def test_readyz_names_what_works(client: Client) -> None:
    response = client.get("/readyz")

    assert response.status_code == 200
    assert response.json() == {
        "ready": True,
        "database": "ok",
        "redis": "ok",
        "migrations": "ok",
    }


@pytest.mark.django_db
@override_settings(REDIS_URL="redis://127.0.0.1:1/0")
def test_readyz_without_redis_is_unavailable(client: Client) -> None:
    response = client.get("/readyz")

    assert response.status_code == 503
    assert response.json()["redis"] == "unavailable"


@pytest.mark.django_db
def test_our_pages_allow_no_inline_code(client: Client) -> None:
    policy = client.get("/healthz")["Content-Security-Policy"]

    assert "unsafe" not in policy


@pytest.mark.django_db
def test_the_admin_alone_may_evaluate(client: Client) -> None:
    policy = client.get("/admin/login/")["Content-Security-Policy"]

    assert "script-src 'self' 'unsafe-eval'" in policy

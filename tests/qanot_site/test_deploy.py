"""The documented production set-up: Django finds nothing to complain of, and https is enforced."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axes.models import AccessAttempt  # type: ignore[import-untyped]  # no types
from django.conf import settings

from qanot_site import env
from tests.qanot_site.running import PROJECT, clean_environment, wait_until

DEPLOY = PROJECT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
# Read by uvicorn itself.
NOT_OURS = {"FORWARDED_ALLOW_IPS"}
HTTPS = {"X-Forwarded-Proto": "https"}


def documented() -> dict[str, str]:
    """Return the variables of the example, as an operator would leave them."""
    lines = (DEPLOY / "qanot.env.example").read_text().splitlines()
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def test_check_deploy_is_silent_with_the_documented_environment() -> None:
    checked = subprocess.run(
        [sys.executable, PROJECT / "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment() | documented(),
    )

    assert checked.returncode == 0, checked.stderr
    assert "no issues (0 silenced)" in checked.stdout
    assert settings.SILENCED_SYSTEM_CHECKS == []


def test_documented_variables_exist() -> None:
    assert set(documented()) - set(env.variable_names()) == NOT_OURS


def test_documents_name_the_environment_that_is_tested() -> None:
    shown = (PROJECT / "docs" / "deploy.md").read_text()

    assert "deploy/qanot.env.example" in shown
    for unit in UNITS:
        assert unit.stem in shown, unit.name


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_unit_starts_what_exists(unit: Path) -> None:
    text = unit.read_text()
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert (PROJECT / f"{module.replace('.', '/')}.py").exists()
    for command in re.findall(r"manage\.py (\w+)", text):
        assert (PROJECT / "qanot_site/management/commands" / f"{command}.py").exists()
    if unit.suffix == ".service":
        assert "EnvironmentFile=/etc/qanot/qanot.env" in text
        assert {"NoNewPrivileges=yes", "ProtectSystem=strict"} <= set(text.splitlines())


# --- behind a proxy ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A web server as the unit starts it, on a socket that was opened for it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = subprocess.Popen(
            [sys.executable, "-m", "qanot_site.web", str(listener.fileno())],
            cwd=PROJECT,
            pass_fds=[listener.fileno()],
            env=clean_environment()
            | documented()
            | {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL", "QANOT_HOME")}
            # The proxy is one of this machine's addresses, and only one.
            | {"FORWARDED_ALLOW_IPS": "127.0.0.1"},
        )
        try:
            host, port = listener.getsockname()
            wait_until(lambda: server.poll() is not None or _answers(f"{host}:{port}"))
            yield f"{host}:{port}"
        finally:
            server.terminate()
            server.wait(15)


def _answers(address: str) -> bool:
    try:
        return _get(address, "/healthz").status_code == 200
    except httpx.HTTPError:
        return False


def _get(address: str, path: str, *, source: str = "127.0.0.1", **headers: str) -> httpx.Response:
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(transport=transport) as client:
        return client.get(
            f"http://{address}{path}",
            headers={"Host": "bots.example.org"} | headers,
            timeout=30,
        )


def test_plain_request_is_sent_to_https(address: str) -> None:
    answer = _get(address, "/login/")

    assert answer.status_code == 301
    assert answer.headers["Location"] == "https://bots.example.org/login/"


def test_proxy_is_believed_that_a_request_came_over_https(address: str) -> None:
    answer = _get(address, "/login/", **HTTPS)

    assert answer.status_code == 200
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]
    assert "secure" in answer.headers["Set-Cookie"].lower()


def test_anybody_else_is_not_believed(address: str) -> None:
    answer = _get(address, "/login/", source="127.0.0.2", **HTTPS)

    assert answer.status_code == 301


@pytest.mark.django_db(transaction=True)
def test_pause_counts_the_visitor_that_the_proxy_names(address: str) -> None:
    page = _get(address, "/login/", **HTTPS)
    token = page.cookies["csrftoken"]
    # What a visitor sends under the name stands before what the proxy adds, and counts nothing.
    claimed = {"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}
    answer = httpx.post(
        f"http://{address}/login/",
        data={"username": "nobody", "password": "wrong", "csrfmiddlewaretoken": token},
        headers={
            "Host": "bots.example.org",
            "Origin": "https://bots.example.org",
            "Cookie": f"csrftoken={token}",
        }
        | HTTPS
        | claimed,
        timeout=30,
    )

    assert answer.status_code == 200
    assert AccessAttempt.objects.get().ip_address == "203.0.113.7"


def test_health_is_told_on_the_machine_itself(address: str) -> None:
    assert _get(address, "/healthz").text == "ok"
    assert _get(address, "/readyz").json()["ready"]


def test_another_host_name_is_refused(address: str) -> None:
    assert _get(address, "/login/", **HTTPS, Host="evil.example.org").status_code == 400

"""Thirty-two planted secrets, sent on the real ways in; none of them is found where people look."""

import io
import json
import logging
import traceback
from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from asgiref.sync import async_to_sync
from celery import shared_task
from django.apps import apps
from django.contrib import admin
from django.db import connection, models
from django.test import Client
from django.urls import reverse
from pydantic import JsonValue

from agents.models import AgentDocument, File, Membership, ProviderAccount, User
from agents.services import secrets
from qanot_site import logs
from sessions.channels.telegram import setup, tokens
from sessions.channels.telegram.setup import SetupTrouble
from sessions.models import ChannelAccount, Content, InboundMessage, Turn
from sessions.turns.worker import Worker
from tests import factories
from tests.fakes.script import CallTool, Refusal, answer
from tests.sessions.conftest import Scene, ended, wait_until
from tests.sessions.conftest import fake as fake
from tests.sessions.conftest import quick as quick
from tests.sessions.conftest import scene as scene
from tests.sessions.conftest import start_worker as start_worker

pytestmark = pytest.mark.django_db(transaction=True)

_N = "Zq7Canary"
# What a person types into the chat, each with a sentence that makes it worth noting.
SAID = {
    "Remember that my password is {}": f"{_N}01pass",
    "Remember the key {} for the server": f"sk-ant-api03-{_N}02abcdefghij",
    "Remember my OpenAI key {} please": f"sk-proj-{_N}03abcdefghijklmnop",
    "Remember the token {} of the repository": f"ghp_{_N}04abcdefghijklmnopqrstuv",
    "Remember our pat {} always": f"github_pat_{_N}05abcdefghijkl",
    "Remember the runner {} always": f"glpat-{_N}06abcdefghijkl",
    "Remember the bot {} always": f"123456789:AA{_N}07abcdefghijklmnopqrstuvwxyz",
    "Remember the slack token {} always": f"xoxb-{_N}08abcdefghijkl",
    "Remember the cloud key {} always": "AKIAZQ7CANARY09ABCD",
    "Remember the google key {} always": f"AIzaSy{_N}10abcdefghijklmnopqrstuvw",
    "Remember the database {} always": f"postgresql://app:{_N}11@db.example.org/app",
    "Remember parolim {}": f"{_N}12parol",
}
# What lies in requests: how it is sent, and what is planted.
LINKS = {
    "/login/{}/": f"{_N}13abcdefghijklmnopqrstuvwxyz",
    "/join/{}/": f"{_N}14abcdefghijklmnopqrstuvwxyz",
    "/password/{}/": f"{_N}15abcdefghijklmnopqrstuvwxyz",
    "/nowhere/?token={}": f"{_N}16abcdef",
    "/nowhere/?api_key={}&x=1": f"{_N}17abcdef",
    "/api/v1/nowhere?password={}": f"{_N}18abcdef",
    "/nowhere/sk-ant-api03-{}/": f"{_N}19abcdefgh",
}
BEARER = f"qanot_{_N}20abcdefghijklmnopqrstuvwxyz0123456789"
BASIC = f"{_N}21abcdefgh=="
COOKIE = f"{_N}22abcdefgh"
FORM_PASSWORD = f"{_N}23abcdefgh"
NEW_KEY = f"gsk_{_N}24abcdefghijkl"
API_BODY = f"hf_{_N}25abcdefghijkl"
STORED_KEY = f"sk-ant-api03-{_N}26abcdefghijkl"
TASK_ARGUMENT = f"xai-{_N}27abcdefghijkl"
EXCEPTION = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi{_N}28.abcdefgh{_N}"
TRACEBACK = f"redis://:{_N}29abcdefgh@redis.example.org/0"
BOT_TOKEN = f"31:AA{_N}31abcdefghijklmnopqrstuvwxyz"
STORED_BOT_TOKEN = f"32:AA{_N}32abcdefghijklmnopqrstuvwxyz"
PRIVATE_KEY = f"-----BEGIN PRIVATE KEY-----\nMIIE{_N}30abcdef\n-----END PRIVATE KEY-----"
ALL = [
    *SAID.values(),
    *LINKS.values(),
    BEARER,
    BASIC,
    COOKIE,
    FORM_PASSWORD,
    NEW_KEY,
    API_BODY,
    STORED_KEY,
    TASK_ARGUMENT,
    EXCEPTION,
    TRACEBACK,
    PRIVATE_KEY,
    BOT_TOKEN,
    STORED_BOT_TOKEN,
]
# Where nobody listens.
NOBODY = "http://127.0.0.1:9"
# What of each is secret: without the part that says which kind it is.
MARKS = [f"{_N}{number:02}" for number in range(1, 33) if number != 9] + ["ZQ7CANARY09"]


@shared_task(name="tests.canary")  # type: ignore[untyped-decorator]  # Celery has no types
def breaks(key: str) -> None:
    """Fail with what it was given."""
    raise ValueError(f"refused {key} and {EXCEPTION}")


@pytest.fixture
def logged() -> Iterator[Callable[[], str]]:
    """Collect every log line of this process as it would be written, in both forms."""
    stream = io.StringIO()
    handlers = [_handler(stream, "json"), _handler(stream, "text")]
    root = logging.getLogger()
    for handler in handlers:
        root.addHandler(handler)
    yield stream.getvalue
    for handler in handlers:
        root.removeHandler(handler)


def _handler(stream: io.StringIO, form: Literal["json", "text"]) -> logging.Handler:
    settings = logs.configure(form)["formatters"]["lines"]
    handler = logging.StreamHandler(stream)
    handler.setFormatter(settings.pop("()")(**settings))
    handler.addFilter(logs.ClientFaults())
    return handler


def assert_clean(text: str, where: str) -> None:
    found = [mark for mark in MARKS if mark in text]
    assert not found, (where, found, [text[text.index(mark) - 80 :][:160] for mark in found])


def test_thirty_two_are_planted() -> None:
    assert len(ALL) == len(set(ALL)) == len(MARKS) == 32
    assert all(any(mark in planted for planted in ALL) for mark in MARKS)


def test_no_canary_is_found_in_logs_derived_texts_errors_and_pages(
    scene: Scene, start_worker: Callable[[], Worker], logged: Callable[[], str]
) -> None:
    ProviderAccount.objects.update(key_reference="", sealed_key=secrets.seal(STORED_KEY))
    bot = factories.telegram_account(
        agent=scene.agent, sealed_token=tokens.seal_token(STORED_BOT_TOKEN), base_url=NOBODY
    )
    root = factories.user(is_superuser=True, username="root")
    _through_the_chat(scene, start_worker)
    _through_requests(scene, root)
    _through_bots(bot, root)
    _through_tasks_and_errors()
    text = logged()
    assert '"event": "answer.committed"' in text
    assert "[info     ] answer.committed" in text
    assert_clean(text, "logs")
    _look_at_rows()
    _look_at_pages(scene, root)


def _through_the_chat(scene: Scene, start_worker: Callable[[], Worker]) -> None:
    worker = start_worker()
    turns: list[Turn] = []
    for sentence, secret in SAID.items():
        said = sentence.format(secret)
        error: JsonValue = {"type": "authentication_error", "message": said}
        scene.fake.play(Refusal(400, {"type": "error", "error": error, "x": STORED_KEY}))
        turn = scene.say(said, session=scene.conversation(f"t{len(turns)}")).turn
        wait_until(lambda turn=turn: ended(turn))  # type: ignore[misc]  # bound at once
        turns.append(turn)
        ProviderAccount.objects.update(cool_until=None, switched_off_at=None, failures=0)
    key = next(iter(SAID.values()))
    scene.fake.play(answer(CallTool("remember_fact", {"fact": f"The password is {key}"})), "Done.")
    turn = scene.say("Note it", session=scene.conversation("tool")).turn
    wait_until(lambda: ended(turn))
    worker.close()


def _through_requests(scene: Scene, root: User) -> None:
    client = Client(raise_request_exception=False)
    for address, secret in LINKS.items():
        client.get(address.format(secret))
    headers = {"Cookie": f"qanot_session={COOKIE}; sessionid={COOKIE}"}
    for scheme in (f"Bearer {BEARER}", f"Basic {BASIC}"):
        client.get("/api/v1/agents", headers={**headers, "Authorization": scheme})
    form = {"username": "root", "password": FORM_PASSWORD}
    for page in (reverse("login"), reverse("admin:login")):
        refused = client.post(page, form)
        assert_clean(refused.content.decode(), page)
    body = json.dumps({"text": f"key {API_BODY}", "password": API_BODY})
    client.post("/api/v1/conversations", body, content_type="application/json")
    client.post("/api/v1/conversations", body + "{", content_type="application/json")
    client.force_login(root)
    account = ProviderAccount.objects.get(pk=scene.account.pk)
    page = reverse("admin:agents_provideraccount_change", args=[account.pk])
    answered = client.post(page, {"name": "", "new_key": NEW_KEY, "key": NEW_KEY})
    assert_clean(answered.content.decode(), page)


def _through_bots(bot: ChannelAccount, root: User) -> None:
    """Paste a token where bots are connected, and ask for the stored one, in vain."""
    client = Client(raise_request_exception=False)
    client.force_login(root)
    name = "admin:bot_sessions_channelaccount"
    form = {"token": BOT_TOKEN, "base_url": NOBODY, "agent": str(bot.agent_id)}
    for page in (
        *(reverse(f"{name}_{step}") for step in ("connect", "check")),
        reverse(f"{name}_token", args=[bot.pk]),
    ):
        assert_clean(client.post(page, form).content.decode(), page)
        assert_clean(client.post(page, {**form, "agent": "0"}).content.decode(), page)
    with pytest.raises(SetupTrouble) as refused:
        async_to_sync(setup.look)(setup.draft_of(bot))
    shown = "".join(traceback.format_exception(refused.value))
    assert_clean(f"{shown} {refused.value!r} {setup.draft_of(bot)!r}", "errors")


def _through_tasks_and_errors() -> None:
    breaks.apply(args=[TASK_ARGUMENT])
    log = logging.getLogger("tests.canaries")
    try:
        raise ConnectionError(TRACEBACK, {"password": FORM_PASSWORD, "key": PRIVATE_KEY})
    except ConnectionError as error:
        log.exception("It broke with %s", error)
        log.error("It broke", extra={"headers": {"Authorization": f"Bearer {BEARER}"}})
        log.warning("Cookie: qanot_session=%s", COOKIE)


_TEXTS = (models.CharField, models.TextField, models.JSONField)
# The person's own words as they said them: read by nobody else.
ORIGINALS: set[tuple[type[models.Model], str]] = {
    (Content, "text"),
    (InboundMessage, "payload"),
    (AgentDocument, "text"),
    (File, "content"),
}


def _look_at_rows() -> None:
    """Look into every text column but those of the originals."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if not isinstance(field, _TEXTS) or (model, field.name) in ORIGINALS:
                continue
            for value in model._default_manager.values_list(field.name, flat=True):
                assert_clean(str(value), f"{model.__name__}.{field.name}")


def _look_at_pages(scene: Scene, root: User) -> None:
    """Open every list and every row as a superuser and as an owner who is another person."""
    owner = factories.user(username="other-owner")
    Membership.objects.create(user=owner, team=scene.agent.team, role=Membership.Role.OWNER)
    opened = 0
    for user in (root, owner):
        client = Client()
        client.force_login(user)
        for model in admin.site._registry:
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            addresses = [reverse(f"{name}_changelist")]
            rows = model._default_manager.values_list("pk", flat=True)[:4]
            addresses += [reverse(f"{name}_change", args=[pk]) for pk in rows]
            for address in addresses:
                page = client.get(address)
                if page.status_code == 200:
                    opened += 1
                    assert_clean(page.content.decode(), address)
        for page_name in ("admin:board", "admin:doctor", "admin:index"):
            assert_clean(client.get(reverse(page_name)).content.decode(), page_name)
    assert opened > 50
    assert Turn.objects.count() > len(SAID)
    assert connection.vendor == "postgresql"

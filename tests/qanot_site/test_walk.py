"""Every page, action, choice, frame and operation, by every role, beside a second team.

What there is to walk is found from the registries: admin pages and their addresses, the URL
configuration, the frames of the chat's socket, the API's description. What the walk does not know
how to call fails it.
"""

import copy
import json
import typing
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.auth.models import AnonymousUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import models, transaction
from django.forms import BaseForm, HiddenInput, ModelChoiceField
from django.test import Client, RequestFactory
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import reverse

from agents.admin.base import TeamAdmin
from agents.models import ApiToken, AuditEvent, Membership, User
from agents.services import people, tokens
from qanot_site.api import api
from sessions.channels.webchat import frames
from sessions.events import wire
from sessions.events.redis_client import close_redis_client
from tests.qanot_site.admin_scene import Side, build_side
from tests.qanot_site.walking import (
    CANARY,
    Step,
    Unknown,
    api_value,
    build_theirs,
    frame_value,
    steps,
)
from tests.sessions.channels.webchat_rows import Tab

READERS: Final = ("owner", "editor", "operator")
OUTSIDERS: Final = ("member", "stranger", "anonymous")
ROLES: Final = (*READERS, *OUTSIDERS)
# Served to everybody, logged in or not.
OPEN: Final = frozenset(
    {
        *("login", "login-link", "join", "join-other", "join-link"),
        *("password-new", "password-link", "set_language", "logout", "healthz", "readyz"),
        *("metrics", "admin:login", "admin:logout", "admin:jsi18n"),
    }
)
TEAM_PAGES: Final = [
    model for model, page in admin.site._registry.items() if isinstance(page, TeamAdmin)
]


def user_of(role: str, side: Side) -> User | AnonymousUser:
    if role == "anonymous":
        return AnonymousUser()
    if role == "stranger":
        return User.objects.create_user("stranger")
    return side.users[role]


def client_of(user: User | AnonymousUser) -> Client:
    client = Client()
    if isinstance(user, User):
        client.force_login(user)
    return client


@contextmanager
def undone(client: Client) -> Iterator[None]:
    """Take back what a request stores and logs out, so that the next one finds the same."""
    cookies = copy.deepcopy(client.cookies)
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    client.cookies = cookies


def body_of(answer: Any) -> str:
    if getattr(answer, "is_async", False):
        content = async_to_sync(_gathered)(answer.streaming_content)
    else:
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return f"{content.decode(errors='replace')}{answer.headers}"


async def _gathered(pieces: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in pieces])


def contents(side: Side) -> dict[str, list[Any]]:
    """Return all rows of a team, to see whether somebody changed one."""
    return {
        model.__name__: list(
            model._default_manager.filter(pk__in=[row.pk for row in rows]).order_by("pk").values()
        )
        for model, rows in side.rows.items()
    }


# --- pages -------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("role", ROLES)
def test_pages_show_nothing_of_another_team(role: str) -> None:
    ours, theirs = build_side("ours"), build_theirs()
    client = client_of(user_of(role, ours))
    before = contents(theirs)
    own = {step.path: step for step in steps(ours)}
    for path, step in own.items():
        if role in ("stranger", "anonymous") and step.takes_row:
            continue  # as foreign to them as the other team's
        for method in ("get", "post") if is_called(step) else ("get",):
            with undone(client):
                answer = getattr(client, method)(path)
                said = body_of(answer)
            assert CANARY not in said, (method, path)
            assert answer.status_code < 500, (method, path)
            if role in OUTSIDERS and path.startswith("/admin/") and step.name not in OPEN:
                assert answer.status_code == 302, (method, path, answer.status_code)
            if role == "anonymous" and step.name not in OPEN:
                assert answer.status_code in (302, 404, 405), (method, path)
    for step in steps(theirs):
        if not step.takes_row or step.path in own:
            continue
        for method in methods_of(step, role):
            with undone(client):
                answer = getattr(client, method)(step.path, {"post": "yes"})
                said = body_of(answer)
            assert CANARY not in said, (method, step.path)
            assert is_refused(answer, step, role), (method, step.path, answer.status_code)
    assert contents(theirs) == before


def methods_of(step: Step, role: str) -> tuple[str, ...]:
    """Return how a foreign row's address is tried; who is sent to the log-in, is so at once."""
    is_read = step.is_standard and step.name.endswith("_history")
    return ("get",) if is_read or (step.is_standard and role in OUTSIDERS) else ("get", "post")


def is_called(step: Step) -> bool:
    """Return whether an own address is posted to as well: with nothing, where that may do all."""
    return not step.is_standard


def is_refused(answer: Any, step: Step, role: str) -> bool:
    """Return whether the answer tells nothing about a row of another team."""
    if role in OUTSIDERS or step.name.endswith(":"):
        # To the log-in or, without the slash's meaning, to the row's page that is not there.
        return answer.status_code in (302, 403, 404, 405)
    is_shared = step.model is None or step.model not in TEAM_PAGES
    allowed = (403, 404, 405, 302) if is_shared else (404, 405)
    return answer.status_code in allowed


# --- lists -------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("role", READERS)
def test_lists_find_nothing_of_another_team(role: str) -> None:
    ours, theirs = build_side("ours"), build_theirs()
    user = user_of(role, ours)
    client = client_of(user)
    before = contents(theirs)
    for model in TEAM_PAGES:
        page = admin.site.get_model_admin(model)
        path = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        if client.get(path).status_code == 403:
            continue
        for query in queries(page, theirs):
            answer = client.get(path, query)
            if answer.status_code == 302:
                continue  # Django's way to refuse a filter
            assert answer.status_code in (200, 400), (path, query)
            if answer.status_code == 200:
                found = set(answer.context["cl"].queryset.values_list("pk", flat=True))
                assert not found & {row.pk for row in theirs.rows.get(model, [])}, (path, query)
                if "q" not in query:
                    assert CANARY not in answer.content.decode(), (path, query)
        request = request_of(user)
        for action in page.get_actions(request):
            chosen = [row.pk for row in theirs.rows.get(model, [])]
            with undone(client):
                answer = client.post(
                    path, {"action": action, "_selected_action": chosen}, follow=True
                )
            assert CANARY not in answer.content.decode(), (path, action)
    assert contents(theirs) == before


def queries(page: Any, theirs: Side) -> Iterator[dict[str, str]]:
    yield {"q": CANARY}
    yield {"archived": "all", "decided": "all"}
    for item in [*page.list_filter, *page.link_lookups]:
        name = item[0] if isinstance(item, tuple) else item
        if not isinstance(name, str):
            continue
        field = get_fields_from_path(page.model, name.removesuffix("__id__exact"))[-1]
        related: Any = field.related_model
        if related in theirs.rows:
            row = theirs.one(related)
            yield {name if "__exact" in name else f"{name}__id__exact": str(row.pk)}


def request_of(user: User | AnonymousUser) -> Any:
    request = RequestFactory().get("/admin/")
    request.user = user
    return request


# --- choices -----------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("role", READERS)
def test_choices_offer_nothing_of_another_team(role: str) -> None:
    ours, theirs = build_side("ours"), build_theirs()
    user = user_of(role, ours)
    client = client_of(user)
    foreign = {(model, row.pk) for model, rows in theirs.rows.items() for row in rows}
    count = 0
    for model in TEAM_PAGES:
        page: Any = admin.site.get_model_admin(model)
        for form in forms_of(page, request_of(user), ours.rows.get(model, [None])[0]):
            for name, field in form.fields.items():
                if isinstance(field, ModelChoiceField):
                    if isinstance(field.widget, HiddenInput):
                        continue  # an inline's own key, which Django looks up among its rows
                    count += 1
                    assert field.queryset is not None
                    offered = {(field.queryset.model, row.pk) for row in field.queryset}
                    assert not offered & foreign, (model, name)
                else:
                    assert CANARY not in str(getattr(field, "choices", "")), (model, name)
        for owner in (
            page,
            *page.get_inline_instances(request_of(user), ours.rows.get(model, [None])[0]),
        ):
            for name in owner.autocomplete_fields:
                answer = client.get(
                    reverse("admin:autocomplete"),
                    {
                        "app_label": owner.model._meta.app_label,
                        "model_name": owner.model._meta.model_name,
                        "field_name": name,
                        "term": "",
                    },
                )
                count += 1
                assert answer.status_code in (200, 403), (model, name)
                assert CANARY not in answer.content.decode(), (model, name)
    assert count > 5


def forms_of(page: Any, request: Any, row: models.Model | None) -> Iterator[BaseForm]:
    if page.has_add_permission(request):
        yield page.get_form(request, None)()
    if row is None:
        return
    if page.has_change_permission(request, row):
        yield page.get_form(request, row, change=True)(instance=row)
    for inline in page.get_inline_instances(request, row):
        yield inline.get_formset(request, row)(instance=row).empty_form


# --- the socket --------------------------------------------------------------------------------


@pytest.fixture
async def _quiet() -> AsyncIterator[None]:
    yield
    await close_redis_client()
    await wire.layer().flush()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_quiet")
@pytest.mark.parametrize("role", ["owner", "member", "stranger"])
async def test_frames_reach_nothing_of_another_team(role: str) -> None:
    theirs, client = await sync_to_async(_logged_in)(role)
    before = await sync_to_async(contents)(theirs)
    async with Tab(client.cookies[settings.SESSION_COOKIE_NAME].value) as tab:
        for frame in typing.get_args(frames.FromBrowser):
            for sent in await sync_to_async(_frames)(frame, theirs):
                await tab.say(**sent)
                # What needs no id is answered with the own rows; that answer ends the frame.
                await tab.say(type="search", query="end-of-frame")
                heard = []
                while True:
                    said = await tab.hear_next()
                    if said["type"] == "found" and said["query"] == "end-of-frame":
                        break
                    heard.append(said)
                assert CANARY not in json.dumps(heard), sent
                if _ids_of(sent):
                    # Stop, undo, resume: nothing is said where there is nothing to do.
                    assert {each["type"] for each in heard} <= {"missing", "refused"}, (sent, heard)
    assert await sync_to_async(contents)(theirs) == before


def _logged_in(role: str) -> tuple[Side, Client]:
    ours, theirs = build_side("ours"), build_theirs()
    return theirs, client_of(user_of(role, ours))


def _frames(frame: Any, side: Side) -> list[dict[str, Any]]:
    """Return a frame with the other team's ids: with all fields, and with only what it needs."""
    fields = frame.model_fields
    [kind] = typing.get_args(fields["type"].annotation)
    names = [name for name in fields if name != "type"]
    needed = [name for name in names if fields[name].is_required()]
    variants = [names, needed, *([*needed, name] for name in names if name not in needed)]
    return [
        {"type": kind, **{name: frame_value(name, side) for name in variant}}
        for variant in variants
    ]


def _ids_of(sent: dict[str, Any]) -> set[str]:
    return {"conversation", "turn", "message", "agent"} & set(sent)


# --- the API -----------------------------------------------------------------------------------

# What operations with a body are sent.
BODIES: Final[dict[str, dict[str, Any]]] = {
    "post_message": {"text": "Hello"},
    "change_agent": {"description": "Changed"},
    "put_document": {"text": "Changed"},
}


@pytest.mark.django_db(transaction=True)
def test_operations_reach_nothing_of_another_team() -> None:
    ours, theirs = build_side("ours"), build_theirs()
    secrets = {role: _secret(role, ours) for role in ("owner", "editor", "operator", "member")}
    before = contents(theirs)
    walked = refused = 0
    for path, operations in api.get_openapi_schema()["paths"].items():
        for method, operation in operations.items():
            for role, secret in secrets.items():
                for side in (ours, theirs):
                    told = _foreign_ids_told()
                    answer = _call(path, method, operation, side, secret)
                    walked += 1
                    is_live = getattr(answer, "is_async", False)
                    said = answer.headers if is_live else body_of(answer)
                    assert CANARY not in str(said), (role, method, path)
                    assert answer.status_code < 500, (role, method, path)
                    if side is theirs and _names_row(path, operation):
                        refused += 1
                        expected = (404,) if _may(role, operation) else (403,)
                        assert answer.status_code in expected, (role, method, path)
                        if expected == (404,):
                            assert _foreign_ids_told() == told + 1, (role, method, path)
            anonymous = _call(path, method, operation, theirs, "qanot_wrong")
            assert anonymous.status_code == 401, (method, path)
    assert contents(theirs) == before
    assert (
        AuditEvent.objects.filter(action="api.foreign_id").exclude(team_id=ours.team.pk).count()
        == 0
    )
    assert walked > refused > 20


def _names_row(path: str, operation: dict[str, Any]) -> bool:
    """Return whether an operation is told a row, in its address or beside it."""
    return "{" in path or any(each["name"] == "agent" for each in operation.get("parameters", []))


def _may(role: str, operation: dict[str, Any]) -> bool:
    """Return whether the role may ask at all; members only chat, operators only read settings."""
    if "agents" not in operation["tags"]:
        return True
    is_write = "requestBody" in operation
    return role in (("owner", "editor") if is_write else READERS)


def _secret(role: str, side: Side) -> str:
    user = side.users[role]
    assert Membership.objects.filter(user=user, team=side.team).exists()
    person = people.person_of(user, side.team)
    _, secret = tokens.issue(
        team=side.team, person=person, name="walk", scopes=list(ApiToken.Scope)
    )
    return secret


def _call(path: str, method: str, operation: dict[str, Any], side: Side, secret: str) -> Any:
    query = {}
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", api_value(parameter["name"], side))
        elif parameter["name"] == "before":
            query["before"] = api_value("turn_id", side)
        elif parameter["name"] == "agent":
            query["agent"] = api_value("agent_id", side)
        elif parameter["name"] == "query":
            # A word of both teams' texts.
            query["query"] = "private"
    body = BODIES.get(operation["operationId"])
    if "multipart/form-data" in operation.get("requestBody", {}).get("content", {}):
        return Client().generic(
            method.upper(),
            path,
            data=encode_multipart(BOUNDARY, {"file": SimpleUploadedFile("note.txt", b"Hello")}),
            content_type=MULTIPART_CONTENT,
            headers={"Authorization": f"Bearer {secret}"},
        )
    if "requestBody" in operation and body is None:
        raise Unknown(f"{operation['operationId']} takes a body of which the walk has no example")
    return Client().generic(
        method.upper(),
        path,
        data=json.dumps(body) if body else b"",
        content_type="application/json",
        query_params=query,
        headers={"Authorization": f"Bearer {secret}", "If-Match": "*"},
    )


def _foreign_ids_told() -> int:
    return AuditEvent.objects.filter(action="api.foreign_id").count()


# --- the walk itself ---------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_other_team_is_full_of_canaries() -> None:
    theirs = build_theirs()
    assert set(TEAM_PAGES) <= set(theirs.rows)
    bare = {
        model.__name__
        for model, rows in theirs.rows.items()
        if not any(CANARY in str(row) or CANARY in str(vars(row)) for row in rows)
    }
    # Numbers, times and references only.
    assert bare <= {
        *("Membership", "ToolGrant", "ChainLink", "Generation", "Outgoing", "UsageRecord"),
        *("AuditEvent", "LoginRecord", "PairingRequest", "TranscriptEntry"),
    }

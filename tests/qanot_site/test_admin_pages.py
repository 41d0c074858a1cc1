"""Every admin page, walked by every role of two teams."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.admin.archive import ArchivedFilter
from agents.admin.base import ReadOnlyAdmin, TeamAdmin
from agents.admin.owners import OwnersAdmin
from agents.models import ApiToken, User
from sessions.admin.bots import BotsFilter
from tests.qanot_site.admin_scene import EVIL, PRIVATE, SHARED, Side, build_side

pytestmark = pytest.mark.django_db

READERS = ("owner", "editor", "operator")
# Lists of one page of rows; measured 8 to 17, sidebar and session included.
MOST_QUERIES = 20


def team_pages() -> list[type[models.Model]]:
    """Return the models whose pages are narrowed by team."""
    return [model for model, page in admin.site._registry.items() if isinstance(page, TeamAdmin)]


PAGES = team_pages()


def address(model: type[models.Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def everything(model: type[models.Model]) -> dict[str, str]:
    """Return what a list is asked that shows all its rows."""
    filters = admin.site.get_model_admin(model).list_filter
    query = {"archived": "all"} if ArchivedFilter in filters else {}
    return {**query, "doors": "all"} if BotsFilter in filters else query


@pytest.fixture
def ours() -> Side:
    return build_side("ours")


@pytest.fixture
def theirs() -> Side:
    return build_side("theirs")


@pytest.fixture
def superuser() -> User:
    return User.objects.create_superuser("root")


def test_every_model_of_ours_has_a_page_or_a_reason_not_to() -> None:
    without = {
        model.__name__
        for label in ("agents", "memory", "bot_sessions")
        for model in apps.get_app_config(label).get_models()
        if not admin.site.is_registered(model)
    }
    # Edited on their agent's page; secrets; a prompt, which is private text and short-lived; a
    # state of the agent's persona page. Of bots: numbers that say what was taken in or sent, a
    # secret, what a group said to others, and what stands on its conversation's, message's or
    # send's page. Of memory: the index, which is made of rows that have pages, and shown with its
    # settings.
    assert without == {
        *("ChainLink", "ToolGrant", "LoginLink", "TurnFreeze", "BootstrapRitual"),
        *("ChannelUpdate", "OutgoingPart", "PairingLink", "OverheardMessage", "Attachment"),
        *("EmbeddingSpace", "IndexVersion", "MemoryScope", "MemoryThread"),
        *("Passage", "PassageVector", "Posting", "FreshTerms", "Extraction"),
    }


def may_read(role: str, model: type[models.Model]) -> bool:
    """Return whether a role sees a page at all: some are the owners' alone."""
    page = admin.site.get_model_admin(model)
    return not isinstance(page, OwnersAdmin) or role in page.read_roles


@pytest.mark.parametrize("role", READERS)
def test_readers_see_their_own_rows_only(role: str, ours: Side, theirs: Side) -> None:
    for model in PAGES:
        client = client_of(ours.users[role])
        if not may_read(role, model):
            assert client.get(address(model, "changelist")).status_code == 403
            assert client.get(address(model, "change", ours.one(model).pk)).status_code in (
                403,
                404,
            )
            continue
        listed = client.get(address(model, "changelist"), everything(model))
        assert listed.status_code == 200, model
        shown = set(listed.context["cl"].queryset.values_list("pk", flat=True))
        assert shown == {row.pk for row in ours.rows[model]}
        assert client.get(address(model, "change", ours.one(model).pk)).status_code == 200
        for page in ("change", "history", "delete"):
            foreign = client.get(address(model, page, theirs.one(model).pk))
            missing = client.get(address(model, page, 10**9))
            assert foreign.status_code == missing.status_code == 404
            assert EVIL not in foreign.content.decode()


def test_a_superuser_sees_both_teams(ours: Side, theirs: Side, superuser: User) -> None:
    for model in PAGES:
        client = client_of(superuser)
        listed = client.get(address(model, "changelist"), everything(model))
        shown = set(listed.context["cl"].queryset.values_list("pk", flat=True))
        assert shown >= {row.pk for side in (ours, theirs) for row in side.rows[model]}
        for side in (ours, theirs):
            assert client.get(address(model, "change", side.one(model).pk)).status_code == 200


def test_members_and_strangers_see_nothing(ours: Side) -> None:
    stranger = User.objects.create_user("stranger", is_staff=True)
    for model in PAGES:
        for user in (ours.users["member"], stranger):
            client = client_of(user)
            for path in (
                address(model, "changelist"),
                address(model, "change", ours.one(model).pk),
                address(model, "history", ours.one(model).pk),
            ):
                answer = client.get(path)
                assert answer.status_code == 302
                assert answer["Location"].startswith(reverse("admin:login"))


def test_records_of_the_past_cannot_be_written(ours: Side, superuser: User) -> None:
    for model in PAGES:
        if not isinstance(admin.site.get_model_admin(model), ReadOnlyAdmin):
            continue
        row = ours.one(model)
        before = model._default_manager.filter(pk=row.pk).values().get()
        for user in (superuser, ours.users["owner"]):
            client = client_of(user)
            values = {name: "1" for name in before}
            assert client.post(address(model, "change", row.pk), values).status_code == 403
            assert client.get(address(model, "add")).status_code == 403
            assert client.post(address(model, "add"), values).status_code == 403
            deletion = {"post": "yes"}
            assert client.post(address(model, "delete", row.pk), deletion).status_code == 403
            client.post(
                address(model, "changelist"),
                {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"},
            )
        assert model._default_manager.filter(pk=row.pk).values().get() == before


def test_operators_change_nothing(ours: Side) -> None:
    for model in PAGES:
        client = client_of(ours.users["operator"])
        row = ours.one(model)
        before = model._default_manager.filter(pk=row.pk).values().get()
        # 404 where the page is the owners' alone.
        refused = 403 if may_read("operator", model) else 404
        changed = client.post(address(model, "change", row.pk), {"name": "x"})
        assert changed.status_code == refused, model
        # A token that acts for oneself changes nothing of the team's.
        may_add = model is ApiToken
        assert client.get(address(model, "add")).status_code == (200 if may_add else 403)
        assert client.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == refused
        assert model._default_manager.filter(pk=row.pk).values().get() == before


def test_private_text_is_shown_to_nobody_but_its_person(ours: Side, superuser: User) -> None:
    for client in (client_of(superuser), client_of(ours.users["owner"])):
        for model in PAGES:
            for path, body in pages_of(client, ours, model):
                assert PRIVATE not in body, path


def test_a_person_reads_their_own_texts_and_all_is_escaped(ours: Side) -> None:
    client = client_of(ours.users["person"])
    readable = {
        "ChatSession",
        "Turn",  # its messages
        "TurnStep",
        "InboundMessage",
        "TranscriptEntry",
        "WalEntry",
        "MemoryDocument",
        "MemoryDocumentVersion",
        "MemoryProposal",
        "DailyNote",
        "UploadedDocument",
        "AgentDocument",
        "AgentDocumentVersion",
        "File",
    }
    for model in PAGES:
        if not may_read("operator", model):
            continue
        pages = list(pages_of(client, ours, model))
        found = any(PRIVATE in body for _path, body in pages)
        assert found == (model.__name__ in readable), model
        for path, body in pages:
            assert "<img src=x" not in body, path


def pages_of(client: Client, side: Side, model: type[models.Model]) -> Iterator[tuple[str, str]]:
    """Yield the addresses and bodies of a model's list and of its rows' pages."""
    paths = [address(model, "changelist")]
    paths += [address(model, "change", row.pk) for row in side.rows[model]]
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        yield path, answer.content.decode()


def test_shared_texts_are_read_by_the_team(ours: Side) -> None:
    client = client_of(ours.users["operator"])
    for name in ("InboundMessage", "TranscriptEntry", "TurnStep", "WalEntry", "DailyNote"):
        model = next(model for model in PAGES if model.__name__ == name)
        bodies = [
            client.get(address(model, "change", row.pk)).content.decode()
            for row in ours.rows[model]
        ]
        assert any(SHARED in body for body in bodies), name


def test_lists_answer_only_what_they_offer(ours: Side, superuser: User) -> None:
    for model in PAGES:
        client = client_of(superuser)
        path = address(model, "changelist")
        texts = [
            item.name
            for item in model._meta.get_fields()
            if isinstance(item, models.TextField | models.CharField) and not item.choices
        ]
        page = admin.site.get_model_admin(model)
        assert isinstance(page, TeamAdmin)
        offered = {item[0] if isinstance(item, tuple) else item for item in page.list_filter}
        for name in texts:
            if name in offered or name in page.link_lookups:
                continue
            assert client.get(path, {f"{name}__startswith": "z"}).status_code == 400, name
        for lookup in (
            "content__text__startswith",
            "session__title__startswith",
            "turn__session__title__contains",
            "document__text__contains",
            "person__user__password__startswith",
            "team__memberships__user__password__startswith",
        ):
            assert client.get(path, {lookup: "z"}).status_code == 400, lookup


def test_search_never_looks_into_private_texts(ours: Side, superuser: User) -> None:
    for model in PAGES:
        client = client_of(superuser)
        found = client.get(address(model, "changelist"), {"q": PRIVATE})
        if admin.site.get_model_admin(model).search_fields:
            assert found.context["cl"].queryset.count() == 0


def test_lists_ask_a_bounded_number_of_queries(ours: Side, theirs: Side, superuser: User) -> None:
    client = client_of(superuser)
    few = {model: queries_of(client, model) for model in PAGES}
    for number in range(6):
        build_side(f"more{number}")
    for model in PAGES:
        many = queries_of(client, model)
        assert many <= MOST_QUERIES, model
        # Rows more, queries the same (a filter may appear where there was one choice only).
        assert many <= few[model] + 1, model


def queries_of(client: Client, model: type[models.Model]) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address(model, "changelist")).status_code == 200
    return len(queries)


def test_the_overview_and_sidebar_hold_what_one_may_see(ours: Side, superuser: User) -> None:
    page = client_of(ours.users["operator"]).get(reverse("admin:index")).content.decode()
    assert address(next(m for m in PAGES if m.__name__ == "Turn"), "changelist") in page
    assert "django_celery_beat" not in page
    assert "/admin/auth/group/" not in page
    page = client_of(superuser).get(reverse("admin:index")).content.decode()
    assert "/admin/django_celery_beat/periodictask/" in page
    assert set(re.findall(r'(?:src|href)="(https?://[^"]+)"', page)) == set()


def test_team_members_are_sent_to_the_chat(ours: Side) -> None:
    client = client_of(ours.users["member"])
    answer = client.get(reverse("admin:login"))
    assert (answer.status_code, answer["Location"]) == (302, "/chat/")


def test_roles_and_not_staff_open_the_admin(ours: Side) -> None:
    owner = ours.users["owner"]
    owner.set_password("right")
    owner.save()
    assert not owner.is_staff
    client = Client()
    answer = client.post(
        reverse("admin:login"),
        {"username": owner.username, "password": "right", "next": "/admin/"},
    )
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    owner.is_active = False
    owner.save()
    assert client.get("/admin/").status_code == 302


@pytest.mark.parametrize(
    "path",
    [
        "/admin/django_celery_beat/periodictask/",
        "/admin/django_celery_beat/periodictask/add/",
        "/admin/django_celery_beat/crontabschedule/add/",
        "/admin/django_celery_beat/intervalschedule/add/",
        "/admin/auth/group/",
        "/admin/agents/user/add/",
        "/admin/bot_sessions/workerprocess/",
    ],
)
def test_pages_of_the_deployment_are_for_superusers(path: str, ours: Side, superuser: User) -> None:
    assert client_of(superuser).get(path).status_code == 200
    assert client_of(ours.users["owner"]).get(path).status_code == 403

"""The REST API against its own description, and the page that shows it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import schemathesis
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client as HttpClient
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case
from schemathesis.specs.openapi.checks import positive_data_acceptance

from agents.models import AgentDocument, ApiToken, Membership, Person
from agents.services import documents
from qanot_site.api import api
from tests import factories
from tests.sessions.channels import rest_platform, rest_rows
from tests.sessions.channels.rest_platform import Web
from tests.sessions.channels.rest_rows import Client

pytestmark = pytest.mark.django_db(transaction=True)

OPERATIONS = [
    (method.upper(), path)
    for path, operations in api.get_openapi_schema()["paths"].items()
    for method in operations
]


@dataclass
class Scene:
    """A served API and ids that exist in it."""

    client: Client
    web: Web
    ids: dict[str, str]


@pytest.fixture
def scene() -> Iterator[Scene]:
    client = rest_rows.make_client("Sardor")
    _let_edit(client)
    with rest_platform.web() as web:
        posted = httpx.post(
            f"{web.address}/api/v1/agents/{client.agent.public_id}/messages",
            json={"text": "Hello"},
            headers=client.headers,
            trust_env=False,
        ).json()["turn"]
        rest_rows.end(rest_rows.start(posted["id"]), "Hello")
        ids = {
            "agent_id": str(client.agent.public_id),
            "turn_id": posted["id"],
            "conversation_id": posted["conversation"],
            "name": "SOUL.md",
        }
        yield Scene(client, web, ids)


def _let_edit(client: Client) -> None:
    """Let the token do whatever a token may, for an editor of the team."""
    membership = factories.membership(team=client.team, role=Membership.Role.EDITOR)
    Person.objects.filter(pk=client.person.pk).update(user=membership.user)
    ApiToken.objects.filter(pk=client.token.pk).update(scopes=list(ApiToken.Scope))
    document = AgentDocument(agent=client.agent, name="SOUL.md")
    documents.save(document, text="Kind", author=None, reason="")


def test_every_operation_does_as_it_is_described(scene: Scene) -> None:
    described = schemathesis.openapi.from_url(f"{scene.web.address}/api/v1/openapi.json")
    for method, path in OPERATIONS:
        strategy = described[path][method].as_strategy()

        @seed(1)
        @settings(
            max_examples=15,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy, is_known=...)
        def run(case: Case[Any], is_known: bool) -> None:
            if is_known:
                case.path_parameters.update(
                    {k: v for k, v in scene.ids.items() if k in case.path_parameters}
                )
            case.call_and_validate(
                headers=scene.client.headers,
                # A well-formed id may be nobody's, and blanks are no message.
                excluded_checks=[positive_data_acceptance],
                timeout=30,
            )

        run()


def test_the_description_is_complete() -> None:
    described = api.get_openapi_schema()

    for operations in described["paths"].values():
        for operation in operations.values():
            assert operation["description"]
            assert operation["security"] == [{"BearerToken": []}]
            for status, response in operation["responses"].items():
                wanted = "application/problem+json" if int(status) >= 400 else None
                assert wanted is None or list(response["content"]) == [wanted]


def test_the_page_asks_nobody_else(client: HttpClient) -> None:
    response = client.get("/api/v1/docs")
    page = response.content.decode()

    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert response.status_code == 200
    assert addresses
    assert all(address.startswith(static("")) for address in addresses)
    assert all(finders.find(address.removeprefix(static(""))) for address in addresses)
    # The policy forbids scripts inside the page.
    assert not re.search(r"<script(?![^>]*(src=|application/json))", page)
    assert "unsafe" not in response["Content-Security-Policy"]

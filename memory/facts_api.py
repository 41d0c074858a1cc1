"""One's own memory over REST: what is kept of the token's person, forgotten, exported."""

from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Query, Router, Schema
from pydantic import Field

from agents.api import foreign
from agents.api.auth import ApiRequest, BearerToken
from agents.api.problems import ProblemOut
from agents.core.viewer import Viewer
from agents.db import in_db
from agents.models import Agent, ApiToken
from memory import exports, superseding
from memory.models import Scope, WalEntry

router = Router(auth=BearerToken(ApiToken.Scope.CHAT), tags=["memory"])

_PROBLEMS: Final[Mapping[int, type[ProblemOut]]] = {
    status: ProblemOut for status in (401, 403, 404, 422, 503)
}


class FactOut(Schema):
    """One fact that is kept of you and holds."""

    id: int
    category: str
    text: str
    value: str = Field(description="What it is about, without the words around it; may be empty.")
    source: str = Field(description="What it was noted from, such as message:12.")
    noted_at: datetime
    is_by_model: bool = Field(
        description="Whether a model found it in your words, after it answered them."
    )
    mentions: int = Field(description="How often you said it.")
    last_said_at: datetime | None


class FactsOut(Schema):
    """A page of facts, the newest first."""

    items: list[FactOut]
    before_id: int | None = Field(description="Send it for the next page; null at the end.")


class ExportOut(Schema):
    """Your memory as files: names and texts."""

    files: dict[str, str]


@router.get(
    "/agents/{agent_id}/memory/facts",
    response={200: FactsOut, **_PROBLEMS},
    url_name="own_facts",
)
async def list_facts(
    request: ApiRequest,
    agent_id: UUID,
    before_id: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
) -> FactsOut:
    """Read what an agent has noted of you and what still holds."""
    return await in_db(_facts, request.auth, agent_id, before_id, limit)


@router.delete(
    "/agents/{agent_id}/memory/facts/{fact_id}",
    response={204: None, **_PROBLEMS},
    url_name="own_fact",
)
async def forget_fact(request: ApiRequest, agent_id: UUID, fact_id: int) -> HttpResponse:
    """Let an agent forget one fact about you; forgetting it again changes nothing."""
    await in_db(_forget, request.auth, agent_id, fact_id)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


@router.get(
    "/agents/{agent_id}/memory/export",
    response={200: ExportOut, **_PROBLEMS},
    url_name="own_memory",
)
async def export_memory(
    request: ApiRequest,
    agent_id: UUID,
    preset: Annotated[
        Literal["default", "qanot"], Query(description="`qanot`: headings without the offset.")
    ] = "default",
) -> ExportOut:
    """Export all that you may see of an agent's memory, as its files."""
    return await in_db(_export, request.auth, agent_id, preset)


def _facts(token: ApiToken, agent_id: UUID, before: int | None, limit: int) -> FactsOut:
    rows = _own(token, _agent(token, agent_id)).filter(superseding.HOLDS, superseding.TRUSTED)
    rows = rows.exclude(category=WalEntry.Category.FORGET)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    page = list(rows.order_by("-pk")[: limit + 1])
    shown = page[:limit]
    return FactsOut(
        items=[_fact(row) for row in shown],
        before_id=shown[-1].pk if len(page) > limit else None,
    )


def _fact(row: WalEntry) -> FactOut:
    return FactOut(
        id=row.pk,
        category=row.category,
        text=row.text,
        value=row.value,
        source=row.source,
        noted_at=row.created_at,
        is_by_model=row.is_by_model,
        mentions=row.mentions,
        last_said_at=row.last_said_at,
    )


def _forget(token: ApiToken, agent_id: UUID, fact_id: int) -> None:
    agent = _agent(token, agent_id)
    row = _own(token, agent).filter(pk=fact_id).first()
    if row is None:
        raise foreign.missing(
            token,
            _("There is no such fact."),
            what=f"fact:{fact_id}",
            others=WalEntry.objects.filter(pk=fact_id),
        )
    superseding.forget(row, by=None, actor=f"person:{token.person_id}", at=timezone.now())


def _export(token: ApiToken, agent_id: UUID, preset: Literal["default", "qanot"]) -> ExportOut:
    agent = _agent(token, agent_id)
    viewer = Viewer(token.team_id, agent.pk, person_id=token.person_id, is_private=True)
    return ExportOut(files=exports.export(viewer, preset=preset))


def _own(token: ApiToken, agent: Agent) -> QuerySet[Any]:
    """Return what lies in the person's own part; what is shared is not theirs to forget."""
    return WalEntry.objects.filter(
        team_id=token.team_id, scope=Scope.PERSON, agent=agent, person_id=token.person_id
    )


def _agent(token: ApiToken, agent_id: UUID) -> Agent:
    """Return one of the team's living agents.

    Raises:
        Problem: There is none; another team's looks the same.
    """
    agent = Agent.objects.filter(
        public_id=agent_id, team_id=token.team_id, archived_at=None
    ).first()
    if agent is None:
        raise foreign.missing(
            token,
            _("There is no such agent."),
            what=f"agent:{agent_id}",
            others=Agent.objects.filter(public_id=agent_id).exclude(team_id=token.team_id),
        )
    return agent

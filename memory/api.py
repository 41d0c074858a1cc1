"""Search over REST: a token's person looks into what an agent remembers for them (docs/api.md)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final
from uuid import UUID

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
from memory.index.terms import QUERY_CHARACTERS
from memory.models import Passage
from memory.policy import searched_days
from memory.search import search

router = Router(auth=BearerToken(ApiToken.Scope.CHAT), tags=["memory"])

_PROBLEMS: Final[Mapping[int, type[ProblemOut]]] = {
    status: ProblemOut for status in (401, 403, 404, 422, 503)
}


class FoundOut(Schema):
    """One thing that fits."""

    id: str
    file: str
    line: int | None
    content: str
    score: float
    why: dict[str, float] = Field(description="What each feature gave to the score.")
    source: str = Field(description="What it is made of, such as turn:81.")
    at: datetime
    kind: str = Field(description="exchange, fact or document.")
    author: str = ""
    also: list[str] = Field(default=[], description="Ids of others that say the same.")
    newer: str = Field(default="", description="Id of a later one by which this seems outdated.")


class SearchOut(Schema):
    """What was found, the best first, and what is to be said of the search itself."""

    items: list[FoundOut]
    notes: list[str]


@router.get("/memory/search", response={200: SearchOut, **_PROBLEMS}, url_name="memory_search")
async def search_memory(
    request: ApiRequest,
    agent: Annotated[UUID, Query(description="The agent whose memory is searched.")],
    query: Annotated[str, Query(min_length=1, max_length=QUERY_CHARACTERS)],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    kind: Annotated[
        list[Passage.Kind] | None,
        Query(
            description="exchange, fact, document; several may be given. Uploaded documents are "
            "found only where `document` is."
        ),
    ] = None,
) -> SearchOut:
    """Search in what an agent remembers for you, by word and by meaning."""
    return await in_db(_search, request.auth, agent, query, limit, kind)


def _search(
    token: ApiToken, agent_id: UUID, query: str, limit: int, kinds: list[Passage.Kind] | None
) -> SearchOut:
    agent = _agent(token, agent_id)
    viewer = Viewer(token.team_id, agent.pk, person_id=token.person_id, is_private=True)
    result = search(
        viewer,
        query,
        now=timezone.now(),
        limit=limit,
        kinds=kinds or None,
        notes_days=searched_days(agent),
    )
    return SearchOut(
        items=[FoundOut.model_validate(hit.as_json()) for hit in result.found],
        notes=[str(note) for note in result.notes],
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

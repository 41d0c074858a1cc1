"""What a viewer may see, asked through the ORM and through hand-written statements."""

from dataclasses import fields
from datetime import datetime

import pytest

from agents import sql
from agents.core.viewer import Viewer
from agents.models import Team
from memory.models import VISIBLE_SQL, Origin, Scope, WalEntry, scope_of, visible_values
from tests.memory.conftest import Scene

pytestmark = pytest.mark.django_db


def viewers(scene: Scene) -> list[Viewer]:
    values = [getattr(scene, field.name) for field in fields(scene)]
    return [value for value in values if isinstance(value, Viewer)]


def test_statement_by_hand_shows_each_viewer_what_the_orm_shows(
    scene: Scene, noon: datetime
) -> None:
    shown = viewers(scene)
    scopes = [scope_of(viewer) for viewer in shown if viewer.is_private and viewer.person_id]
    scopes.append(scope_of(scene.group))
    for team, agent_id in {(viewer.team_id, viewer.agent_id) for viewer in shown}:
        scopes.append({"team_id": team, "agent_id": agent_id, "scope": Scope.AGENT})
    scopes += [{"team_id": team.pk, "scope": Scope.TEAM} for team in Team.objects.all()]
    for number, scope in enumerate(scopes):
        WalEntry.objects.create(
            **scope,
            category=WalEntry.Category.REMEMBER,
            text=str(number),
            is_durable=False,
            origin=Origin.PERSON,
            source=f"message:{number}",
            thread="session:1/1",
            created_at=noon,
        )
    seen = []
    for viewer in shown:
        by_orm = set(WalEntry.objects.visible_to(viewer).values_list("pk", flat=True))
        statement = f"SELECT id FROM memory_walentry WHERE {VISIBLE_SQL}"  # noqa: S608 — a constant
        assert {pk for (pk,) in sql.fetch(statement, visible_values(viewer))} == by_orm
        seen.append(by_orm)
    assert len({frozenset(ids) for ids in seen}) == len(shown)
    assert all(len(ids) < len(scopes) for ids in seen)

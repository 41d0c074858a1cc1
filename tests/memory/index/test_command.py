"""`memory index`: the figures, and a new index while one watches."""

import io

import pytest
from django.core.management import CommandError, call_command

from memory.index import scopes
from memory.models import MemorySettings
from tests import factories
from tests.memory.index.conftest import Corner


def run(*arguments: str) -> str:
    said = io.StringIO()
    call_command("memory", "index", *arguments, stdout=said)
    return said.getvalue()


def test_index_is_rebuilt_and_its_figures_shown(corner: Corner) -> None:
    factories.memory_settings(team=corner.person.team, embedder=MemorySettings.Embedder.NONE)
    corner.say("The gate is green", "It is, indeed")
    before = scopes.visible(corner.viewer).version_id
    assert "words only" in run()
    assert "the new index is in use" in run("--rebuild", "--team", corner.person.team.slug)
    assert scopes.visible(corner.viewer).version_id != before
    assert corner.exact("gate")


def test_unknown_team_is_said(db: None) -> None:
    with pytest.raises(CommandError, match="no team"):
        run("--team", "nobody")

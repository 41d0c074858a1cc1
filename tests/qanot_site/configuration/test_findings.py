"""What the doctor says of rows that a file owns."""

from pathlib import Path

import pytest

from agents.models import Agent
from agents.services import managed
from qanot_site.findings.files import drift
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def test_drift_of_rows_and_of_files_is_found(tmp_path: Path) -> None:
    file = tmp_path / "q.toml"
    file.write_text("a = 1", encoding="utf-8")
    agent, account = factories.agent(name="Bee"), factories.provider_account(name="Claude")
    digests = {str(file): managed.digest(file.read_bytes())}
    for row in (agent, account):
        managed.put_mark(row, file="q.toml", files=digests, now=NOON)
    factories.agent(name="Nobody's")
    assert list(drift()) == []

    Agent.objects.update(name="Wasp")
    found = [(finding.code, finding.subject, finding.text) for finding in drift()]
    assert found == [("files.drift", "Wasp", "Changed since q.toml was applied: name.")]

    Agent.objects.update(name="Bee")
    file.write_text("a = 2", encoding="utf-8")
    assert [(finding.code, finding.subject) for finding in drift()] == [
        ("files.waiting", "Bee"),
        ("files.waiting", "Claude"),
    ]

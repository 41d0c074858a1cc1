"""Files and what they are called."""

import hashlib

import pytest

from agents.services import files
from agents.services.files import MAX_BYTES, FileTooLarge
from tests import factories


@pytest.mark.django_db
def test_a_file_is_kept_with_its_facts_and_under_a_name_of_our_own() -> None:
    team = factories.team()
    kept = files.store(
        b"a,b", name="../../etc/plan.csv", media_type="text/csv", team_id=team.pk, origin="turn:1"
    )
    kept.refresh_from_db()
    assert (kept.name, kept.size_bytes, kept.media_type) == ("plan.csv", 3, "text/csv")
    assert kept.sha256 == hashlib.sha256(b"a,b").hexdigest()
    assert "plan" not in kept.content.name
    assert files.read(kept) == b"a,b"


@pytest.mark.django_db
def test_too_large_a_file_leaves_nothing() -> None:
    team = factories.team()
    with pytest.raises(FileTooLarge):
        files.store(b"0" * (MAX_BYTES + 1), name="a", media_type="", team_id=team.pk, origin="")
    assert not team.files.exists()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("C:\\Users\\me\\report.pdf", "report.pdf"),
        ("a\u202egpj.exe", "a gpj.exe"),
        ("..", "file"),
        ("", "file"),
        ("x" * 300 + ".txt", "x" * 116 + ".txt"),
        ("x" * 300, "x" * 120),
    ],
)
def test_names_are_bounded_and_plain(given: str, expected: str) -> None:
    assert files.clean_name(given) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("notes.MD", "text/markdown"),
        ("a.py", "text/x-python"),
        ("b.json", "application/json"),
        ("c.pdf", None),
        ("d", None),
    ],
)
def test_endings_tell_text(name: str, expected: str | None) -> None:
    assert files.text_type_of(name) == expected

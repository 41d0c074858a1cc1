"""Whose own part of memory may be shown where."""

import pytest

from agents.core.viewer import Viewer


@pytest.mark.parametrize(
    ("viewer", "sees"),
    [
        (Viewer(1, 1, person_id=7, is_private=True), True),
        (Viewer(1, 1, person_id=7, chat_id=3), False),
        (Viewer(1, 1, is_private=True), False),
        (Viewer(1, 1), False),
    ],
    ids=["in private", "in a group", "unknown person", "unknown"],
)
def test_a_persons_own_part_is_shown_to_them_alone(viewer: Viewer, sees: bool) -> None:
    assert viewer.sees_person is sees

"""What people are shown in the place of a tool's name."""

from django.utils import translation

from agents.tools import registry
from sessions import tool_words


def test_every_tool_has_a_label() -> None:
    assert tool_words.labels().keys() == set(registry.names())


def test_labels_come_in_the_readers_language() -> None:
    with translation.override("uz"):
        assert tool_words.labels()["current_time"] == "sana va vaqt"

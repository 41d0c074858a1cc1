"""A finished turn's answer as channels send it that have no page of their own."""

from dataclasses import dataclass

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext

from agents import sql
from agents.core.loop import PARAGRAPH
from agents.core.messages import load_reply
from sessions import notices
from sessions.models import Outgoing, Turn

_TEXTS = """
    SELECT c.text FROM bot_sessions_transcriptentry e
    JOIN bot_sessions_content c ON c.id = e.content_id
    WHERE e.turn_id = %s AND e.role = 'assistant' AND c.erased_at IS NULL ORDER BY e.id
"""
# Of whoever asked last: in a group several people talk.
_LANGUAGES = """
    SELECT p.language FROM bot_sessions_inboundmessage m
    JOIN agents_person p ON p.id = m.person_id
    WHERE m.turn_id = %s ORDER BY m.id DESC LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn says.

    Args:
        markdown: The model's words.
        notice: The platform's own, in its person's language; empty where it has none.
        again: What marks a part that may have been sent before, in the same language.
    """

    markdown: str
    notice: str
    again: str


def answer_of(turn: Turn) -> Answer:
    """Return a finished turn's answer; somebody is always told something."""
    said = [load_reply(text).message.text for (text,) in sql.fetch(_TEXTS, [turn.pk])]
    markdown = PARAGRAPH.join(text.strip() for text in said if text.strip())
    with translation.override(language_of(turn)):
        return Answer(markdown, _notice(turn, has_text=bool(markdown)), marked_again())


def language_of(turn: Turn) -> str:
    """Return the language in which the platform speaks about a turn."""
    found = sql.fetch(_LANGUAGES, [turn.pk])
    agent = turn.session.agent
    return (found and found[0][0]) or agent.language or settings.LANGUAGE_CODE


def language_of_row(outgoing: Outgoing) -> str:
    """Return the language of whoever a notice or file goes to, as far as that is known."""
    person = outgoing.session.person if outgoing.session is not None else None
    return (person.language if person is not None else "") or settings.LANGUAGE_CODE


def marked_again() -> str:
    """Return what marks a part that may have been sent before, in the active language."""
    return gettext("(sent again)")


def _notice(turn: Turn, *, has_text: bool) -> str:
    if turn.notice is not None or turn.state == Turn.State.FAILED:
        return notices.text_of(turn.notice)
    if turn.state == Turn.State.STOPPED:
        return gettext("Stopped.")
    return "" if has_text else gettext("I have nothing to say to this.")

"""Personas to begin with: a template's texts in each language, read from ``agents/texts``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, AgentDocument, User
from agents.services import documents, ritual

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

FOLDER: Final = Path(__file__).resolve().parent.parent / "texts"
# In every template, unless it has one of its own.
SHARED: Final = "shared"
LANGUAGES: Final = ("en", "uz", "ru", "tr", "pl")
FIRST: Final = "assistant"


@dataclass(frozen=True, slots=True)
class Template:
    """A persona that a team may begin with.

    Args:
        name: Its folder.
    """

    name: str
    title: "_StrPromise"
    summary: "_StrPromise"


_TEMPLATES: Final = (
    Template(
        FIRST,
        _("Assistant"),
        _("Helps a team with whatever comes up. Warm, exact and brief."),
    ),
    Template(
        "secretary",
        _("Secretary"),
        _("Writes letters and minutes, and keeps decisions and open points at hand."),
    ),
    Template(
        "faq",
        _("Answers to questions"),
        _("Answers only from texts that you write down, and says so when there is no answer."),
    ),
    Template(
        "standup",
        _("Stand-up"),
        _("Asks the three questions of a daily stand-up and writes the report."),
    ),
    Template(
        "triage",
        _("Triage"),
        _("Sorts questions, faults and wishes, and writes tickets with all that is needed."),
    ),
)


def templates() -> tuple[Template, ...]:
    """Return the templates, in the order in which they are offered."""
    return _TEMPLATES


@cache
def texts(template: str, language: str) -> Mapping[str, str]:
    """Return a template's documents by name, in a language; English where it has none of it.

    Raises:
        ValueError: There is no such template.
    """
    if template not in {known.name for known in _TEMPLATES}:
        raise ValueError(f"there is no template {template!r}")
    spoken = language if language in LANGUAGES else LANGUAGES[0]
    found = {
        file.name: file.read_text(encoding="utf-8")
        for folder in (SHARED, template)
        for file in sorted((FOLDER / folder / spoken).glob("*.md"))
    }
    return MappingProxyType(found)


@transaction.atomic
def apply_template(
    agent: Agent, template: str, language: str, author: User | None
) -> tuple[str, ...]:
    """Give an agent a template's texts, each as a new version; its other documents stay.

    An agent that has a persona already and no BOOTSTRAP.md gets none: it is introduced.

    Args:
        author: Who chose it; None for the platform.

    Returns:
        The names of the documents that changed.

    Raises:
        ValueError: There is no such template.
    """
    stored = {row.name: row for row in AgentDocument.objects.filter(agent=agent, person=None)}
    changed = []
    for name, text in texts(template, language).items():
        if name == ritual.DOCUMENT and stored and name not in stored:
            continue
        document = stored.get(name) or AgentDocument(agent=agent, name=name)
        if documents.save(document, text=text, author=author, reason=_reason(template)):
            changed.append(name)
    return tuple(changed)


def _reason(template: str) -> str:
    title = next(known.title for known in _TEMPLATES if known.name == template)
    return gettext("Template: %(title)s") % {"title": title}

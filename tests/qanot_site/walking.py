"""What there is to walk: every address, with values for what it asks for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from django.contrib import admin
from django.db import models
from django.urls import URLPattern, URLResolver, get_resolver

from agents.models import Agent, File
from memory.models import UploadedDocument, WalEntry
from sessions.models import Attachment, ChatSession, Turn
from tests.qanot_site import admin_scene
from tests.qanot_site.admin_scene import Side

# Stands in every text and name of the other team, and nowhere else.
CANARY: Final = "zqcanary"
# What an address takes that is no row.
_WORDS: Final[Mapping[str, str]] = {
    "token": "no-such-token",
    "content_type_id": "1",
    "url": "nowhere/at/all/",
    "app_label": "agents",
    "name": "SOUL.md",
}
_STANDARD: Final = re.compile(r"_(changelist|add|history|delete|change)$")


@dataclass(frozen=True, slots=True)
class Step:
    """One address.

    Args:
        name: Of the address; empty where it has none.
        model: Whose admin page it belongs to.
        takes_row: Whether it names a row, rather than a list or a word.
    """

    name: str
    path: str
    model: type[models.Model] | None
    takes_row: bool

    @property
    def is_standard(self) -> bool:
        """Return whether it is one of Django's five pages of a model."""
        return bool(_STANDARD.search(self.name))


class Unknown(AssertionError):
    """An address asks for something of which the walk has no example."""


def build_theirs(name: str = CANARY) -> Side:
    """Store the other team, the canary in all that people wrote and named."""
    before = admin_scene.PRIVATE, admin_scene.SHARED
    admin_scene.PRIVATE, admin_scene.SHARED = f"{CANARY}-private", f"{CANARY}-shared"
    try:
        return admin_scene.build_side(name)
    finally:
        admin_scene.PRIVATE, admin_scene.SHARED = before


def steps(side: Side) -> Iterator[Step]:
    """Yield every address of the site, with rows of one team.

    Raises:
        Unknown: One asks for something new; say here what that is.
    """
    for route, name, pattern in _patterns(get_resolver().url_patterns):
        if route.startswith("api/"):
            continue  # walked by its own description
        model = _model_of(route)
        parameters = _parameters(route, pattern)
        values = {each: value_of(each, route, model, side) for each in parameters}
        takes_row = any(each not in _WORDS for each in parameters)
        yield Step(name, f"/{_filled(route, values)}", model, takes_row)


def value_of(parameter: str, route: str, model: type[models.Model] | None, side: Side) -> str:
    """Return an example of what an address asks for, of one team.

    Raises:
        Unknown: There is none.
    """
    if parameter in _WORDS:
        return _WORDS[parameter]
    if model is not None and parameter in {"pk", "object_id", "id", f"{_short(model)}_id"}:
        return str(row_of(model, side).pk)
    if parameter == "conversation":
        return str(private_session(side).public_id)
    if parameter == "file":
        return str(private_file(side).public_id)
    if parameter == "object_id":
        return str(side.one(Agent).pk)
    raise Unknown(f"“{route}” asks for “{parameter}”, of which the walk has no example")


def api_value(parameter: str, side: Side) -> str:
    """Return an example of what an API's operation asks for.

    Raises:
        Unknown: There is none.
    """
    session = private_session(side)
    known = {
        "agent_id": side.one(Agent).public_id,
        "conversation_id": session.public_id,
        "turn_id": Turn.objects.filter(session=session).latest("pk").public_id,
        "name": "SOUL.md",
        "document_id": next(row.public_id for row in side.rows[UploadedDocument] if row.person_id),
        "file_id": private_file(side).public_id,
        "fact_id": next(row.pk for row in side.rows[WalEntry] if row.person_id),
    }
    if parameter not in known:
        raise Unknown(f"an operation asks for “{parameter}”, of which the walk has no example")
    return str(known[parameter])


def frame_value(field: str, side: Side) -> Any:
    """Return an example of what a frame of the chat's socket has.

    Raises:
        Unknown: There is none.
    """
    session = private_session(side)
    turn = Turn.objects.filter(session=session).latest("pk")
    known: dict[str, Any] = {
        "conversation": session.public_id,
        "before": turn.public_id,
        "turn": turn.public_id,
        "message": turn.messages.get().public_id,
        "agent": side.one(Agent).public_id,
        "thread": uuid4(),
        "key": uuid4().hex,
        "text": "Hello",
        "files": [private_file(side).public_id],
        "title": "Mine",
        "fact": "A fact",
        "query": "a",
        "archived": True,
        "after": "0-0",
    }
    if field not in known:
        raise Unknown(f"a frame has the field “{field}”, of which the walk has no example")
    return known[field]


def private_session(side: Side) -> ChatSession:
    """Return the team's conversation with one person."""
    found: ChatSession = next(row for row in side.rows[ChatSession] if row.person_id)
    return found


def private_file(side: Side) -> File:
    """Return a file of the team's conversation with one person."""
    session = private_session(side)
    found: File = next(
        row.file for row in side.rows[Attachment] if row.message.session_id == session.pk
    )
    return found


def row_of(model: type[models.Model], side: Side) -> models.Model:
    """Return a row of a model; of those of the whole deployment, one that nobody made."""
    if model in side.rows:
        found: models.Model = side.one(model)
        return found
    return model(pk=1)


def _short(model: type[models.Model]) -> str:
    return str(model._meta.model_name)


def _patterns(
    patterns: list[URLPattern | URLResolver], route: str = "", namespace: str = ""
) -> Iterator[tuple[str, str, URLPattern]]:
    for each in patterns:
        here = route + str(each.pattern)
        if isinstance(each, URLResolver):
            inside = f"{namespace}{each.namespace}:" if each.namespace else namespace
            yield from _patterns(each.url_patterns, here, inside)
        else:
            yield here, f"{namespace}{each.name or ''}", each


def _parameters(route: str, pattern: URLPattern) -> list[str]:
    converters = list(getattr(pattern.pattern, "converters", {}))
    groups = list(getattr(getattr(pattern.pattern, "regex", None), "groupindex", {}))
    return [each for each in (converters or groups) if each in route]


def _filled(route: str, values: Mapping[str, str]) -> str:
    path = route.replace("^", "").replace("$", "")
    for name, value in values.items():
        path = re.sub(rf"<(\w+:)?{name}>", value, path)
        path = re.sub(rf"\(\?P<{name}>[^)]*\)", value, path)
    return path


def _model_of(route: str) -> type[models.Model] | None:
    parts = route.split("/")
    for model in admin.site._registry:
        meta = model._meta
        if parts[:3] == ["admin", meta.app_label, meta.model_name]:
            return model
    return None

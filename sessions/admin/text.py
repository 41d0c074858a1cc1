"""Text of conversations in the admin: who reads it, and how it is shown."""

import json
from datetime import datetime
from typing import Any, ClassVar

from django.contrib import admin
from django.db import models
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from agents.admin import links
from agents.admin.base import yes_or_dash
from agents.admin.privacy import PrivateText, belongs_to_user
from agents.core.messages import load_reply
from sessions.models import ChatSession, TurnStep


class ConversationText(PrivateText):
    """Text of a conversation: a group's for the team, a person's for that person."""

    text_path = "content__text"
    session_path: ClassVar[str] = ""

    def whose(self) -> str:
        """Return the lookup that leads to the conversation's person."""
        return f"{self.session_path}person"

    def readable(self, request: HttpRequest) -> models.Q:
        is_group = models.Q(**{f"{self.session_path}kind": ChatSession.Kind.GROUP})
        return is_group | belongs_to_user(request, self.whose())

    # Words for flags that are seldom set: Django's red cross would look like a fault.
    @admin.display(description=_("error"), ordering="is_error")
    def failed(self, row: Any) -> str:
        return yes_or_dash(row.is_error)

    @admin.display(description=_("stopped early"), ordering="is_partial")
    def stopped_early(self, row: Any) -> str:
        return yes_or_dash(row.is_partial)


def count(model: type[models.Model], to_row: str) -> Coalesce:
    """Count the rows that point at a row, without joining them to it."""
    rows = model._default_manager.filter(**{to_row: models.OuterRef("pk")}).order_by()
    counted = rows.values(to_row).annotate(n=models.Count("pk")).values("n")
    return Coalesce(models.Subquery(counted), 0, output_field=models.IntegerField())


def session_link(session: ChatSession) -> str:
    # By number: a direct conversation's title is its person's own words.
    return links.to_row(ChatSession, session.pk, f"session:{session.pk}")


def _reply_text(stored: str) -> str:
    """Return a stored reply as one reads it, its tool calls below the text."""
    message = load_reply(stored).message
    calls = [
        f"→ {call.name} {json.dumps(call.arguments, ensure_ascii=False)}"
        for call in message.tool_calls
    ]
    return "\n\n".join(part for part in (message.text, *calls) if part)


def as_told(text: str, *, is_reply: bool) -> str:
    """Return a content's text as people read it; the stored form where it is none we know."""
    if not is_reply:
        return text
    try:
        return _reply_text(text)
    except (ValueError, ValidationError):
        return text


def seconds(step: TurnStep) -> str:
    if step.finished_at is None:
        return "–"
    return f"{(step.finished_at - step.started_at).total_seconds():.2f}"


def elapsed(start: datetime, end: datetime) -> str:
    milliseconds = round((end - start).total_seconds() * 1000)
    return f"{milliseconds} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:.1f} s"


def clock(at: datetime) -> str:
    return date_format(localtime(at), "Y-m-d H:i:s")

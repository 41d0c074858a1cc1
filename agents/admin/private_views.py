"""Each look at somebody else's private text is written down before the text is sent.

Only the holders of ``Membership.may_view_private`` see such texts at all (``privacy``).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from agents.admin.auditing import actor
from agents.admin.privacy import PrivateText
from agents.services import audit

ACTION = "private.viewed"


def note_page(request: HttpRequest, row: Any, context: Mapping[str, Any]) -> None:
    """Note what a row's page shows, and what its inlines do of other people."""
    subject = audit.subject_of(row)
    noted = set()
    if _is_others(row):
        noted.add((row.private_team, row.private_person))
        note(request, subject=subject, team_id=row.private_team, person_id=row.private_person)
    for inline in context.get("inline_admin_formsets", ()):
        page = inline.opts
        if isinstance(page, PrivateText) and page.shows_text(page.fields or ()):
            rows = (form.instance for form in inline.formset.forms)
            _note_rows(request, rows, subject, noted)


def note_list(request: HttpRequest, page: object, response: HttpResponse) -> None:
    """Note what a list shows of people's texts."""
    shown = (getattr(response, "context_data", None) or {}).get("cl")
    if shown is None or not isinstance(page, PrivateText):
        return
    if page.shows_text(shown.list_display):
        _note_rows(request, shown.result_list, f"{audit.noun_of(shown.model)}:list")


def note(
    request: HttpRequest,
    *,
    subject: str,
    team_id: int,
    person_id: int | None,
    rows: Iterable[int] = (),
) -> None:
    """Write one look into the log, under the person whose text it was.

    Args:
        subject: What was looked at.
        rows: Keys of the rows whose text was shown, where they were several.
    """
    shown = list(rows)
    audit.record(
        team_id=team_id,
        actor=actor(request),
        action=ACTION,
        subject=subject,
        reason=f"person:{person_id}" if person_id else "",
        changes={"rows": [None, list(shown)]} if shown else None,
    )


def _note_rows(
    request: HttpRequest,
    rows: Iterable[Any],
    subject: str,
    noted: Collection[tuple[int, int | None]] = (),
) -> None:
    seen: dict[tuple[int, int | None], list[int]] = defaultdict(list)
    for row in rows:
        if _is_others(row) and (row.private_team, row.private_person) not in noted:
            seen[row.private_team, row.private_person].append(row.pk)
    for (team_id, person_id), keys in seen.items():
        note(request, subject=subject, team_id=team_id, person_id=person_id, rows=keys)


def _is_others(row: Any) -> bool:
    return bool(getattr(row, "is_others", False))

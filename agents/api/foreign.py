"""What is not the caller's does not exist for them, and that they asked is written down."""

from http import HTTPStatus

from django.db import models
from django.utils.functional import Promise

from agents.api.problems import Problem
from agents.models import ApiToken
from agents.services import audit

ACTION = "api.foreign_id"


def missing(
    token: ApiToken,
    detail: "str | Promise",
    *,
    what: str,
    others: "models.QuerySet[models.Model] | None",
) -> Problem:
    """Return the problem to raise for an id that is none of the caller's.

    Call it outside of a transaction that the problem would roll back.

    Args:
        what: The id as it was sent, ``agent:0190…``.
        others: The row of that id, wherever it may be; where there is one, somebody tried to
            reach what is not theirs, and their team's log says so. None where it says so in
            either case, as for names: they are guessed, and the log would tell which exist.
    """
    if others is None or others.exists():
        audit.record(
            team_id=token.team_id,
            actor=token.person.user or f"person:{token.person_id}",
            action=ACTION,
            subject=what,
            reason=f"token:{token.pk} · {token}",
        )
    return Problem(HTTPStatus.NOT_FOUND, "not_found", detail)

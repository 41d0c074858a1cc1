"""Tokens that let a program act for a person: shown once, kept as a digest."""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agents.models import ApiToken, Membership, Person, Team, User
from agents.services import audit

SECRET_PREFIX: Final = "qanot_"  # noqa: S105 — the part that all share
SHOWN_CHARACTERS: Final = len(SECRET_PREFIX) + 6
# Writing each use would cost every request a commit.
LAST_USED_STEP: Final = timedelta(minutes=1)


@transaction.atomic
def issue(
    *,
    team: Team,
    person: Person,
    name: str,
    scopes: Sequence[ApiToken.Scope],
    expires_at: datetime | None = None,
    by: User | str = audit.PLATFORM,
) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which nobody can read again.

    Args:
        by: Who makes it, for the audit log.

    Raises:
        ValueError: The person belongs to another team.
    """
    if person.team_id != team.pk:
        raise ValueError("a token acts for a person of its own team")
    # 256 random bits: guessing is hopeless, so a fast digest without salt is enough.
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        team=team,
        person=person,
        name=name,
        prefix=secret[:SHOWN_CHARACTERS],
        digest=_digest(secret),
        scopes=list(scopes),
        expires_at=expires_at,
    )
    audit.record(
        team_id=team.pk,
        actor=by,
        action="token.made",
        subject=audit.subject_of(token),
        reason=f"person:{person.pk}",
        changes=audit.changes_between(None, token, ("name", "scopes", "expires_at")),
    )
    return token, secret


def verify(secret: str) -> ApiToken | None:
    """Return the token of a secret, its person and team loaded; None where it may not be used.

    It may not once it is revoked or expired, its team or person archived, or its person's login
    switched off or no longer of the team.
    """
    if not secret.startswith(SECRET_PREFIX):
        return None
    now = timezone.now()
    token = (
        ApiToken.objects.select_related("person__user", "team")
        .filter(digest=_digest(secret))
        .first()
    )
    # Every request passes here: decided in Python, this costs a third of the same as one query.
    if token is None or not (_is_good(token, now) and _may_act(token.person)):
        return None
    _note_use(token, now)
    return token


@transaction.atomic
def revoke(token: ApiToken, *, by: User | str = audit.PLATFORM) -> None:
    """End a token for good; the first time counts."""
    now = timezone.now()
    if not ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
        return
    token.revoked_at = now
    audit.record(
        team_id=token.team_id,
        actor=by,
        action="token.revoked",
        subject=audit.subject_of(token),
        reason=f"{token} · person:{token.person_id}",
    )


def _is_good(token: ApiToken, now: datetime) -> bool:
    is_expired = token.expires_at is not None and token.expires_at <= now
    return token.revoked_at is None and not is_expired and token.team.archived_at is None


def _may_act(person: Person) -> bool:
    if person.archived_at is not None or person.merged_into_id is not None:
        return False
    user = person.user
    if user is None or (user.is_active and user.is_superuser):
        return True
    return (
        user.is_active
        and Membership.objects.filter(user_id=user.pk, team_id=person.team_id).exists()
    )


def _note_use(token: ApiToken, now: datetime) -> None:
    if token.last_used_at is not None and now - token.last_used_at < LAST_USED_STEP:
        return
    token.last_used_at = now
    ApiToken.objects.filter(
        Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_STEP), pk=token.pk
    ).update(last_used_at=now)


def _digest(secret: str) -> str:
    # Whatever bytes a client sends, an unknown secret is just unknown.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

"""Where users are logged in, and how such a log-in ends."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from agents.models import LoginRecord, User
from agents.services import audit

# How long one can look up where somebody was logged in.
KEPT: Final = timedelta(days=90)


@transaction.atomic
def note(user: User, *, session_key: str, address: str | None, browser: str) -> LoginRecord:
    """Write down that a user logged in; the same log-in of the same user once.

    Args:
        session_key: Of the login session, by which it can be ended.
        address: Of the visitor, as an IP address.
        browser: What it calls itself.
    """
    tidy()
    known = LoginRecord.objects.filter(session_key=session_key, user=user, ended_at=None).first()
    if known is not None:
        return known
    record = LoginRecord.objects.create(
        user=user, session_key=session_key, address=address, user_agent=browser[:300]
    )
    record_for_teams(user, actor=user, action="login.ok", subject=audit.subject_of(record))
    return record


def note_failure(username: str) -> None:
    """Write down a wrong password of somebody who exists, for the owners of their teams.

    Names that nobody has are counted elsewhere only (django-axes): whoever tries them could fill
    the log, which is kept for ever.
    """
    user = User.objects.filter(username=username).first()
    if user is not None:
        record_for_teams(user, actor="nobody", action="login.failed")


def moved(old_key: str, new_key: str) -> None:
    """Follow a log-in whose session got another key."""
    LoginRecord.objects.filter(session_key=old_key, ended_at=None).update(session_key=new_key)


def open_of(users: Iterable[User] | QuerySet[User]) -> QuerySet[LoginRecord]:
    """Return the log-ins of users that still hold."""
    return LoginRecord.objects.filter(user__in=users, ended_at=None).filter(_holds())


def may_end(by: User, user: User) -> bool:
    """Return whether somebody may end a user's log-ins: their own, or those of their teams' people.

    A superuser's are ended by superusers only.
    """
    if by.pk == user.pk or by.is_superuser:
        return True
    if user.is_superuser:
        return False
    owned = by.memberships.filter(role="owner").values("team")
    return user.memberships.filter(team__in=owned).exists()


@transaction.atomic
def end(records: Iterable[LoginRecord], *, by: User | str) -> int:
    """End log-ins: their sessions are gone with the next request, sockets close within 30 s.

    Returns:
        How many still held.
    """
    count = 0
    for record in records:
        Session.objects.filter(pk=record.session_key).delete()
        if not LoginRecord.objects.filter(pk=record.pk, ended_at=None).update(
            ended_at=timezone.now()
        ):
            continue
        count += 1
        record_for_teams(
            record.user, actor=by, action="login.ended", subject=audit.subject_of(record)
        )
    return count


def end_all(user: User, *, by: User | str, keep: str = "") -> int:
    """End all log-ins of a user but the one of a session key."""
    rows = LoginRecord.objects.filter(user=user, ended_at=None).exclude(session_key=keep)
    return end(rows.select_related("user"), by=by)


def tidy() -> None:
    """Mark those ended whose session is over, and forget what ended long ago.

    Called at each log-in: a platform that nobody enters has nothing to tidy.
    """
    Session.objects.filter(expire_date__lte=Now()).delete()
    LoginRecord.objects.filter(ended_at=None).exclude(_holds()).update(ended_at=Now())
    LoginRecord.objects.filter(ended_at__lt=timezone.now() - KEPT).delete()


def record_for_teams(user: User, *, actor: User | str, action: str, subject: str = "") -> None:
    """Write an act on somebody's login into the log of each of their teams.

    The address of the visitor is not told: it is for the user alone.
    """
    teams: list[int | None] = list(user.memberships.values_list("team_id", flat=True))
    for team_id in teams or [None]:
        audit.record(
            team_id=team_id,
            actor=actor,
            action=action,
            subject=subject or audit.subject_of(user),
            reason=f"{user} · user:{user.pk}",
        )


def _holds() -> Exists:
    return Exists(Session.objects.filter(pk=OuterRef("session_key"), expire_date__gt=Now()))

"""Links for one user, each once: to log in, or to choose a new password."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.password_validation import validate_password
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import LoginLink, Membership, User
from agents.services import logins

LIFETIME = timedelta(hours=24)
Purpose = LoginLink.Purpose


class NotAllowed(Exception):
    """This user may not give that user a new password."""


def issue(user: User) -> str:
    """Return the secret part of a new link that logs in; only its digest is stored."""
    return _issue(user, Purpose.LOGIN, made_by=None)


def may_give_password(by: User, user: User) -> bool:
    """Return whether somebody may let a user choose a new password.

    Whoever makes the link could open it too, and would then be that user. So an owner may only
    where nothing is won by it beyond their own teams: the user is no superuser, belongs to one of
    their teams, and to none that is not theirs. For all others a superuser has to do it.
    """
    if not (by.is_active and user.is_active) or by.pk == user.pk:
        return False
    if by.is_superuser:
        return True
    if user.is_superuser:
        return False
    theirs = set(user.memberships.values_list("team_id", flat=True))
    owned = set(by.memberships.filter(role=Membership.Role.OWNER).values_list("team_id", flat=True))
    return bool(theirs) and theirs <= owned


@transaction.atomic
def issue_password(user: User, *, by: User) -> str:
    """Return the secret part of a link by which a user chooses a new password.

    Earlier ones no longer work.

    Raises:
        NotAllowed: See ``may_give_password``.
    """
    if not may_give_password(by, user):
        raise NotAllowed
    _open_links(user, Purpose.PASSWORD).update(used_at=timezone.now())
    secret = _issue(user, Purpose.PASSWORD, made_by=by)
    logins.record_for_teams(user, actor=by, action="password.link")
    return secret


@transaction.atomic
def redeem(secret: str) -> User | None:
    """Return the user of an unused, unexpired login link and use it up; None for any other."""
    link = _open_link(digest_of(secret), Purpose.LOGIN)
    if link is None:
        return None
    link.used_at = timezone.now()
    link.save(update_fields=["used_at"])
    return link.user


@transaction.atomic
def user_to_choose(digest: str) -> User | None:
    """Return whose new password an unused link lets choose; None where it does not (any more).

    Whether its maker may give it is asked at this moment too: they may have lost their role since,
    or the user have joined another team.
    """
    link = _open_link(digest, Purpose.PASSWORD)
    if link is None or link.made_by is None or not may_give_password(link.made_by, link.user):
        return None
    return link.user


@transaction.atomic
def choose_password(digest: str, password: str) -> User | None:
    """Set the password of a link's user, use the link up and end all the user's log-ins.

    Returns:
        The user; None where the link does not hold (any more).

    Raises:
        ValidationError: The password is too weak; the link still holds.
    """
    user = user_to_choose(digest)
    if user is None:
        return None
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    password_changed(user, by=user)
    return user


@transaction.atomic
def password_changed(user: User, *, by: User | str, keep: str = "") -> None:
    """End what the old password, or somebody who knew it, may have opened.

    Args:
        by: Who changed it.
        keep: The key of the login session in which it was changed.
    """
    LoginLink.objects.filter(user=user, used_at=None).update(used_at=timezone.now())
    logins.record_for_teams(user, actor=by, action="password.changed")
    logins.end_all(user, by=by, keep=keep)


def digest_of(secret: str) -> str:
    """Return what the database keeps of a secret; any text gives one, so an unknown stays so."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _issue(user: User, purpose: LoginLink.Purpose, *, made_by: User | None) -> str:
    # 192 random bits: guessing is hopeless at any speed, so links need no counting of failures
    # and their digest no salt.
    secret = secrets.token_urlsafe(24)
    LoginLink.objects.create(
        user=user,
        purpose=purpose,
        made_by=made_by,
        digest=digest_of(secret),
        expires_at=timezone.now() + LIFETIME,
    )
    return secret


def _open_links(user: User, purpose: LoginLink.Purpose) -> QuerySet[LoginLink]:
    return LoginLink.objects.filter(user=user, purpose=purpose, used_at=None)


def _open_link(digest: str, purpose: LoginLink.Purpose) -> LoginLink | None:
    """Return a link that holds, locked: of two who open it at once, one gets in."""
    return (
        LoginLink.objects.select_for_update(of=("self",))
        .select_related("user", "made_by")
        .filter(
            digest=digest,
            purpose=purpose,
            used_at=None,
            expires_at__gt=timezone.now(),
            user__is_active=True,
        )
        .first()
    )

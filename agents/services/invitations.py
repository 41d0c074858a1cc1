"""Invitations: links by which people join a team, each once."""

import hashlib
import secrets
from datetime import timedelta
from typing import Final, Literal

from django.contrib.auth.password_validation import validate_password
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from agents.models import Invitation, Membership, Person, Team, User
from agents.services import audit, people
from agents.services.memberships import is_owner

SHORTEST: Final = timedelta(hours=1)
USUAL: Final = timedelta(days=3)
LONGEST: Final = timedelta(days=30)

State = Literal["open", "accepted", "revoked", "expired"]


class NotAllowed(Exception):
    """Only owners of a team invite people into it."""


class InvitationOver(Exception):
    """The link was used meanwhile, is too old, or was taken back."""


class NameTaken(Exception):
    """Somebody else got this user name in the same moment."""


@transaction.atomic
def invite(
    *,
    team: Team,
    role: Membership.Role | str,
    by: User,
    note: str = "",
    lifetime: timedelta = USUAL,
) -> tuple[Invitation, str]:
    """Make an invitation and return it with the secret part of its link, shown this once.

    Raises:
        NotAllowed: ``by`` is no owner of the team.
        ValueError: The lifetime is shorter or longer than allowed.
    """
    if not is_owner(by, team.pk):
        raise NotAllowed
    if not SHORTEST <= lifetime <= LONGEST:
        raise ValueError("an invitation holds for an hour at least and for 30 days at most")
    # 192 random bits and one try a request: at a thousand tries a second, finding one of a million
    # open links would take longer than the world has stood. So a digest without salt is enough,
    # and nobody has to be counted or locked out here.
    secret = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        team=team,
        role=Membership.Role(role),
        note=note,
        digest=digest_of(secret),
        created_by=by,
        expires_at=timezone.now() + lifetime,
    )
    audit.record(
        team_id=team.pk,
        actor=by,
        action="invitation.made",
        subject=audit.subject_of(invitation),
        changes=audit.changes_between(None, invitation, ("role", "note", "expires_at")),
    )
    return invitation, secret


def digest_of(secret: str) -> str:
    """Return what the database keeps of a secret; any text gives one, so an unknown stays so."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def found(digest: str) -> Invitation | None:
    """Return the invitation of a digest, whatever its state; None where there is none."""
    return (
        Invitation.objects.select_related("team", "created_by", "accepted_by")
        .filter(digest=digest)
        .first()
    )


def with_backing(rows: QuerySet[Invitation]) -> QuerySet[Invitation]:
    """Return invitations that know whether their makers may still invite, for lists of them."""
    owners = Membership.objects.filter(
        team=OuterRef("team"), user=OuterRef("created_by"), role=Membership.Role.OWNER
    )
    return rows.annotate(
        is_backed=Q(created_by__is_active=True)
        & (Q(created_by__is_superuser=True) | Exists(owners))
    )


def state_of(invitation: Invitation) -> State:
    """Return how an invitation stands.

    It holds as long as whoever made it may invite: with an owner's role go their open links.
    """
    if invitation.accepted_at is not None:
        return "accepted"
    if invitation.revoked_at is not None or invitation.team.archived_at is not None:
        return "revoked"
    if not _is_backed(invitation):
        return "revoked"
    return "expired" if invitation.expires_at <= timezone.now() else "open"


def _is_backed(invitation: Invitation) -> bool:
    known = vars(invitation).get("is_backed")
    if known is not None:
        return bool(known)
    maker = invitation.created_by
    return maker is not None and is_owner(maker, invitation.team_id)


@transaction.atomic
def revoke(invitation: Invitation, *, by: User | str) -> bool:
    """Take an open invitation back; returns whether it was still unused."""
    now = timezone.now()
    rows = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
    if not rows.update(revoked_at=now):
        return False
    audit.record(
        team_id=invitation.team_id,
        actor=by,
        action="invitation.revoked",
        subject=audit.subject_of(invitation),
        reason=invitation.note,
    )
    return True


@transaction.atomic
def accept(digest: str, *, user: User) -> Membership:
    """Make a user a member by an invitation, which is used up by it.

    Who is in the team already keeps their role, and the link stays for whom it was meant.

    Raises:
        InvitationOver: It no longer holds.
    """
    invitation = _locked(digest)
    known = Membership.objects.filter(user=user, team=invitation.team).first()
    return known if known is not None else _join(invitation, user)


@transaction.atomic
def accept_as_new(
    digest: str, *, username: str, display_name: str, password: str, language: str
) -> User:
    """Make a login and a member of it by an invitation, which is used up by it.

    Raises:
        InvitationOver: It no longer holds.
        NameTaken: The user name is somebody's already, in whatever letter case.
        ValidationError: The password is too weak.
    """
    invitation = _locked(digest)
    if User.objects.filter(username__iexact=username).exists():
        raise NameTaken
    user = User(username=username, first_name=display_name[:150], language=language)
    validate_password(password, user)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError as error:
        raise NameTaken from error
    _join(invitation, user, display_name=display_name)
    return user


def _locked(digest: str) -> Invitation:
    """Return an open invitation, held until the transaction ends: of two at once, one joins."""
    invitation = (
        Invitation.objects.select_for_update(of=("self",))
        .select_related("team", "created_by")
        .filter(digest=digest)
        .first()
    )
    if invitation is None or state_of(invitation) != "open":
        raise InvitationOver
    return invitation


def _join(invitation: Invitation, user: User, display_name: str = "") -> Membership:
    membership = Membership.objects.create(user=user, team=invitation.team, role=invitation.role)
    person = people.person_of(user, invitation.team)
    if display_name or person.archived_at is not None:
        # Who comes back finds their conversations again.
        Person.objects.filter(pk=person.pk).update(
            display_name=display_name or person.display_name, archived_at=None
        )
    invitation.accepted_by, invitation.accepted_at = user, timezone.now()
    invitation.save(update_fields=["accepted_by", "accepted_at"])
    audit.record(
        team_id=invitation.team_id,
        actor=user,
        action="invitation.accepted",
        subject=audit.subject_of(invitation),
        reason=f"{user} · user:{user.pk}",
        changes=audit.changes_between(None, membership, ("role",)),
    )
    return membership

"""Links that log a user in, once."""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from agents.models import LoginLink, User

LIFETIME = timedelta(hours=24)


def issue(user: User) -> str:
    """Return the secret part of a new link; only its digest is stored."""
    secret = secrets.token_urlsafe(24)
    LoginLink.objects.create(
        user=user, digest=_digest(secret), expires_at=timezone.now() + LIFETIME
    )
    return secret


@transaction.atomic
def redeem(secret: str) -> User | None:
    """Return the user of an unused, unexpired link and use it up; None for any other."""
    now = timezone.now()
    link = (
        LoginLink.objects.select_for_update(of=("self",))
        .select_related("user")
        .filter(digest=_digest(secret), used_at=None, expires_at__gt=now, user__is_active=True)
        .first()
    )
    if link is None:
        return None
    link.used_at = now
    link.save(update_fields=["used_at"])
    return link.user


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

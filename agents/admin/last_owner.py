"""A team keeps an owner, whoever asks and on whichever page."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.forms import BaseInlineFormSet
from django.utils.translation import gettext

from agents.admin.private_grants import MembershipForm
from agents.models import Membership
from agents.services import memberships
from agents.services.memberships import LastOwner

OWNER = Membership.Role.OWNER


def words(error: LastOwner) -> str:
    """Return what somebody is told who would leave a team without an owner."""
    return gettext("%(team)s needs an owner: make somebody else an owner first.") % {
        "team": error.team
    }


def require_without(rows: Iterable[Membership]) -> None:
    """Make sure that teams keep an owner without these memberships.

    Raises:
        LastOwner: One would lose its last.
    """
    found = list(rows)
    memberships.require_owner_without(
        memberships={row.pk for row in found}, teams={row.team_id for row in found}
    )


@contextmanager
def keeping_an_owner(rows: Iterable[Membership]) -> Iterator[None]:
    """Look once more, with the teams locked until the rows are gone."""
    with transaction.atomic():
        try:
            require_without(rows)
        except LastOwner as error:
            raise PermissionDenied(words(error)) from error
        yield


class OwnerKeepingForm(MembershipForm):
    """A role; the last owner keeps theirs."""

    def clean(self) -> dict[str, Any] | None:
        values: dict[str, Any] | None = super().clean()
        if self.instance.pk and self.cleaned_data.get("role", OWNER) != OWNER:
            try:
                require_without([self.instance])
            except LastOwner as error:
                self.add_error("role", words(error))
        return values


class OwnerKeepingFormSet(BaseInlineFormSet):  # type: ignore[type-arg]  # as inlines take it
    """All roles of a team at once: one owner may follow another in the same moment."""

    def clean(self) -> None:
        super().clean()
        gone = {id(form) for form in self.deleted_forms}
        left = [
            form.instance
            for form in self.initial_forms
            if id(form) in gone or form.cleaned_data.get("role") != OWNER
        ]
        comes = any(
            form.has_changed() and id(form) not in gone and _makes_owner(form.cleaned_data)
            for form in self.forms
        )
        if left and not comes:
            try:
                require_without(left)
            except LastOwner as error:
                raise ValidationError(words(error)) from error


def _makes_owner(values: Mapping[str, Any]) -> bool:
    """Return whether a role makes somebody an owner who can log in."""
    user = values.get("user")
    return values.get("role") == OWNER and user is not None and user.is_active

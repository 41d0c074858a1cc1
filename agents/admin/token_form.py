"""What one fills in to make an API token: for whom it acts, what it may do, and how long."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from agents.admin.base import TeamForm
from agents.models import ApiToken, Person, Team
from agents.services import access, people

# Beyond this a list to choose from is no help.
MOST_PEOPLE: Final = 500
_MYSELF: Final = "me"
_PERSON: Final = "person"


class TokenForm(TeamForm):
    """A new token. Nobody makes one that acts for somebody else who chats themselves."""

    acts_for = forms.ChoiceField(
        label=_("Acts for"),
        widget=UnfoldAdminSelectWidget,
        help_text=_("The program sees and says what this person may."),
    )
    scopes = forms.MultipleChoiceField(
        label=_("May"),
        choices=ApiToken.Scope.choices,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )
    days = forms.ChoiceField(
        label=_("Holds for"),
        choices=(
            ("30", _("30 days")),
            ("90", _("90 days")),
            ("365", _("a year")),
            ("", _("ever, until it is revoked")),
        ),
        required=False,
        widget=UnfoldAdminSelectWidget,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["acts_for"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = list(_choices(self.asker))

    def clean(self) -> dict[str, Any]:
        """Turn the choice into its person, and refuse what could never be used."""
        values: dict[str, Any] = super().clean() or {}
        chosen = values.get("acts_for")
        if not chosen:
            return values
        person = values["acts_for"] = _person(self.asker, chosen)
        if person.user_id is None and ApiToken.Scope.AGENTS_WRITE in values.get("scopes", ()):
            told = _("Only editors and owners change agents; this person has no login.")
            self.add_error("scopes", told)
        return values

    def _post_clean(self) -> None:
        # First: the row's team is that of the person, and related rows are held against it.
        person = self.cleaned_data.get("acts_for")
        if isinstance(person, Person):
            self.instance.person, self.instance.team = person, person.team
        super()._post_clean()

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when the token ends; None where it holds for ever."""
        days = self.cleaned_data["days"]
        return now + timedelta(days=int(days)) if days else None


def _choices(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Yield for whom the asking user may make a token: themselves, and people without a login."""
    teams = list(_teams(request))
    for team in teams:
        name = _("myself") if len(teams) == 1 else _("myself · %(team)s") % {"team": team}
        yield f"{_MYSELF}:{team.pk}", str(name)
    for person in _without_login(request)[:MOST_PEOPLE]:
        name = str(person) if len(teams) == 1 else f"{person} · {person.team}"
        yield f"{_PERSON}:{person.pk}", name


def _person(request: HttpRequest, chosen: str) -> Person:
    """Return a choice's person; the field has refused what is no choice."""
    kind, _separator, key = chosen.partition(":")
    if kind == _PERSON:
        return _without_login(request).get(pk=key)
    user = access.user_of(request)
    return people.person_of(user, _teams(request).get(pk=key))


def _teams(request: HttpRequest) -> QuerySet[Team]:
    rows = Team.objects.filter(archived_at=None).order_by("name")
    teams = access.teams(request, access.READERS)
    return rows if teams is None else rows.filter(pk__in=teams)


def _without_login(request: HttpRequest) -> QuerySet[Person]:
    # Nor known on a channel: a token reads all conversations of its person, and may ask what the
    # agents remember of them, which takes more than being an owner.
    rows = Person.objects.filter(user=None, identities=None, archived_at=None, merged_into=None)
    teams = access.teams(request, access.OWNERS)
    rows = rows.select_related("team").order_by("display_name", "id")
    return rows if teams is None else rows.filter(team__in=teams)

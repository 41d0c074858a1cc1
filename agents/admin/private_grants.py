"""Letting somebody read other people's private texts: owners to others, nobody to themselves."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.admin.base import TeamForm
from agents.services import access

FIELD = "may_view_private"


class MembershipForm(TeamForm):
    """A membership; whether it opens private texts is not for its own holder to say.

    It stays with its user: another one would take over what was granted to the first.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk and "user" in self.fields:
            self.fields["user"].disabled = True

    def _post_clean(self) -> None:
        super()._post_clean()
        if FIELD not in self.changed_data:
            return
        user_id, team_id = self.instance.user_id, self.instance.team_id
        if not access.may_grant_private(self.asker, user_id=user_id, team_id=team_id):
            self.add_error(FIELD, _("Another owner of the team has to decide that for you."))

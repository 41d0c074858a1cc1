"""Letting somebody read other people's private texts: owners to others, nobody to themselves."""

from django.utils.translation import gettext_lazy as _

from agents.admin.base import TeamForm
from agents.services import access

FIELD = "may_view_private"


class MembershipForm(TeamForm):
    """A membership; whether it opens private texts is not for its own holder to say."""

    def _post_clean(self) -> None:
        super()._post_clean()
        if FIELD not in self.changed_data:
            return
        user_id, team_id = self.instance.user_id, self.instance.team_id
        if not access.may_grant_private(self.asker, user_id=user_id, team_id=team_id):
            self.add_error(FIELD, _("Another owner of the team has to decide that for you."))

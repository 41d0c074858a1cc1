"""The roles in words, as invitations and the page of a new colleague say them."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agents.models import Membership

Role = Membership.Role

ROLE_WORDS: Final[Mapping[str, Promise]] = {
    Role.OWNER: _("Does everything: agents, models, people and their roles, the audit log."),
    Role.EDITOR: _("Sets up agents, their texts, models and tools; invites nobody."),
    Role.OPERATOR: _(
        "Sees in the administration how everything runs, ends and retries turns, changes no "
        "setting."
    ),
    Role.MEMBER: _("Talks to the team's agents, and sees their own conversations only."),
}


def role_choices() -> list[tuple[str, str]]:
    """Return the roles, from the most usual, each with what it may."""
    order = (Role.MEMBER, Role.OPERATOR, Role.EDITOR, Role.OWNER)
    return [(role.value, f"{role.label.capitalize()}: {ROLE_WORDS[role]}") for role in order]

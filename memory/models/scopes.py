"""Rows of what an agent keeps. Each belongs to one scope, and every read names its viewer."""

from typing import ClassVar, Self, TypeVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.core.viewer import Viewer
from agents.models import Agent, Chat, Person, Team


class Scope(models.TextChoices):
    """Whose part of memory a row lies in."""

    PERSON = "person", _("a person")
    CHAT = "chat", _("a group chat")
    AGENT = "agent", _("the agent")
    TEAM = "team", _("the team")


M = TypeVar("M", bound=models.Model)

# `visible_to` for statements written by hand (agents/sql.py); a test holds both against each
# other for every kind of viewer.
VISIBLE_SQL = """(team_id = %s AND (
    (scope = 'team' AND agent_id IS NULL)
    OR (scope = 'agent' AND agent_id = %s)
    OR (scope = 'chat' AND agent_id = %s AND chat_id = %s)
    OR (scope = 'person' AND agent_id = %s AND person_id = %s)))"""


def visible_values(viewer: Viewer) -> list[int | None]:
    """Return the values of ``VISIBLE_SQL``; a scope that is not the viewer's equals NULL."""
    agent_id, person_id = viewer.agent_id, viewer.person_id if viewer.sees_person else None
    return [viewer.team_id, agent_id, agent_id, viewer.chat_id, agent_id, person_id]


class ScopedQuerySet(models.QuerySet[M]):
    """Reads narrowed by viewer or by scope."""

    def visible_to(self, viewer: Viewer) -> Self:
        """Return the rows that may be shown to this viewer: what is not theirs is not there."""
        visible = models.Q(scope=Scope.TEAM, agent=None)
        visible |= models.Q(scope=Scope.AGENT, agent_id=viewer.agent_id)
        if viewer.chat_id is not None:
            visible |= models.Q(scope=Scope.CHAT, agent_id=viewer.agent_id, chat_id=viewer.chat_id)
        if viewer.sees_person:
            visible |= models.Q(
                scope=Scope.PERSON, agent_id=viewer.agent_id, person_id=viewer.person_id
            )
        return self.filter(visible, team_id=viewer.team_id)


class ScopedModel(models.Model):
    """A row in exactly one scope."""

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="+", verbose_name=_("team")
    )
    scope = models.CharField(_("scope"), max_length=8, choices=Scope)
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("agent"),
    )
    person = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("person"),
    )
    chat = models.ForeignKey(
        Chat,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("chat"),
    )

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(
                    scope=Scope.PERSON, agent__isnull=False, person__isnull=False, chat__isnull=True
                )
                | models.Q(
                    scope=Scope.CHAT, agent__isnull=False, person__isnull=True, chat__isnull=False
                )
                | models.Q(
                    scope=Scope.AGENT, agent__isnull=False, person__isnull=True, chat__isnull=True
                )
                | models.Q(
                    scope=Scope.TEAM, agent__isnull=True, person__isnull=True, chat__isnull=True
                ),
                name="%(class)s_scope_has_its_owner",
            ),
        ]


def scope_of(viewer: Viewer) -> dict[str, object]:
    """Return the columns of the scope in which this viewer's own words are kept.

    A private chat's facts go into the person's part, a group's into the group's; with neither
    they are nobody's and go into no scope.

    Raises:
        ValueError: The viewer has neither a private person nor a group.
    """
    if viewer.chat_id is not None:
        return {
            "team_id": viewer.team_id,
            "agent_id": viewer.agent_id,
            "scope": Scope.CHAT,
            "chat_id": viewer.chat_id,
        }
    if viewer.sees_person:
        return {
            "team_id": viewer.team_id,
            "agent_id": viewer.agent_id,
            "scope": Scope.PERSON,
            "person_id": viewer.person_id,
        }
    raise ValueError("a viewer without a private person or a group owns no scope")


def owns_scope(viewer: Viewer) -> bool:
    """Return whether there is a scope for what this viewer says."""
    return viewer.chat_id is not None or viewer.sees_person


class Origin(models.TextChoices):
    """Where a remembered text comes from."""

    PERSON = "person", _("said by a person")
    AGENT = "agent", _("noted by the agent")
    UNTRUSTED = "untrusted", _("from outside, untrusted")
    SYSTEM = "system", _("the platform")

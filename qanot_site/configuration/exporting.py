"""A team's set-up written as a file that `apply` takes; no key is in it."""

from collections.abc import Iterator

from django.db import transaction

from agents.models import Agent, Team, User
from agents.services import audit
from agents.services.managed import Managed
from qanot_site.configuration import toml
from qanot_site.configuration.section import Section
from qanot_site.configuration.sections import SECTIONS
from sessions.models import ChannelAccount

_HEAD = (
    "# The set-up of a team of Qanot: docs/configuration.md",
    "# Look at what would change:  python manage.py apply FILE --check",
    "# Change it:                  python manage.py apply FILE",
)


@transaction.atomic
def export(team: Team, *, by: User | str, only: Agent | None = None) -> str:
    """Return the file's text; that it was made is written into the audit log.

    Args:
        only: One agent, with the accounts that it asks and its bots; else all that are not put
            away.
    """
    lines = [*_HEAD, "", toml.pair("team", team.slug)]
    for section in SECTIONS:
        for row in _rows(section, team, only):
            lines += ["", *section.dump(row)]
    audit.record(
        team_id=team.pk,
        actor=by,
        action="export.made",
        subject=audit.subject_of(only or team),
        reason="configuration",
    )
    return "\n".join(lines) + "\n"


def _rows(section: Section, team: Team, only: Agent | None) -> Iterator[Managed]:
    asked = set(only.chain_links.values_list("account", flat=True)) if only else set()
    if only is not None and only.speech_account_id is not None:
        asked.add(only.speech_account_id)
    for row in section.rows(team).values():
        if isinstance(row, Agent):
            if row.archived_at is None if only is None else row.pk == only.pk:
                yield row
        elif isinstance(row, ChannelAccount):
            if only is None or row.agent_id == only.pk:
                yield row
        elif only is None or row.pk in asked:
            yield row

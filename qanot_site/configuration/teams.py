"""Which team a file is for."""

from agents.models import Team
from qanot_site.configuration.errors import ConfigurationError
from qanot_site.configuration.tables import nearest


def team_of(*slugs: str | None) -> Team:
    """Return the team of the first slug that is given; without any, the only team there is.

    Raises:
        ConfigurationError: There is none, or several might be meant.
    """
    teams = {team.slug: team for team in Team.objects.filter(archived_at=None).order_by("slug")}
    slug = next((slug for slug in slugs if slug), None)
    if slug is not None:
        if slug not in teams:
            raise ConfigurationError(f"There is no team “{slug}”{nearest(slug, teams)}")
        return teams[slug]
    if not teams:
        raise ConfigurationError("There is no team yet: run `python3 manage.py up` once.")
    if len(teams) > 1:
        known = ", ".join(list(teams)[:20])
        raise ConfigurationError(f"Say which team with --team or in the file: {known}.")
    return next(iter(teams.values()))

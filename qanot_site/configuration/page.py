"""An agent's page that gives it as a file, for `manage.py apply`."""

from django.http import HttpRequest, HttpResponse

from agents.admin.auditing import actor
from agents.models import Agent
from qanot_site.configuration.exporting import export


def download(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Send the agent with the accounts that it asks; its readers see all of that in the admin."""
    if request.method != "GET":
        return HttpResponse(status=405)
    text = export(agent.team, by=actor(request), only=agent)
    answer = HttpResponse(text, content_type="application/toml; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{agent.slug}.toml"'
    return answer

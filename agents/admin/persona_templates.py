"""Beginning with a ready persona, in a language that the team speaks."""

from collections.abc import Iterator
from typing import Final

from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext

from agents.admin import agent_pages
from agents.models import Agent, User
from agents.models.people import LANGUAGE_CHOICES
from agents.services import access, personas

LANGUAGES: Final = tuple(
    (code, name) for code, name in LANGUAGE_CHOICES if code in personas.LANGUAGES
)


def use_template(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Give the agent a template's texts; over texts of the team's own it asks first."""
    if request.method != "POST":
        return HttpResponse(status=405)
    template = _template(request.POST.get("template", ""))
    language = request.POST.get("language", "")
    if language not in personas.LANGUAGES:
        raise Http404
    own = list(_own_texts(agent, template.name, language))
    if own and "confirmed" not in request.POST:
        return _ask(request, agent, template, language, own)
    author = request.user if isinstance(request.user, User) else None
    changed = personas.apply_template(agent, template.name, language, author)
    _tell(request, len(changed))
    return HttpResponseRedirect(agent_pages.address("persona", agent))


def _template(name: str) -> personas.Template:
    for known in personas.templates():
        if known.name == name:
            return known
    raise Http404


def _own_texts(agent: Agent, template: str, language: str) -> Iterator[str]:
    """Yield the names of documents that somebody wrote and that the template would replace."""
    new = personas.texts(template, language)
    for document in agent.documents.filter(person=None, name__in=new).order_by("name"):
        known = (
            personas.texts(other.name, code).get(document.name)
            for other in personas.templates()
            for code in personas.LANGUAGES
        )
        if document.text.strip() and document.text not in known:
            yield document.name


def _ask(
    request: HttpRequest, agent: Agent, template: personas.Template, language: str, own: list[str]
) -> HttpResponse:
    return TemplateResponse(
        request,
        "admin/persona/confirm_template.html",
        {
            **admin.site.each_context(request),
            "title": agent.name,
            "agent": agent,
            "template": template,
            "language": language,
            "own": own,
            "persona_url": agent_pages.address("persona", agent),
        },
    )


def _tell(request: HttpRequest, count: int) -> None:
    if not count:
        messages.info(request, gettext("The agent says exactly this already."))
        return
    told = ngettext(
        "%(count)s document has a new text. What it said before is kept.",
        "%(count)s documents have a new text. What they said before is kept.",
        count,
    )
    messages.success(request, told % {"count": count})


agent_pages.add("template", "persona/template/", use_template, roles=access.EDITORS)

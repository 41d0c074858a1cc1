"""The web chat's one page; what it shows comes over its socket."""

from typing import Final
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agents.services.access import may_enter, user_of
from agents.services.files import MAX_BYTES
from sessions import tool_words
from sessions.channels.webchat import access
from sessions.channels.webchat.texts import page_texts
from sessions.inbox import MAX_CHARACTERS
from sessions.uploads import MOST_IN_A_MESSAGE

# Named ahead, so that the browser fetches them together instead of one import after another.
MODULES: Final = (
    *(
        f"chat/{name}.js"
        for name in (
            "answer",
            "attach",
            "composer",
            "conversation",
            "dom",
            "drawer",
            "files",
            "live",
            "markdown",
            "outbox",
            "page",
            "prose",
            "rowmenu",
            "rows",
            "scroller",
            "sidebar",
            "socket",
            "tabs",
            "toast",
            "tools",
            "turn",
        )
    ),
    "vendor/streaming-markdown/smd.min.js",
)


@never_cache
@require_safe
@login_required
def chat(request: HttpRequest, conversation: UUID | None = None) -> HttpResponse:
    """Show the chat, with one conversation open where the address names it.

    Raises:
        Http404: The conversation does not exist or is somebody else's, which look alike.
    """
    user = user_of(request)
    if conversation is not None and access.conversation(user, conversation) is None:
        raise Http404
    edited = access.edited_teams(user)
    agents = [
        {
            "id": str(agent.public_id),
            "name": agent.name,
            "description": agent.description,
            "team": agent.team.name,
            "hasModel": vars(agent)["has_model"],
            "mayConnect": agent.team_id in edited,
        }
        for agent in access.agents_of(user)
    ]
    page = {
        "agents": agents,
        "conversation": str(conversation) if conversation else None,
        "user": str(user.pk),
        "language": translation.get_language(),
        "maxCharacters": MAX_CHARACTERS,
        "chatUrl": reverse("chat"),
        "filesUrl": reverse("chat-files"),
        "loginUrl": reverse("login"),
        "maxFiles": MOST_IN_A_MESSAGE,
        "maxFileBytes": MAX_BYTES,
        "texts": page_texts(),
        "tools": tool_words.labels(),
    }
    context = {
        "page": page,
        "has_agents": bool(agents),
        "may_administer": may_enter(request),
        "modules": MODULES,
    }
    return render(request, "chat/page.html", context)

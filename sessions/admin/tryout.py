"""The try-out pane of the document editor: its questions and the answers as they come."""

import json
from collections.abc import AsyncGenerator
from typing import Final, assert_never

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.translation import gettext

from agents.admin import agent_pages
from agents.admin.documents import plain_lines
from agents.core.messages import JsonObject
from agents.models import Agent
from agents.models.base import new_public_id
from agents.services import access, people
from sessions import notices, tryout
from sessions.tryout import Answered, Event, Failed, Restarted, Text

QUESTION_CHARACTERS: Final = 8_000


def ask(request: HttpRequest, agent: Agent) -> HttpResponseBase:
    """Answer one question with the draft and with the live persona: a JSON object a line."""
    if request.method != "POST":
        return HttpResponse(status=405)
    user = access.user_of(request)
    question = request.POST.get("question", "").strip()
    if not question or len(question) > QUESTION_CHARACTERS:
        limit = {"limit": QUESTION_CHARACTERS}
        return _refused(gettext("Ask something, in at most %(limit)s characters.") % limit)
    planned = tryout.plan(
        agent=agent,
        person=people.person_of(user, agent.team),
        name=request.POST.get("document", ""),
        draft=plain_lines(request.POST.get("text", "")),
        question=question,
        ref=f"tryout:{new_public_id()}",
    )
    if planned is None:
        return _refused(gettext("This agent has no model yet. Connect one first."))
    lines = _lines(tryout.run(planned), translation.get_language() or "en")
    return StreamingHttpResponse(
        lines,
        content_type="application/x-ndjson",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _refused(words: str) -> HttpResponse:
    return JsonResponse({"said": words}, status=400)


async def _lines(events: AsyncGenerator[Event], language: str) -> AsyncGenerator[bytes]:
    try:
        async for event in events:
            # The request's own language ended with its headers.
            with translation.override(language):
                line = json.dumps(_wire(event), ensure_ascii=False)
            yield f"{line}\n".encode("utf-8", "replace")
    finally:
        await events.aclose()


def _wire(event: Event) -> JsonObject:
    if isinstance(event, Text):
        return {"side": event.side, "type": "text", "text": event.text}
    if isinstance(event, Restarted):
        return {"side": event.side, "type": "restarted"}
    if isinstance(event, Answered):
        return {"side": event.side, "type": "answered", "said": _figures(event)}
    if isinstance(event, Failed):
        return {"side": event.side, "type": "failed", "said": _failure(event)}
    assert_never(event)


def _figures(event: Answered) -> str:
    words = gettext("%(model)s · %(input)s tokens in, %(output)s out · %(cost)s · %(seconds)s s")
    return words % {
        "model": event.model,
        "input": event.input_tokens,
        "output": event.output_tokens,
        "cost": _cost(event),
        "seconds": f"{event.seconds:.1f}",
    }


def _cost(event: Answered) -> str:
    if event.cost_usd is None:
        return gettext("price unknown")
    return gettext("free") if event.cost_usd == 0 else f"${event.cost_usd:.4f}"


def _failure(event: Failed) -> str:
    if event.code == "stopped":
        return gettext("Stopped.")
    return notices.text_of({"v": 1, "code": event.code, "values": event.values})


agent_pages.add("tryout", "persona/tryout/", ask, roles=access.EDITORS)

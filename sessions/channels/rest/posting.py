"""Posting a message: from a request's values to a stored message and its turn."""

import uuid
from http import HTTPStatus
from typing import Literal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from agents.api.problems import Problem
from agents.models import Agent, ApiToken
from sessions import conversations, saying
from sessions.channels.rest import reading
from sessions.channels.rest.schemas import MessageIn, NotedOut, PostedOut
from sessions.errors import EmptyMessage, FilesGone, KeyReused, MessageTooLong
from sessions.inbox import Accepted, Inbound
from sessions.models import ChannelAccount, ChatSession


def post(
    token: ApiToken, agent_id: UUID, message: MessageIn, *, key: str
) -> tuple[PostedOut, bool]:
    """Store a message once, and return it with its turn and whether it is new.

    Args:
        key: The client's own id of the message; with an empty one every call is another message.

    Raises:
        Problem: There is no such agent, or the message is refused.
    """
    inbound = Inbound(
        text=message.text,
        sender=f"token:{token.pk}",
        external_id=key or str(uuid.uuid4()),
        person=token.person,
    )
    session = _find_session(token, agent_id, message.thread)
    if session is not None:
        accepted = _accept(inbound, session, message)
    else:
        agent = reading.find_agent(token, agent_id)
        accepted, session = _begin(token, agent, message, inbound)
    turn = accepted.turn
    turn.session = session
    posted = PostedOut(
        message=accepted.message.public_id,
        turn=reading.describe(turn),
        noted=[
            NotedOut(category=fact.category, text=fact.text)
            for fact in accepted.noted
            if fact.retracted_at is None
        ],
    )
    return posted, accepted.is_new


def _find_session(token: ApiToken, agent_id: UUID, thread: str) -> ChatSession | None:
    """Return the conversation where there is one already: a single look, as posting is quick."""
    return (
        ChatSession.objects.select_related("agent", "account")
        .filter(
            agent__public_id=agent_id,
            agent__archived_at=None,
            account__channel=ChannelAccount.Channel.REST,
            team_id=token.team_id,
            person_id=token.person_id,
            kind=ChatSession.Kind.DIRECT,
            thread=thread,
            archived_at=None,
        )
        .first()
    )


@transaction.atomic
def _begin(
    token: ApiToken, agent: Agent, message: MessageIn, inbound: Inbound
) -> tuple[Accepted, ChatSession]:
    """Accept the first message; a refused one leaves no empty conversation behind."""
    session = conversations.open_direct(
        agent=agent,
        account=conversations.channel_account(token.team, ChannelAccount.Channel.REST),
        person=token.person,
        thread=message.thread,
    )
    return _accept(inbound, session, message), session


def _accept(inbound: Inbound, session: ChatSession, message: MessageIn) -> Accepted:
    try:
        return saying.say(inbound, session=session, files=message.files)
    except EmptyMessage as exc:
        raise _refused("empty_message", _("The text is empty.")) from exc
    except MessageTooLong as exc:
        raise _refused(
            "message_too_long",
            _("A message has at most %(limit)d characters.") % {"limit": exc.limit},
        ) from exc
    except KeyReused as exc:
        raise _refused(
            "key_reused", _("This Idempotency-Key was used for another message.")
        ) from exc
    except FilesGone as exc:
        raise _refused(
            "files_gone",
            _("These files are not yours to send, were sent already, or were deleted after a day."),
        ) from exc


def _refused(
    code: Literal["empty_message", "message_too_long", "key_reused", "files_gone"], detail: str
) -> Problem:
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, code, detail)

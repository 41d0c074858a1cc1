"""What a group says without speaking to the bot: context for a day, never a fact, never a turn."""

import secrets
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from agents import sql
from agents.models import Chat
from memory.files import one_line
from sessions import marks
from sessions.models import ChannelAccount, ChatSession, Content, OverheardMessage

KEPT: Final = 50
KEPT_FOR: Final = timedelta(hours=24)
CHARACTERS: Final = 500
LABEL: Final = "overheard: said in this group, but not to you"

_NEWEST = """
    SELECT o.said_at, o.author_name, c.text
    FROM bot_sessions_overheardmessage o JOIN bot_sessions_content c ON c.id = o.content_id
    JOIN agents_chat h ON h.id = o.chat_id
    WHERE o.account_id = %s AND h.team_id = %s AND h.channel = %s AND h.external_id = %s
      AND o.said_at > %s AND c.erased_at IS NULL
    ORDER BY o.said_at DESC, o.id DESC LIMIT %s
"""
_PRUNE = "SELECT qanot_forget_overheard(%s, %s, %s, %s)"
_PRUNE_ALL = "SELECT qanot_forget_overheard(NULL, NULL, %s, %s)"


def topic_id(peer: str, thread: str) -> str:
    """Return how a group's topic is named among the chats; the group itself without one."""
    return f"{peer}/{thread}" if thread else peer


def keep(
    text: str,
    *,
    account: ChannelAccount,
    chat: Chat,
    person_id: int | None,
    author_name: str,
    said_at: datetime,
) -> None:
    """Keep one message for a day, and let go of what is older or beyond the newest fifty."""
    clean = one_line(text)
    if not clean:
        return
    OverheardMessage.objects.create(
        account=account,
        chat=chat,
        person_id=person_id,
        author_name=marks.clean_name(author_name),
        content=Content.objects.create(team_id=account.team_id, text=marks.cut(clean, CHARACTERS)),
        said_at=said_at,
    )
    sql.fetch(_PRUNE, [account.pk, chat.pk, timezone.now() - KEPT_FOR, KEPT])


def forget_old() -> None:
    """Let go of what is older than a day in groups where nothing was said since."""
    sql.fetch(_PRUNE_ALL, [timezone.now() - KEPT_FOR, KEPT])


def shown(session: ChatSession, *, now: datetime) -> str:
    """Return what a group said lately, fenced, for its next turn; empty where nothing is kept.

    Each message is one line, so that none can look like another person's.

    Args:
        session: A group's, with its account.
    """
    rows = sql.fetch(
        _NEWEST,
        [
            session.account_id,
            session.team_id,
            session.account.channel,
            topic_id(session.peer, session.thread),
            now - KEPT_FOR,
            KEPT,
        ],
    )
    if not rows:
        return ""
    number = secrets.token_hex(4)
    lines = [
        f"{said_at:%H:%M} {marks.named(author)}: {text}" for said_at, author, text in reversed(rows)
    ]
    return "\n".join([marks.line(number, LABEL), *lines, marks.line(number, marks.FOREIGN_END)])

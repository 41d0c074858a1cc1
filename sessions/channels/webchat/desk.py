"""What the web chat does for one tab: each call checks who asks, then does one thing.

Everything here is synchronous and uses the database; the consumer calls it through ``in_db``.
"""

from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext

from agents.models import Agent, User
from agents.services import people
from sessions import conversations, inbox, notices, noting, saying, shown_files, transcript
from sessions.channels.webchat import access, frames
from sessions.errors import EmptyMessage, EmptyTitle, FilesGone, KeyReused, MessageTooLong
from sessions.models import ChannelAccount, ChatSession
from sessions.turns import stopping

LISTED_CONVERSATIONS: Final = 100
FOUND_CONVERSATIONS: Final = 50


class LoggedOut(Exception):
    """The login that opened the socket is over."""


class _Refuse(Exception):
    """Not done, for a reason that the person is told."""

    def __init__(self, code: frames.Refusal, text: str) -> None:
        super().__init__(code)
        self.code = code
        self.text = text


@dataclass(frozen=True, slots=True)
class TurnLook:
    """How a turn stands, for the browser and for the consumer."""

    frame: frames.TurnShown
    is_over: bool


@dataclass(frozen=True, slots=True)
class Desk:
    """One login and its language; every call raises ``LoggedOut`` once the login is over."""

    session_key: str
    language: str

    def check(self) -> None:
        """Do nothing but look whether the login still holds."""
        self._user()

    def list_conversations(self, ask: frames.ListConversations) -> frames.Conversations:
        """Return the person's newest conversations, or the newest that they archived."""
        with translation.override(self.language):
            own = access.conversations_of(self._user())
            found = own.filter(archived_at__isnull=not ask.archived)[:LISTED_CONVERSATIONS]
            rows = [row_of(session) for session in found]
            has_archived = bool(rows) if ask.archived else own.exclude(archived_at=None).exists()
            return frames.Conversations(
                archived=ask.archived, conversations=rows, has_archived=has_archived
            )

    def search(self, ask: frames.Search) -> frames.Found:
        """Return the person's conversations whose titles fit, archived ones too."""
        with translation.override(self.language):
            own = access.conversations_of(self._user())
            found = conversations.with_title(own, ask.query, limit=FOUND_CONVERSATIONS)
            return frames.Found(
                query=ask.query, conversations=[row_of(session) for session in found]
            )

    def rename(self, ask: frames.Rename) -> frames.Changed | frames.Missing | frames.Refused:
        """Give one of the person's conversations another title."""
        with translation.override(self.language):
            session = access.conversation(self._user(), ask.conversation)
            if session is None:
                return frames.Missing(conversation=ask.conversation)
            try:
                conversations.rename(session, ask.title)
            except EmptyTitle:
                text = gettext("A title needs at least one letter.")
                return frames.Refused(key=None, code="empty", text=text)
            return frames.Changed(conversation=row_of(session))

    def archive(self, ask: frames.Archive) -> frames.Changed | frames.Missing:
        """Put one of the person's conversations away, or bring it back."""
        with translation.override(self.language):
            session = access.conversation(self._user(), ask.conversation)
            if session is None:
                return frames.Missing(conversation=ask.conversation)
            if ask.archived:
                conversations.archive(session)
            else:
                conversations.bring_back(session)
            return frames.Changed(conversation=row_of(session))

    def undo(self, ask: frames.Undo) -> frames.TurnShown | None:
        """Forget what was noted from one of the person's messages; None for anybody else's."""
        with translation.override(self.language):
            found = access.message(self._user(), ask.message)
            if found is None:
                return None
            message, session = found
            noting.undo(message, ask.fact, session=session)
            (shown,) = transcript.shown([message.turn])
            return frames.TurnShown(conversation=session.public_id, shown=shown)

    def open(self, ask: frames.Open) -> frames.Opened | frames.Earlier | frames.Missing:
        """Return a conversation's newest turns, or those before the ones that are shown."""
        with translation.override(self.language):
            session = access.conversation(self._user(), ask.conversation)
            if session is None:
                return frames.Missing(conversation=ask.conversation)
            page = transcript.page(session, before=ask.before)
            if ask.before is not None:
                return frames.Earlier(
                    conversation=session.public_id,
                    turns=page.turns,
                    has_earlier=page.has_earlier,
                )
            return frames.Opened(
                conversation=row_of(session), turns=page.turns, has_earlier=page.has_earlier
            )

    def send(self, ask: frames.Send) -> frames.AcceptedMessage | frames.Refused:
        """Store a message once, however often it is sent."""
        with translation.override(self.language):
            user = self._user()
            try:
                return self._accept(user, ask)
            except _Refuse as refusal:
                code, text = refusal.code, refusal.text
            except EmptyMessage:
                code, text = "empty", gettext("There is nothing in this message.")
            except MessageTooLong as error:
                code = "too_long"
                text = gettext("A message may have at most %(limit)d characters.") % {
                    "limit": error.limit
                }
            except KeyReused:
                code, text = "key_reused", gettext("Another message was sent under this key.")
            except FilesGone:
                code, text = "files_gone", gettext("Its files are not there. Attach them again.")
            return frames.Refused(key=ask.key, code=code, text=text)

    def stop(self, ask: frames.Stop) -> None:
        """Ask a turn to stop; nothing happens where it is over or somebody else's."""
        turn = access.turn(self._user(), ask.turn)
        if turn is not None:
            stopping.request(turn)

    def look(self, turn_id: UUID) -> TurnLook | None:
        """Return how a turn stands; None where it is somebody else's."""
        with translation.override(self.language):
            turn = access.turn(self._user(), turn_id)
            if turn is None:
                return None
            (shown,) = transcript.shown([turn])
            return TurnLook(
                frame=frames.TurnShown(conversation=turn.session.public_id, shown=shown),
                is_over=turn.is_over,
            )

    def refusal(self, code: Literal["malformed", "unavailable"], key: str | None) -> frames.Refused:
        """Return the refusal of a frame that never reached the database."""
        with translation.override(self.language):
            texts = {
                "malformed": gettext("The server did not understand this page. Load it again."),
                "unavailable": gettext("The server cannot do this right now. Try again soon."),
            }
            return frames.Refused(key=key, code=code, text=texts[code])

    def _user(self) -> User:
        user = access.user_of(self.session_key)
        if user is None:
            raise LoggedOut
        return user

    @transaction.atomic
    def _accept(self, user: User, ask: frames.Send) -> frames.AcceptedMessage:
        session = self._session(user, ask)
        person = session.person
        if person is None:
            raise AssertionError("a person's own conversation names the person")
        inbound = inbox.Inbound(
            text=ask.text,
            sender=f"person:{person.public_id}",
            external_id=ask.key,
            person=person,
        )
        accepted = saying.say(inbound, session=session, files=ask.files, language=self.language)
        message = accepted.message
        attached = shown_files.attached([message.pk])[message.pk] if ask.files else ()
        return frames.AcceptedMessage(
            key=ask.key,
            conversation=row_of(session),
            turn=accepted.turn.public_id,
            message=message.public_id,
            noted=notices.noted(
                (entry.text, entry.retracted_at is not None) for entry in accepted.noted
            ),
            is_over=accepted.turn.is_over,
            attachments=attached,
        )

    def _session(self, user: User, ask: frames.Send) -> ChatSession:
        """Return the conversation that is meant; a new one is undone if the message is refused."""
        if ask.conversation is not None:
            session = access.conversation(user, ask.conversation)
            if session is None:
                raise _Refuse("missing", gettext("This conversation does not exist any more."))
            if session.agent.archived_at is not None:
                raise _Refuse("agent_gone", gettext("This agent does not answer any more."))
            return session
        agent = access.agent(user, ask.agent) if ask.agent else None
        if agent is None or ask.thread is None:
            raise _Refuse("agent_gone", gettext("This agent does not answer any more."))
        return self._new_session(user, agent, ask.thread)

    def _new_session(self, user: User, agent: Agent, thread: UUID) -> ChatSession:
        return conversations.open_direct(
            agent=agent,
            account=conversations.channel_account(agent.team, ChannelAccount.Channel.WEBCHAT),
            person=people.person_of(user, agent.team),
            thread=str(thread),
        )


def row_of(session: ChatSession) -> frames.ConversationRow:
    """Return a conversation as the list shows it."""
    return frames.ConversationRow(
        id=session.public_id,
        thread=session.thread,
        title=session.title or gettext("New conversation"),
        agent=session.agent.public_id,
        agent_name=session.agent.name,
        last_at=session.last_interaction_at,
        is_archived=session.archived_at is not None,
        is_running=getattr(session, "is_running", False),
    )

"""Taking in what a bot was sent: each update once, in one transaction, whatever became of it.

Telegram delivers an update again until it is confirmed. Its number is stored in the transaction
that stores everything else of it, so that neither a second delivery nor two at once do it twice.
"""

from datetime import UTC, datetime
from typing import Final

import structlog
from django.db import transaction
from django.utils import timezone

from agents import sql
from agents.core.messages import JsonObject
from agents.models import Agent, Person
from sessions import commands, edits, inbox, overheard
from sessions.channels.telegram import (
    admitting,
    albums,
    places,
    pressing,
    reading,
    updates,
    who,
)
from sessions.channels.telegram.updates import Message, Update
from sessions.channels.telegram.who import Sender
from sessions.errors import EmptyMessage, KeyReused, MessageTooLong
from sessions.inbox import Inbound
from sessions.models import ChannelAccount, ChannelContact, ChatSession, InboundMessage, Turn

_log = structlog.get_logger(__name__)

# How often an update is tried that something of ours cannot take in.
TRIES: Final = 3
# The pictures of an album come one by one, within moments.
ALBUM_PAUSE_S = 1.0
# The command that is heard in a pause too, as long as there is something to stop.
STOP = "stop"
# Among a conversation's newest turns the one that an album's other pictures are in.
_TURNS_BACK = 3

_REMEMBER = """
    INSERT INTO bot_sessions_channelupdate (account_id, update_id, kind, received_at)
    VALUES (%s, %s, %s, %s) ON CONFLICT (account_id, update_id) DO NOTHING
"""


def take(account: ChannelAccount, update: JsonObject) -> bool:
    """Take one update in, with everything that it causes; nothing leaves before it is committed.

    Call it in the transaction that moves the offset past it, where there is one.

    Returns:
        False where it was taken in before: nothing is changed then.
    """
    number = updates.id_of(update)
    if number is None:
        _log.warning("update.unreadable", account=account.pk, places=["update_id"])
        return False
    with transaction.atomic():
        if not pass_over(account, update):
            return False
        parsed = updates.parse(update)
        # Its rules may have changed since whoever calls read the row.
        fresh = ChannelAccount.objects.select_related("agent", "team").get(pk=account.pk)
        if parsed is not None and fresh.agent is not None and fresh.agent.archived_at is None:
            _route(parsed, fresh, fresh.agent)
        transaction.on_commit(
            lambda: _log.info("update.committed", account=account.pk, update=number)
        )
    return True


def pass_over(account: ChannelAccount, update: JsonObject) -> bool:
    """Store an update's number alone; False where it is stored already."""
    values = [account.pk, updates.id_of(update), updates.kind_of(update), timezone.now()]
    return bool(sql.execute(_REMEMBER, values))


def _route(update: Update, account: ChannelAccount, agent: Agent) -> None:
    if update.message is not None:
        _Taking(update.update_id, update.message, account, agent).message()
    elif update.edited_message is not None:
        _Taking(update.update_id, update.edited_message, account, agent).edited()
    elif update.channel_post is not None:
        _Taking(update.update_id, update.channel_post, account, agent).post()
    elif update.callback_query is not None:
        pressing.press(update.callback_query, update.update_id, account)
    elif update.stopped_message_generation is not None:
        pressing.stop_generation(update.stopped_message_generation, account)
    elif update.my_chat_member is not None:
        admitting.note_membership(update.my_chat_member, account)


class _Taking:
    """One message on its way in."""

    def __init__(
        self, update_id: int, message: Message, account: ChannelAccount, agent: Agent
    ) -> None:
        self._update_id = update_id
        self._key = f"{account.pk}:{update_id}"
        self._message = message
        self._account = account
        self._agent = agent
        self._place = places.place_of(message)

    def message(self) -> None:
        """Answer it, do what it commands, keep it as context, or let it go."""
        message, account = self._message, self._account
        if message.migrate_to_chat_id is not None:
            places.move(self._place.peer, str(message.migrate_to_chat_id), account)
        elif message.migrate_from_chat_id is not None:
            places.move(str(message.migrate_from_chat_id), self._place.peer, account)
        sender = who.sender_of(message)
        if sender is None or reading.is_for_another_bot(message, account):
            return
        is_of_album = bool(message.media_group_id) and not self._place.is_private
        if is_of_album:
            albums.follow_each_other(message, account)
        if not self._place.is_private and not self._is_meant(sender):
            self._overhear(sender)
            if is_of_album and account.groups == ChannelAccount.Groups.MENTION:
                albums.hold(message, account)
            return
        read = reading.read(message, account)
        if not read.is_empty:
            self._meant(sender)

    def edited(self) -> None:
        """Take in the new form of a message that was taken in before."""
        sender = who.sender_of(self._message)
        session = places.found(self._place, self._account)
        if sender is None or session is None or self._message.edit_date is None:
            return
        # Live places and what was said to others are edited too; nobody is made a contact by it.
        if not self._is_known(sender):
            return
        contact = who.contact_of(sender, self._account)
        if who.standing_of(contact) != "allowed":
            return
        # It does not count as one more message: a live place is edited every few seconds. Yet of
        # edits that follow as messages no more wait than a person may send in a minute.
        if self._edits_waiting(sender, session) >= self._account.messages_per_minute:
            return
        inbound = self._inbound(sender, who.person_of(contact))
        try:
            edits.edit(inbound, session=session, edited_at=self._edited_at)
        except (EmptyMessage, MessageTooLong) as error:
            _log.info("message.refused", reason=type(error).__name__)

    def post(self) -> None:
        """Answer a channel's post, if the bot is bound to the channel; it speaks for itself."""
        chat = self._message.chat
        names = {str(chat.id), f"@{chat.username}".casefold()}
        if not names & {name.casefold() for name in self._account.bound_channels}:
            return
        session = places.opened(self._place, self._account, self._agent, None)
        self._accept(who.of_chat(chat), None, session)

    # --- steps ------------------------------------------------------------------------------

    def _is_known(self, sender: Sender) -> bool:
        """Return whether the message was taken in when it was sent."""
        return InboundMessage.objects.filter(
            account_id=self._account.pk, sender=sender.key, external_id=self._external_id
        ).exists()

    def _edits_waiting(self, sender: Sender, session: ChatSession) -> int:
        """Return how many edits follow a running answer as messages of their own."""
        return InboundMessage.objects.filter(
            turn__session=session,
            turn__state=Turn.State.QUEUED,
            sender=sender.key,
            # `sessions.edits` names an edit after its message, a slash and its time.
            external_id__contains="/",
        ).count()

    def _is_meant(self, sender: Sender) -> bool:
        """Return whether a group's message is for the bot."""
        account = self._account
        if account.groups == ChannelAccount.Groups.OFF:
            return False
        if account.groups == ChannelAccount.Groups.ALL:
            return True
        # Groups have a menu of commands; whoever types one does not write the bot's name behind.
        if self._invocation is not None:
            return True
        return reading.speaks_to(self._message, account) or self._is_of_album(sender)

    def _is_of_album(self, sender: Sender) -> bool:
        """Return whether another picture of the same album was taken in already.

        Only one of them has the caption, and with it the bot's name.
        """
        album = self._message.media_group_id
        session = places.found(self._place, self._account) if album else None
        if session is None:
            return False
        newest = Turn.objects.filter(session=session).order_by("-id").values("pk")[:_TURNS_BACK]
        return InboundMessage.objects.filter(
            turn__in=list(newest.values_list("pk", flat=True)),
            sender=sender.key,
            payload__album=album,
        ).exists()

    def _overhear(self, sender: Sender) -> None:
        """Keep what was said to others, if the agent hears groups and the group is its place."""
        account = self._account
        if not self._agent.hears_groups or account.groups == ChannelAccount.Groups.OFF:
            return
        text = reading.described(self._message)
        if not text:
            return
        contact = ChannelContact.objects.filter(
            account=account, external_id=sender.external_id
        ).first()
        if contact is not None and contact.access == ChannelContact.Access.BLOCKED:
            return
        group = places.group_of(self._place, account)
        overheard.keep(
            text,
            account=account,
            chat=places.topic_of(self._place, group),
            person_id=contact.person_id if contact is not None else None,
            author_name=sender.name,
            said_at=self._message.sent_at,
        )

    def _meant(self, sender: Sender) -> None:
        message, account = self._message, self._account
        contact = who.contact_of(sender, account)
        invocation = self._invocation
        # An album counts as the one message that it is; and nobody waits to stop an answer.
        is_counted = not (
            (message.media_group_id and self._is_of_album(sender)) or self._stops(invocation)
        )
        if not admitting.admit(contact, message, self._place, key=self._key, is_counted=is_counted):
            return
        person = who.person_of(contact)
        session = places.opened(self._place, account, self._agent, person)
        if invocation is None:
            for taking in self._came_before():
                taking._accept(sender, person, session)
            self._accept(sender, person, session)
            return
        reply = commands.run(
            invocation,
            session=session,
            person=person,
            account=account,
            language=who.language_of(contact, account),
        )
        pressing.say(reply, self._place, session, person, message=message, key=self._key)

    @property
    def _invocation(self) -> commands.Invocation | None:
        """Return the command that the message is; forwards and what comes with files are none."""
        message, account = self._message, self._account
        if message.forward_origin is not None or message.caption:
            return None
        return commands.find(
            reading.without_mention(message.words, account),
            channel=account.channel,
            bot_username=account.username,
        )

    def _stops(self, invocation: commands.Invocation | None) -> bool:
        """Return whether a command stops an answer that is on its way."""
        if invocation is None or invocation.command.name != STOP:
            return False
        session = places.found(self._place, self._account)
        unfinished = Turn.objects.unfinished()
        return unfinished.filter(session=session, stop_requested_at=None).exists()

    def _came_before(self) -> "list[_Taking]":
        """Return the pictures of its album that came before the one that names the bot."""
        message, account = self._message, self._account
        if self._place.is_private or not message.media_group_id:
            return []
        return [
            _Taking(self._update_id, each, account, self._agent)
            for each in albums.held(message, account)
        ]

    def _accept(self, sender: Sender, person: Person | None, session: ChatSession) -> None:
        inbound = self._inbound(sender, person)
        try:
            inbox.accept(inbound, session=session, join=True)
        except (EmptyMessage, MessageTooLong, KeyReused) as error:
            # Delivered under another number with another body, or a kind that says nothing.
            _log.warning("message.refused", session=session.pk, reason=type(error).__name__)

    def _inbound(self, sender: Sender, person: Person | None) -> Inbound:
        message, account = self._message, self._account
        read = reading.read(message, account)
        album = message.media_group_id
        return Inbound(
            text=reading.without_mention(read.text, account),
            sender=sender.key,
            external_id=self._external_id,
            person=person,
            payload={"v": 1, "album": album} if album else None,
            context=read.context,
            attachments=read.attachments,
            author_name="" if self._place.is_private else sender.name,
            channel_message_id=str(message.message_id),
            said_at=message.sent_at,
            pause_s=max(account.pause_s, ALBUM_PAUSE_S) if album else account.pause_s,
        )

    @property
    def _external_id(self) -> str:
        return f"{self._place.peer}:{self._message.message_id}"

    @property
    def _edited_at(self) -> datetime:
        return datetime.fromtimestamp(self._message.edit_date or self._message.date, UTC)

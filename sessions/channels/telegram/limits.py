"""How often a bot may speak: soft pacing by Telegram's rules of thumb, and what it asked for.

The Bot API tells no numbers; its FAQ names about 30 messages a second for a bot, one a second for
a chat, and 20 a minute for a group (https://core.telegram.org/bots/faq, 2026). Whoever goes
beyond is told to wait (429), in that chat; nobody else waits with it.
"""

import time
from dataclasses import dataclass, field
from typing import Final

_BOT: Final = (30.0, 30.0)
# Short answers may come faster, one after the other, than they may for long.
_CHAT: Final = (3.0, 1.0)
_GROUP: Final = (20.0, 20.0 / 60)
# What edits leave to whole messages in a group.
KEPT_FOR_MESSAGES: Final = 6.0
_MOST_CHATS: Final = 10_000

Key = tuple[int, str]


@dataclass(slots=True)
class _Bucket:
    """Holds places; each message takes one, and time brings them back."""

    size: float
    a_second: float
    level: float
    at: float

    def wait_s(self, now: float, kept: float = 0.0) -> float:
        """Return in how many seconds there is a place besides the kept ones."""
        self.level = min(self.size, self.level + (now - self.at) * self.a_second)
        self.at = now
        return max(0.0, (1.0 + kept - self.level) / self.a_second)

    def take(self) -> None:
        self.level -= 1.0


@dataclass(slots=True)
class Pacer:
    """What this process's bots did lately; to be used from one event loop."""

    _bots: dict[int, _Bucket] = field(default_factory=dict)
    _chats: dict[Key, _Bucket] = field(default_factory=dict)
    _silent_until: dict[Key, float] = field(default_factory=dict)

    def silence_s(self, account_id: int, chat: str) -> float:
        """Return for how many seconds Telegram wants to hear nothing in a chat."""
        until = self._silent_until.get((account_id, chat))
        if until is None:
            return 0.0
        left = until - time.monotonic()
        if left <= 0:
            del self._silent_until[account_id, chat]
        return max(left, 0.0)

    def silence(self, account_id: int, chat: str, seconds: float) -> None:
        """Note that Telegram wants to hear nothing in a chat for a time."""
        self._silent_until[account_id, chat] = time.monotonic() + seconds

    def wait_s(self, account_id: int, chat: str, *, is_edit: bool = False) -> float:
        """Return in how many seconds a message may go to a chat, or an edit of one."""
        now = time.monotonic()
        kept = KEPT_FOR_MESSAGES if is_edit and _is_group(chat) else 0.0
        return max(
            self.silence_s(account_id, chat),
            self._of_bot(account_id, now).wait_s(now),
            self._of_chat(account_id, chat, now).wait_s(now, kept),
        )

    def take(self, account_id: int, chat: str) -> None:
        """Note that a message or an edit goes to a chat now."""
        now = time.monotonic()
        for bucket in (self._of_bot(account_id, now), self._of_chat(account_id, chat, now)):
            bucket.wait_s(now)
            bucket.take()

    def _of_bot(self, account_id: int, now: float) -> _Bucket:
        size, a_second = _BOT
        return self._bots.setdefault(account_id, _Bucket(size, a_second, size, now))

    def _of_chat(self, account_id: int, chat: str, now: float) -> _Bucket:
        if len(self._chats) > _MOST_CHATS:
            # Those that nobody spoke in for a minute have all their places again.
            self._chats = {k: b for k, b in self._chats.items() if now - b.at < 60}
        size, a_second = _GROUP if _is_group(chat) else _CHAT
        return self._chats.setdefault((account_id, chat), _Bucket(size, a_second, size, now))


def _is_group(chat: str) -> bool:
    return chat.startswith("-")


PACER: Final = Pacer()

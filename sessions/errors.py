"""What can go wrong between a channel and its conversation.

SessionsError
├── EmptyMessage       nothing was said
├── EmptyTitle         a conversation was to be named by nothing
├── MessageTooLong     more was said than a message may hold
├── KeyReused          the same external id came with another body
├── NotOver            a turn that still runs cannot be tried again
├── AlreadyAnswered    what has its answer is not asked again
├── NotPending         a pairing request was decided already, or is too old
├── WrongCode          no pairing request has this code
├── NothingLeftToAsk   the messages of a turn were erased
├── NotDue             a turn waits for more messages of its person
├── UploadRefused      a file is not taken in
└── FilesGone          a message names files that are not there to be sent
"""

from typing import Literal

UploadFault = Literal["missing", "empty", "too_large", "too_many"]


class SessionsError(Exception):
    """The root of what this app raises on purpose."""


class EmptyMessage(SessionsError):
    """A message of nothing but white space; no turn is made of it."""


class EmptyTitle(SessionsError):
    """A title of nothing but white space."""


class MessageTooLong(SessionsError):
    """More was said than a message may hold.

    Args:
        limit: Characters that a message may have.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(f"a message has at most {limit} characters")
        self.limit = limit


class KeyReused(SessionsError):
    """The same sender used the same external id for another body."""


class NotOver(SessionsError):
    """A turn that waits or runs was to be tried again."""


class AlreadyAnswered(SessionsError):
    """A turn that was answered was to be tried again."""


class NothingLeftToAsk(SessionsError):
    """A turn whose messages were erased was to be tried again."""


class NotPending(SessionsError):
    """A pairing request that was decided meanwhile, or is too old, was to be decided."""


class WrongCode(SessionsError):
    """No waiting pairing request has the code that was given."""


class NotDue(SessionsError):
    """A turn waits until no more messages of its person can join it.

    Args:
        wait_s: Seconds until it may be claimed.
    """

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"more messages may join for {wait_s:.3f} s")
        self.wait_s = wait_s


class UploadRefused(SessionsError):
    """A file that somebody uploads is not taken in.

    Args:
        code: Why.
    """

    def __init__(self, code: UploadFault) -> None:
        super().__init__(code)
        self.code = code


class FilesGone(SessionsError):
    """A message names files that its sender did not upload, or that were sent or forgotten."""

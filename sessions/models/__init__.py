"""Rows of the sessions app, one module a subject."""

from sessions.models.chats import ChannelAccount, ChatSession, Generation
from sessions.models.contacts import (
    ChannelContact,
    ChannelUpdate,
    OverheardMessage,
    PairingLink,
    PairingRequest,
)
from sessions.models.extractions import Extraction
from sessions.models.messages import (
    Attachment,
    Content,
    InboundMessage,
    Outgoing,
    OutgoingPart,
    TranscriptEntry,
)
from sessions.models.turns import Turn, TurnFreeze, TurnStep, WorkerProcess

__all__ = [
    "Attachment",
    "ChannelAccount",
    "ChannelContact",
    "ChannelUpdate",
    "ChatSession",
    "Content",
    "Extraction",
    "Generation",
    "InboundMessage",
    "Outgoing",
    "OutgoingPart",
    "OverheardMessage",
    "PairingLink",
    "PairingRequest",
    "TranscriptEntry",
    "Turn",
    "TurnFreeze",
    "TurnStep",
    "WorkerProcess",
]

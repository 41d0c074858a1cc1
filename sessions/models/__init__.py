"""Rows of the sessions app, one module a subject."""

from sessions.models.chats import ChannelAccount, ChatSession, Generation
from sessions.models.messages import Content, InboundMessage, Outgoing, TranscriptEntry
from sessions.models.turns import Turn, TurnFreeze, TurnStep, WorkerProcess

__all__ = [
    "ChannelAccount",
    "ChatSession",
    "Content",
    "Generation",
    "InboundMessage",
    "Outgoing",
    "TranscriptEntry",
    "Turn",
    "TurnFreeze",
    "TurnStep",
    "WorkerProcess",
]

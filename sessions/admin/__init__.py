"""Conversations, to be followed from the session to its turns, steps and messages.

Everybody who reads a team sees that something was said, when and how long; what was said in a
direct conversation only its person sees.
"""

from sessions.admin import bots, contacts, conversations, messages, preview, tryout, turns

__all__ = ["bots", "contacts", "conversations", "messages", "preview", "tryout", "turns"]

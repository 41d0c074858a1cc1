"""Conversations: who said what, on which channel, and the turn that answers."""

"""Telegram: bots whose updates we ask for or are brought, and the messages that they send."""

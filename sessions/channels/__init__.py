"""Where people chat: one package a channel, each a thin edge over the same services."""

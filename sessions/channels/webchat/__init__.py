"""The web chat: one page, one WebSocket a tab (docs/webchat.md has its frames)."""

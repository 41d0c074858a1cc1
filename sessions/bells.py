"""Names of the tasks that this app's doorbells ring."""

from typing import Final

RUN: Final = "bot_sessions.run"
SEND: Final = "bot_sessions.send"
MENU: Final = "bot_sessions.menu"

"""`python -m qanot_site.poller`: wait until there is a bot, then become the poller.

Most installations begin without one. Until then a process without Django looks at PostgreSQL once
a second: 20 MB instead of 100.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Final

import psycopg

from qanot_site.env import PROJECT, load_dotenv, read_environment
from qanot_site.home import Home

LOOK_EVERY_S: Final = 1.0
CONNECT_S: Final = 3
_HAS_BOTS: Final = """
    SELECT EXISTS (
        SELECT 1 FROM bot_sessions_channelaccount
        WHERE channel = 'telegram' AND archived_at IS NULL AND switched_off_at IS NULL
          AND agent_id IS NOT NULL)
"""


def wait_for_bots() -> None:
    """Return once an account of Telegram is switched on."""
    connection: psycopg.Connection | None = None
    while True:
        try:
            if connection is None:
                connection = psycopg.connect(
                    _database_url(),
                    autocommit=True,
                    connect_timeout=CONNECT_S,
                    application_name="qanot",
                    prepare_threshold=None,
                )
            if connection.execute(_HAS_BOTS).fetchone() == (True,):
                connection.close()
                return
        except (psycopg.Error, OSError):
            # PostgreSQL is away, or not migrated yet: whoever starts it says so.
            if connection is not None:
                connection.close()
                connection = None
        time.sleep(LOOK_EVERY_S)


def _database_url() -> str:
    """Return where PostgreSQL is now: its own server's address may change with a restart."""
    environment = read_environment()
    if environment.database_url:
        return environment.database_url
    servers = Home(PROJECT / Path(environment.qanot_home).expanduser()).servers()
    if servers is None:
        raise OSError("no servers run")
    return servers.database_url


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: there is nothing to hand over."""
    os._exit(0)


def main() -> None:
    """Wait, then run `manage.py poller` in this process's place."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    load_dotenv()
    wait_for_bots()
    command = [sys.executable, str(PROJECT / "manage.py"), "poller"]
    os.execv(sys.executable, command)  # noqa: S606 — our own interpreter, now with Django


if __name__ == "__main__":
    main()

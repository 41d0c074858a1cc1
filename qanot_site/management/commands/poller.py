"""Ask Telegram for messages: any number of bots in one process, each by one poller at a time."""

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand

from sessions.channels.telegram.polling import Poller


class Command(BaseCommand):
    help = (
        "Receive the messages of all Telegram bots. Several may run, on several machines: each bot "
        "is asked for by one of them, and taken over when that one ends."
    )
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        asyncio.run(_run())


async def _run() -> None:
    """Tend bots until SIGTERM or Ctrl-C."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await Poller().run(stop)

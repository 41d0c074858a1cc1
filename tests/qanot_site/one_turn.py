"""`python -m tests.qanot_site.one_turn TEXT`: a worker of this process answers one message.

For a platform that a test has restored: its settings come from the environment.
"""

import os
import sys
import time
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "qanot_site.settings")
django.setup()

from sessions.inbox import Inbound, accept  # noqa: E402 - after Django is set up
from sessions.models import ChatSession  # noqa: E402 - as above
from sessions.turns.worker import Worker  # noqa: E402 - as above

PATIENCE_S = 60


def main(text: str) -> int:
    """Say something in the newest conversation, and print how its turn ended."""
    session = ChatSession.objects.select_related("person").latest("id")
    assert session.person is not None
    inbound = Inbound(
        text=text,
        sender=f"person:{session.person.public_id}",
        external_id=uuid4().hex,
        person=session.person,
    )
    turn = accept(inbound, session=session).turn
    worker = Worker()
    worker.start()
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not turn.is_over and time.monotonic() < deadline:
            time.sleep(0.05)
            turn.refresh_from_db()
    finally:
        worker.close()
    sys.stdout.write(f"{turn.state}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""`python -m qanot_site.worker_process NAME`: a worker, which runs turns.

`celery worker` does the same work, and imports a prompt for its own commands besides: 8 MB. Workers
of Celery tell each other how they are; ours do so by rows and locks in PostgreSQL.
"""

import sys

import django
from celery.utils.nodenames import default_nodename, host_format

from qanot_site.celery import app


def main() -> None:
    """Work until SIGTERM.

    The name tells workers of one machine apart; NAME@HOST, with %h for the machine's own.
    """
    django.setup()
    worker = app.Worker(
        hostname=host_format(default_nodename(sys.argv[1])),
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


if __name__ == "__main__":
    main()

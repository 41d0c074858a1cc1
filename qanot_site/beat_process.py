"""`python -m qanot_site.beat_process`: the scheduler, which rings tasks by their names.

`celery beat` does the same work. It imports every task and a prompt for its own commands besides,
which none of the schedule needs: 30 MB and a third of a second of the start.
"""

import django
from celery.apps.beat import Beat

from qanot_site.celery import app


# Celery has no types.
class _Beat(Beat):  # type: ignore[misc]
    def init_loader(self) -> None:
        """Leave the tasks' modules alone."""
        self.app.finalize()


def main() -> None:
    """Ring what is due until SIGTERM."""
    django.setup()
    _Beat(app=app, quiet=True).run()


if __name__ == "__main__":
    main()

"""The scheduler's process."""

import subprocess
import sys

from qanot_site.env import PROJECT
from tests.qanot_site.running import clean_environment

LOOK = """
import sys
from qanot_site import beat_process

class Looking(beat_process._Beat):
    def start_scheduler(self):
        print("sessions.turns" in sys.modules, self.scheduler_cls)

beat_process._Beat = Looking
beat_process.main()
"""


def test_it_schedules_without_importing_what_tasks_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", "qanot_site.beat:LockedScheduler"]

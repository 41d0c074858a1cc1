"""`bench backup`, small."""

import json
import subprocess
import sys

from qanot_site.env import PROJECT
from tests.qanot_site.running import clean_environment


def test_restored_database_equals_the_one_that_was_backed_up() -> None:
    done = subprocess.run(
        [
            *(sys.executable, PROJECT / "manage.py", "bench", "backup"),
            *("--entries", "1000", "--json", "-"),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )

    assert done.returncode == 0, done.stderr[-4000:]
    measures = json.loads(done.stdout)["measures"]
    assert measures["entries"] == 1000
    assert measures["rows"] > 2000
    assert measures["equal"]

"""What a process imports when it starts."""

import subprocess
import sys

from qanot_site.env import PROJECT
from tests.qanot_site.running import clean_environment


def _said(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=clean_environment() | {"DJANGO_SETTINGS_MODULE": "qanot_site.settings"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_worker_starts_without_the_admins_pages() -> None:
    look = "import django, sys; django.setup(); print('agents.admin' in sys.modules)"
    assert _said("-c", look).strip() == "False"


def test_check_looks_at_the_admins_pages() -> None:
    page = """
import sys
from django.core.management import execute_from_command_line
from django.contrib import admin
from agents.models import Team
import agents.apps

execute_from_command_line(["manage.py", "check", "--tag", "admin"])
print("agents.admin" in sys.modules, admin.site.is_registered(Team))
"""
    assert "True True" in _said("-c", f"import django; django.setup()\n{page}")

"""From a bare Python to a running command, in a small project of the test's own."""

import ast
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.qanot_site.running import PROJECT

# What the commands of the small project do: say that they were reached, and in which environment.
_SUPERVISOR = """
import sys
def main(arguments):
    print("reached", arguments, sys.prefix)
    return 0
"""
_COMMANDS = """
import sys
def execute(arguments):
    print("reached", arguments[1:], sys.prefix)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    package = folder / "qanot_site"
    package.mkdir(parents=True)
    (folder / "tests").mkdir()
    for part in ("manage.py", "qanot_site/__init__.py", "qanot_site/bootstrap.py"):
        shutil.copy(PROJECT / part, folder / part)
    (package / "supervisor.py").write_text(_SUPERVISOR)
    (package / "commands.py").write_text(_COMMANDS)
    (folder / "requirements.txt").write_text("# nothing\n")
    (folder / "tests" / "requirements.txt").write_text("# nothing\n")
    return folder


def manage(project: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the project's `manage.py` with a Python outside every virtual environment."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(getattr(sys, "_base_executable", sys.executable)), "manage.py", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env=bare | environment,
    )


def test_the_first_use_makes_an_environment_and_goes_on_in_it(project: Path) -> None:
    first = manage(project, "up", "--port", "9")

    assert first.returncode == 0, first.stderr
    assert first.stderr.splitlines() == ["Creating .venv …", "Installing requirements.txt …"]
    assert first.stdout == f"reached ['--port', '9'] {project / '.venv'}\n"

    # The second use has nothing to do, and other commands go on in it too.
    second, other = manage(project, "up"), manage(project, "shell")
    assert (second.stderr, other.stderr) == ("", "")
    assert other.stdout == f"reached ['shell'] {project / '.venv'}\n"

    # Other requirements are installed at the next use.
    (project / "requirements.txt").write_text("# something else\n")
    assert manage(project, "up").stderr.splitlines() == ["Installing requirements.txt …"]


def test_without_a_network_one_sentence_says_so(project: Path) -> None:
    (project / "requirements.txt").write_text("a-package-that-is-not-here\n")

    refused = manage(
        project,
        "up",
        PIP_INDEX_URL="http://127.0.0.1:1/simple",
        PIP_CONFIG_FILE=os.devnull,
        PIP_RETRIES="1",
        PIP_NO_INDEX="",
        PIP_FIND_LINKS="",
        PIP_EXTRA_INDEX_URL="",
    )

    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1] == (
        "The package index cannot be reached: check the network connection and start again."
    )
    assert "Traceback" not in refused.stderr


def test_a_python_without_ensurepip_names_the_debian_package(project: Path) -> None:
    hidden = project / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['ensurepip'] = None\n")

    refused = manage(project, "up", PYTHONPATH=str(hidden))

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert refused.returncode == 1
    assert refused.stderr.strip().endswith(f"apt install python{version}-venv")
    assert len(refused.stderr.splitlines()) == 1


def test_other_commands_install_nothing(project: Path) -> None:
    hidden = project / "hidden"
    hidden.mkdir()
    # Whatever the bare Python has installed: as if it had no Django.
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['django'] = None\n")

    refused = manage(project, "shell", PYTHONPATH=str(hidden))

    assert refused.returncode == 1
    assert "python3 manage.py up" in refused.stderr
    assert not (project / ".venv").exists()


def test_an_unusable_environment_is_made_anew(project: Path) -> None:
    binaries = project / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").symlink_to(project / "python-that-was-removed")

    again = manage(project, "up")

    assert again.returncode == 0, again.stderr
    assert again.stderr.splitlines()[0] == "Creating .venv …"


def test_an_old_python_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))

    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer; this is Python 3\.9"):
        runpy.run_path(str(PROJECT / "manage.py"), run_name="__main__")


def test_the_first_file_is_readable_by_an_old_python() -> None:
    ast.parse((PROJECT / "manage.py").read_text(), feature_version=(3, 4))

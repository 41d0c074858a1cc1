"""From a bare Python to a running command.

Standard library only: this runs before anything is installed. `up` and `test` make `.venv` and
install what they need; every other command goes on in `.venv` when it is there.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

PROJECT = Path(__file__).resolve().parent.parent
VENV = PROJECT / ".venv"
RUNTIME = PROJECT / "requirements.txt"
TESTS = PROJECT / "tests" / "requirements.txt"

# What pip says → what the person can do. The first match wins.
_PIP_FAILURES = (
    ("No space left on device", "The disk is full: free some space and start again."),
    (
        "Temporary failure in name resolution",
        "The package index cannot be reached: check the network connection and start again.",
    ),
    (
        "Failed to establish a new connection",
        "The package index cannot be reached: check the network connection and start again.",
    ),
    (
        "Connection refused",
        "The package index cannot be reached: check the network connection and start again.",
    ),
    (
        "ReadTimeoutError",
        "The package index answers too slowly: check the network connection and start again.",
    ),
    ("Permission denied", "The folder .venv cannot be written: check who owns it."),
)


class CannotStart(Exception):
    """Something outside this program is missing; the text is one sentence with the fix."""


def main(arguments: Sequence[str]) -> None:
    """Run one command line, in the right environment."""
    command = arguments[1] if len(arguments) > 1 else "help"
    try:
        _enter_environment(command, arguments)
    except CannotStart as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped.")
    _run(command, arguments)


def _run(command: str, arguments: Sequence[str]) -> None:
    """Hand over to the command; imports come late because the environment exists only now."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "qanot_site.settings")
    if command == "up":
        # Without Django: the supervisor lives as long as the platform and stays small.
        from qanot_site import supervisor

        sys.exit(supervisor.main(arguments[2:]))
    if command == "test":
        # The early plugin is imported from the project folder.
        os.chdir(PROJECT)
        os.execv(  # noqa: S606 - our own interpreter
            sys.executable, [sys.executable, "-m", "pytest", *arguments[2:]]
        )
    from qanot_site import commands

    commands.execute(list(arguments))


def _enter_environment(command: str, arguments: Sequence[str]) -> None:
    """Return when this interpreter has what the command needs; else start again in `.venv`."""
    needed = {"up": [RUNTIME], "test": [RUNTIME, TESTS]}.get(command, [])
    if _is_foreign_venv():
        _require_packages(needed)
        return
    if needed and not _is_installed(needed):
        _install(needed)
    if Path(sys.prefix).resolve() != VENV.resolve():
        if not _python().exists():
            _require_packages([RUNTIME])
            return
        _start_again(arguments)


def _start_again(arguments: Sequence[str]) -> NoReturn:
    script = str(PROJECT / "manage.py")
    os.execv(_python(), [str(_python()), script, *arguments[1:]])  # noqa: S606 - our own venv


def _python() -> Path:
    return VENV / "bin" / "python"


def _is_foreign_venv() -> bool:
    """Whether a person activated a virtual environment of their own: then it is used as it is."""
    return sys.prefix != sys.base_prefix and Path(sys.prefix).resolve() != VENV.resolve()


def _require_packages(files: Sequence[Path]) -> None:
    probes = {RUNTIME: "django", TESTS: "pytest"}
    for file in files:
        if importlib.util.find_spec(probes[file]) is None:
            raise CannotStart(
                "Packages are missing: run `python3 manage.py up` outside a virtual environment, "
                f"or `pip install -r {file.relative_to(PROJECT)}` in this one."
            )


def _stamp(file: Path) -> Path:
    return VENV / f".installed-{'tests' if file == TESTS else 'runtime'}"


def _digest(file: Path) -> str:
    """Of the wanted packages and the interpreter they are for: both may change under a `.venv`."""
    interpreter = os.fsencode(_python().resolve())
    return hashlib.sha256(file.read_bytes() + interpreter).hexdigest()


def _is_installed(files: Sequence[Path]) -> bool:
    """Whether `.venv` was filled from exactly these files."""
    with contextlib.suppress(OSError):
        return _python().exists() and all(
            _stamp(file).read_text() == _digest(file) for file in files
        )
    return False


def _install(files: Sequence[Path]) -> None:
    with _one_at_a_time():
        if _is_installed(files):
            return
        if not _has_pip():
            _create_venv()
        for file in files:
            _say(f"Installing {file.relative_to(PROJECT)} …")
            _pip_install(file)
            _stamp(file).write_text(_digest(file))


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two first starts side by side: the second waits and finds the work done."""
    try:
        lock = (PROJECT / ".venv.lock").open("w")
    except OSError as error:
        raise CannotStart(f"The project folder cannot be written: {error.strerror}.") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _has_pip() -> bool:
    if not _python().exists():
        return False
    found = subprocess.run(  # noqa: S603 - our own venv
        [_python(), "-m", "pip", "--version"], capture_output=True, check=False
    )
    return found.returncode == 0


def _create_venv() -> None:
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise CannotStart(
            f"Python's module {missing[0]} is missing; on Debian and Ubuntu: "
            f"apt install python{version}-venv"
        )
    _say("Creating .venv …")
    # The base interpreter: a venv made from a venv would point at the first one.
    base = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run(  # noqa: S603 - our own interpreter
        [base, "-m", "venv", "--clear", VENV], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise CannotStart(_explain(made.stdout + made.stderr, "Creating .venv failed"))


def _pip_install(file: Path) -> None:
    """Install one requirements file, showing one line a package."""
    process = subprocess.Popen(  # noqa: S603 - our own venv
        [
            *(_python(), "-m", "pip", "install", "--requirement", file),
            *("--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None  # noqa: S101 - for the type checker: PIPE was asked for
    output = []
    for line in process.stdout:
        output.append(line)
        if line.startswith("Collecting "):
            _say(f"  {line.split()[1]}")
        elif line.startswith("Installing collected"):
            _say("  unpacking …")
    if process.wait():
        raise CannotStart(_explain("".join(output), "pip failed"))


def _explain(output: str, what: str) -> str:
    for sign, sentence in _PIP_FAILURES:
        if sign in output:
            return sentence
    errors = [line for line in output.splitlines() if line.startswith("ERROR")]
    last = (errors or output.strip().splitlines() or ["no output"])[-1]
    return f"{what}: {last.removeprefix('ERROR: ')}"


def _say(text: str) -> None:
    # Standard error: a command's own output may be piped.
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()

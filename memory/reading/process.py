"""Reading a file in a process of its own, with bounds on all that it takes."""

import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from pydantic import BaseModel, ValidationError

from memory.reading.errors import Unreadable
from memory.reading.kinds import kind_of
from memory.reading.parts import Parts

# Isolated: neither the folder it starts in nor the environment says what is imported.
_START: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1));"
    "from memory.reading.child import main; main(*sys.argv[1:])"
)
_PROJECT: Final = Path(__file__).resolve().parents[2]
# Nothing of ours: no addresses, no passwords, no keys. One thread, as there is one core for it.
_ENVIRONMENT: Final = {
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # Another parser than the standard library's would bring its own way to expand entities.
    "OPENPYXL_LXML": "False",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What reading one file may take.

    Args:
        memory_bytes: Of address space.
        wall_s: By the clock; more than ``cpu_s``, as others work too.
        output_bytes: Of the text as JSON.
    """

    memory_bytes: int = 1_200 * 2**20
    cpu_s: int = 40
    wall_s: int = 90
    output_bytes: int = 64 * 2**20


DEFAULT: Final = Bounds()


class _Refusal(BaseModel):
    error: str


def read(content: bytes, *, name: str, bounds: Bounds = DEFAULT) -> Parts:
    """Return what a file says, by the kind that its name's ending stands for.

    It takes up to ``bounds.wall_s``, and no database.

    Raises:
        Unreadable: It cannot be read.
    """
    kind = kind_of(name)
    if kind is None:
        raise Unreadable("unknown_kind")
    if not content:
        raise Unreadable("empty")
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
        given.write(content)
        given.seek(0)
        code = _run(kind, given, taken, bounds)
        taken.seek(0)
        said = taken.read(bounds.output_bytes + 1)
    if code != 0:
        raise Unreadable(_reason(code))
    return _parts(said)


def _run(kind: str, given: IO[bytes], taken: IO[bytes], bounds: Bounds) -> int:
    """Run the reading process to its end, or to the end of our patience."""
    process = subprocess.Popen(  # noqa: S603 — our own interpreter and our own words
        [
            *(sys.executable, "-I", "-c", _START, str(_PROJECT), kind),
            *map(str, (bounds.memory_bytes, bounds.cpu_s, bounds.wall_s, bounds.output_bytes)),
        ],
        stdin=given,
        stdout=taken,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )
    try:
        # Its own alarm comes first; this one is for a process that does not even wake.
        return process.wait(bounds.wall_s + 5)
    except subprocess.TimeoutExpired:
        return -signal.SIGALRM
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _reason(code: int) -> str:
    is_over = code in (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL)
    return "too_slow" if is_over else "broken"


def _parts(said: bytes) -> Parts:
    try:
        return Parts.model_validate_json(said)
    except ValidationError:
        pass
    try:
        code = _Refusal.model_validate_json(said).error
    except ValidationError as error:
        raise Unreadable("broken") from error
    raise Unreadable(code)

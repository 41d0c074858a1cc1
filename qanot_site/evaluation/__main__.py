"""`python -m qanot_site.evaluation WHAT PATH`: start a scratch database, measure, throw it away."""

import argparse
import io
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import django
from django.core.management import call_command
from django.utils.module_loading import import_string

from qanot_site.bench import report
from qanot_site.bench.deployment import forget_configuration, own_servers
from qanot_site.embedded.place import temporary_home
from qanot_site.embedded.processes import EmbeddedError
from qanot_site.env import PROJECT

# Loaded by name once the servers run: their addresses are settings of Django.
MEASURES: Final = {
    "memory": "qanot_site.evaluation.memory.measure",
    "recall": "qanot_site.evaluation.recall.measure",
}


def add_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """Options of one measure."""
    parser.add_argument("path", metavar="PATH", type=Path, help="the file to measure")
    parser.add_argument(
        "--json", metavar="FILE", help="write the figures as JSON to a file, or to - (stdout)"
    )
    if what == "memory":
        parser.add_argument(
            "--fit",
            action="store_true",
            help="print weights fitted on this file, for memory/search/weights.py",
        )


def run_apart(what: str, options: Mapping[str, Any]) -> NoReturn:
    """Go on in a process without this one's settings."""
    given = [what, str(options["path"].expanduser().resolve())]
    if written := options["json"]:
        given += ["--json", written if written == "-" else str(Path(written).resolve())]
    given += ["--fit"] if options.get("fit") else []
    os.chdir(PROJECT)
    os.execv(  # noqa: S606 - our own interpreter, before Django reads other settings
        sys.executable, [sys.executable, "-m", "qanot_site.evaluation", *given]
    )


def main(arguments: Sequence[str]) -> int | str:
    """Measure one file.

    Returns:
        0, or the sentence to end with.
    """
    parser = argparse.ArgumentParser(prog="manage.py")
    measures = parser.add_subparsers(dest="what", required=True)
    for what in MEASURES:
        add_arguments(measures.add_parser(what), what)
    options = parser.parse_args(list(arguments))
    path = options.path.expanduser().resolve()
    if not path.is_file():
        return f"There is no file {options.path}."
    forget_configuration()
    try:
        with temporary_home() as home:
            os.environ["QANOT_HOME"] = str(home.folder)
            report.say("Starting a scratch database …")
            with own_servers(home):
                django.setup()
                call_command("prepare", stdout=io.StringIO())
                measure = import_string(MEASURES[options.what])
                figures, shown = measure(path, **_further(options))
    except ValueError as error:
        return f"{options.path} cannot be measured: {error}"
    except EmbeddedError as error:
        return f"The evaluation cannot run: {error}"
    except KeyboardInterrupt:
        return "Stopped."
    report.deliver(figures, shown, json_to=options.json)
    return 0


def _further(options: argparse.Namespace) -> dict[str, bool]:
    return {"is_fitting": options.fit} if options.what == "memory" else {}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "qanot_site.settings")
    sys.exit(main(sys.argv[1:]))

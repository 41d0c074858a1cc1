"""`python -m qanot_site.bench MEASURE`: start what is measured, measure it, stop it."""

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import django
from django.core.management import call_command
from django.utils.module_loading import import_string
from rich.table import Table

from qanot_site.bench import report
from qanot_site.bench.deployment import (
    DidNotStart,
    Platform,
    fake_provider,
    fake_telegram,
    forget_configuration,
    own_servers,
)
from qanot_site.embedded.place import temporary_home
from qanot_site.embedded.processes import EmbeddedError
from qanot_site.home import Home

# The worker processes that each measure is defined for.
WORKERS: Final = {"turns": 1, "streams": 2}
# Loaded by name once the servers run: their addresses are settings of Django.
MEASURES: Final = {
    "turns": "qanot_site.bench.turns.measure",
    "streams": "qanot_site.bench.streams.measure",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `bench`."""
    parser.add_argument(
        "measure",
        choices=(
            "turns",
            "streams",
            "faults",
            "backup",
            "admin",
            "search",
            "telegram",
            "telegram-faults",
        ),
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the figures as JSON to a file, or to - (stdout)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, metavar="N", help="faults: how often each point is run"
    )
    parser.add_argument(
        "--points", default="", metavar="A,B", help="faults: only these points, by name"
    )
    parser.add_argument(
        "--tenth", action="store_true", help="faults: lease, sweep and outage a tenth as long"
    )
    parser.add_argument(
        "--entries",
        type=int,
        default=1_000_000,
        metavar="N",
        help="backup: how many transcript entries there are",
    )
    parser.add_argument(
        "--seconds", type=float, default=180, metavar="N", help="telegram-faults: how long it runs"
    )
    parser.add_argument(
        "--passages", type=int, default=100_000, metavar="N", help="search: how many there are"
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="search: what is filled stays in this folder, and the next run goes on from there",
    )


def main(arguments: Sequence[str]) -> int | str:
    """Run one measure.

    Returns:
        0, or the sentence to end with.
    """
    parser = argparse.ArgumentParser(prog="manage.py bench", description="Measure the platform.")
    add_arguments(parser)
    options = parser.parse_args(list(arguments))
    forget_configuration()
    try:
        with _kept(options.keep) if options.keep else temporary_home() as home:
            os.environ["QANOT_HOME"] = str(home.folder)
            _measure(options, home)
    except (DidNotStart, EmbeddedError) as error:
        return f"The bench cannot run: {error}"
    except KeyboardInterrupt:
        return "Stopped."
    return 0


@contextmanager
def _kept(folder: str) -> Iterator[Home]:
    """A home that is there before and afterwards."""
    home = Home(Path(folder) / "home")
    home.create()
    yield home


def _measure(options: argparse.Namespace, home: Home) -> None:
    if options.measure == "faults":
        figures, shown = _faults(options, home)
    elif options.measure == "backup":
        figures, shown = _backup(options.entries, home)
    elif options.measure == "admin":
        figures, shown = _admin(home)
    elif options.measure == "telegram":
        figures, shown = _telegram(home)
    elif options.measure == "telegram-faults":
        figures, shown = _telegram_faults(options.seconds, home)
    elif options.measure == "search":
        figures, shown = _search(options.passages, home)
    else:
        figures, shown = _figures(options.measure, home)
    report.deliver(figures, shown, json_to=options.json)


def _figures(measure: str, home: Home) -> tuple[report.Figures, Table]:
    """Measure what `up` starts, its embedded servers included."""
    # Before anything of ours runs: what else the machine does.
    load = report.load()
    platform = Platform(home, workers=WORKERS[measure])
    with fake_provider(home.folder.parent, chunks=100, interval_ms=50) as provider:
        platform.provider = provider
        try:
            report.say("Starting the platform …")
            platform.start()
            platform.wait()
            django.setup()
            measures, shown = import_string(MEASURES[measure])(platform, provider.url)
        finally:
            platform.stop()
    return {"load": load, "measures": measures}, shown


def _faults(options: argparse.Namespace, home: Home) -> tuple[report.Figures, Table]:
    """Run the faults on servers of our own, which can be taken away, and `up` on top of them."""
    with (
        own_servers(home) as servers,
        fake_provider(home.folder.parent, chunks=20, interval_ms=50) as provider,
        fake_telegram(home.folder.parent) as telegram,
    ):
        django.setup()
        try:
            points = import_string("qanot_site.bench.faults.measure.chosen")(options.points)
        except ValueError as error:
            raise DidNotStart(str(error)) from error
        lengths = import_string("qanot_site.bench.faults.scene.Lengths")
        figures, shown = import_string("qanot_site.bench.faults.measure.measure")(
            home,
            servers,
            provider.url,
            telegram.url,
            runs=options.runs,
            points=points,
            lengths=lengths(0.1 if options.tenth else 1.0),
        )
    return figures, shown


def _admin(home: Home) -> tuple[report.Figures, Table]:
    """Ask for the admin's pages over many rows, on servers of our own, in this process."""
    load = report.load()
    with own_servers(home):
        django.setup()
        call_command("prepare", stdout=io.StringIO())
        figures, shown = import_string("qanot_site.bench.admin.measure")()
    return {"load": load, **figures}, shown


def _telegram(home: Home) -> tuple[report.Figures, Table]:
    """Measure bots on what `up` starts, beside a fake Bot API."""
    load = report.load()
    environment: dict[str, str] = {}
    platform = Platform(home, environment=environment)
    environment["QANOT_PUBLIC_URL"] = f"http://{platform.address}"
    folder = home.folder.parent
    with (
        fake_provider(folder, chunks=20, interval_ms=50) as provider,
        fake_telegram(folder) as telegram,
    ):
        try:
            report.say("Starting the platform …")
            platform.start()
            platform.wait()
            django.setup()
            measure = import_string("qanot_site.bench.telegram.measure.measure")
            measures, shown = measure(platform, provider.url, telegram.url)
        finally:
            platform.stop()
    return {"load": load, "measures": measures}, shown


def _telegram_faults(seconds: float, home: Home) -> tuple[report.Figures, Table]:
    """Kill and double pollers while people write, on servers of our own."""
    folder = home.folder.parent
    with (
        own_servers(home),
        fake_provider(folder, chunks=5, interval_ms=20) as provider,
        fake_telegram(folder) as telegram,
    ):
        django.setup()
        figures, shown = import_string("qanot_site.bench.telegram.faults.measure")(
            home, provider.url, telegram.url, seconds=seconds
        )
    return figures, shown


def _search(passages: int, home: Home) -> tuple[report.Figures, Table]:
    """Fill and search memory on servers of our own, in this process."""
    load = report.load()
    with own_servers(home):
        django.setup()
        call_command("prepare", stdout=io.StringIO())
        figures, shown = import_string("qanot_site.bench.search.measure")(passages=passages)
    return {"load": load, **figures}, shown


def _backup(entries: int, home: Home) -> tuple[report.Figures, Table]:
    """Back up and restore on servers of our own, without the platform."""
    load = report.load()
    with own_servers(home) as servers:
        django.setup()
        call_command("prepare", stdout=io.StringIO())
        measures, shown = import_string("qanot_site.bench.backup.measure")(
            home.folder, servers, entries=entries
        )
    return {"load": load, "measures": measures}, shown


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "qanot_site.settings")
    sys.exit(main(sys.argv[1:]))

"""The database that a command speaks of: a person's own, the running one, or the home's, woken."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from qanot_site.backups.errors import BackupError, InUse
from qanot_site.embedded.place import settle
from qanot_site.embedded.postgres import APPLICATION, OWNER, Postgres
from qanot_site.embedded.processes import EmbeddedError
from qanot_site.home import Home, HomeInUse, HomeUnusable

_CONNECTIONS = 20


@dataclass(frozen=True, slots=True)
class Addresses:
    """One database as two roles; both are the same where there is one role."""

    owner_url: str
    application_url: str


@contextmanager
def reachable(
    home: Home, *, database_url: str, database_owner_url: str, must_be_stopped: bool
) -> Iterator[Addresses]:
    """Give the database's addresses, and start the embedded server where it is not running.

    Args:
        database_url: The person's own, from the environment; empty for the embedded server.
        must_be_stopped: Whether an embedded platform that runs is in the way.

    Raises:
        BackupError: It cannot be reached, or the platform runs and must not.
    """
    if database_url:
        yield Addresses(database_owner_url or database_url, database_url)
        return
    running = home.servers()
    if running is not None:
        if must_be_stopped:
            raise InUse("The platform runs with this home: stop it first (Ctrl-C ends `up`).")
        yield Addresses(running.database_owner_url, running.database_url)
        return
    with _woken(home, makes_anew=must_be_stopped) as addresses:
        yield addresses


@contextmanager
def _woken(home: Home, *, makes_anew: bool) -> Iterator[Addresses]:
    try:
        if makes_anew:
            home.create()
        with home.locked():
            postgres = Postgres(home, settle(home), max_connections=_CONNECTIONS)
            if postgres.is_new() and not makes_anew:
                raise BackupError(f"There is nothing to back up in {home.folder}.")
            postgres.prepare()
            postgres.spawn()
            try:
                postgres.wait()
                yield Addresses(postgres.url(OWNER), postgres.url(APPLICATION))
            finally:
                postgres.stop(timeout_s=60)
    except HomeInUse as error:
        raise InUse(f"Qanot already runs with the home {error}: stop it first.") from error
    except HomeUnusable as error:
        raise BackupError(f"The home cannot be used: {error}.") from error
    except EmbeddedError as error:
        raise BackupError(str(error)) from error
    except FileNotFoundError as error:
        if (home.folder / "run").exists():
            raise
        raise BackupError(f"There is no home in {home.folder}.") from error

"""The one table of configuration variables: name, type, default, meaning.

Values come from the environment and from `.env` in the project folder; the environment wins.
An empty value counts as not set. Nothing here imports Django, so that the supervisor stays small.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

from dotenv import dotenv_values
from environs import Env, EnvValidationError, validate

PROJECT = Path(__file__).resolve().parent.parent
PREFIX = "QANOT_"
DATABASE_SCHEMES = ("postgresql", "postgres")
REDIS_SCHEMES = ("redis", "rediss", "unix")


class BadEnvironment(Exception):
    """A variable has an unknown name or a bad value; the text never shows the value."""


def _variable(
    default: object,
    meaning: str,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    schemes: tuple[str, ...] = (),
) -> Any:
    """Declare one row of the table.

    `Any`, as `dataclasses.field` does: the annotation beside it gives the type.
    """
    checks: list[Callable[[Any], Any]] = []
    if at_least is not None or at_most is not None:
        checks.append(validate.Range(min=at_least, max=at_most))
    if schemes:
        starts = " or ".join(f"{scheme}://" for scheme in schemes)
        error = f"It has to start with {starts}."
        checks.append(validate.Regexp(f"({'|'.join(schemes)})://.", error=error))
    return field(default=default, metadata={"meaning": meaning, "checks": checks})


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Every variable of the platform, parsed; the field `qanot_port` is `QANOT_PORT`."""

    database_url: str = _variable(
        "",
        "PostgreSQL 15 or newer with pgvector, as the application's role. "
        "Empty: the embedded server is started.",
        schemes=DATABASE_SCHEMES,
    )
    database_owner_url: str = _variable(
        "",
        "The same database as the role that owns the tables and migrates them. "
        "Empty: `DATABASE_URL`; past rows are then not protected by the database.",
        schemes=DATABASE_SCHEMES,
    )
    redis_url: str = _variable(
        "", "Redis 7 or Valkey. Empty: the embedded server is started.", schemes=REDIS_SCHEMES
    )
    anthropic_api_key: bool = _variable(
        False,
        "If set at the start, an account for Anthropic is made that refers to this variable; "
        "the key itself is never stored.",
    )
    anthropic_api_key_file: str = _variable(
        "", "The same with the key in a file, whose first line it is."
    )
    openai_api_key: bool = _variable(
        False,
        "If set at the start, an account for OpenAI is made that refers to this variable; "
        "the key itself is never stored.",
    )
    openai_api_key_file: str = _variable(
        "", "The same with the key in a file, whose first line it is."
    )
    ollama_host: str = _variable(
        "",
        "Where Ollama runs, as its own programs read it (`host:port`). Empty: `127.0.0.1:11434`.",
    )
    qanot_home: str = _variable(
        ".qanot", "Folder of the embedded servers' data, uploaded files and the secret key."
    )
    qanot_host: str = _variable("127.0.0.1", "Address the web server listens on.")
    qanot_port: int = _variable(8000, "Port the web server listens on.", at_least=1, at_most=65_535)
    qanot_workers: int = _variable(1, "Worker processes that run turns.", at_least=1)
    qanot_public_url: str = _variable(
        "",
        "Address people use when a proxy stands in front, such as `https://bots.example.org`. "
        "With https, cookies are sent over https only.",
        schemes=("https", "http"),
    )
    qanot_secret_key: str = _variable(
        "",
        "Key that signs sessions and seals stored keys. Empty: made at the first start, kept in "
        "the home.",
    )
    qanot_secret_key_fallbacks: tuple[str, ...] = _variable(
        (),
        "Older secret keys, separated by commas, that still open and verify what they sealed and "
        "signed.",
    )
    qanot_debug: bool = _variable(False, "Django's debug pages. Never in production.")
    qanot_allowed_hosts: tuple[str, ...] = _variable(
        (),
        "Host names, separated by commas, that requests may name. "
        "Empty: this machine's names and the host of `QANOT_PUBLIC_URL`.",
    )
    qanot_private_hosts: tuple[str, ...] = _variable(
        (),
        "Hosts or `host:port`, separated by commas, that anybody's address may name although they "
        "are private.",
    )
    qanot_log_format: Literal["text", "json"] = _variable(
        "text", "Log lines for people (`text`) or for machines (`json`)."
    )
    qanot_metrics_token: str = _variable(
        "",
        "Bearer token with which `/metrics` is read, of 24 characters or more. Empty: there is no "
        "such page.",
    )
    qanot_dump_before_migrate: Literal["auto", "off", "require"] = _variable(
        "auto",
        "Before a database with rows is migrated, dump it into the home's `backups`: where a "
        "pg_dump fits the server (`auto`), never (`off`), or start only with such a dump "
        "(`require`).",
    )
    qanot_lease_s: float = _variable(
        10.0, "Seconds that a worker may hold a conversation without a heartbeat.", at_least=0.1
    )
    qanot_heartbeat_s: float = _variable(
        3.0, "Seconds between two heartbeats of a running turn.", at_least=0.01
    )
    qanot_sweep_s: float = _variable(
        3.0, "Seconds between two looks for waiting or orphaned work.", at_least=0.01
    )
    qanot_first_event_s: float = _variable(
        60.0, "Seconds to wait for a provider's first event.", at_least=0.1
    )
    qanot_between_events_s: float = _variable(
        60.0, "Seconds to wait between two events of a provider.", at_least=0.1
    )
    qanot_call_s: float = _variable(
        600.0, "Seconds that one call to a provider may take.", at_least=0.1
    )
    qanot_tool_s: float = _variable(30.0, "Seconds that one tool call may take.", at_least=0.1)
    qanot_streams: int = _variable(
        100, "Turns that one worker process runs at the same time.", at_least=1
    )
    qanot_retry_base_s: float = _variable(
        2.0,
        "Seconds before the first retry of a provider call; the next wait is twice as long.",
        at_least=0.0,
    )


def variable_names() -> tuple[str, ...]:
    """All names, in the order of the table."""
    return tuple(column.name.upper() for column in fields(Environment))


def load_dotenv(path: Path = PROJECT / ".env") -> None:
    """Add the variables of a `.env` file to the process, where they are not set already.

    They go to `os.environ`, because an account may refer to any variable by name, and children
    inherit them.
    """
    for name, value in dotenv_values(path).items():
        if value is not None:
            os.environ.setdefault(name, value)


def read_environment() -> Environment:
    """Parse and check every variable.

    Raises:
        BadEnvironment: A `QANOT_*` name is unknown or a value does not fit its type.
    """
    known = set(variable_names())
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known:
            raise BadEnvironment(
                f"{name} is not a setting of Qanot; the table in docs/environment.md has all names."
            )
    given = {
        column.name: _parsed(column.name.upper(), column.type, column.metadata["checks"])
        for column in fields(Environment)
        if os.environ.get(column.name.upper(), "").strip()
    }
    return Environment(**given)


# Any: one value of whichever type the field declares; the dataclass is the typed view of it.
def _parsed(name: str, kind: object, checks: list[Callable[[Any], Any]]) -> Any:
    env = Env()
    try:
        if kind is int:
            return env.int(name, validate=checks)
        if kind is float:
            return env.float(name, validate=checks)
        if kind is bool:
            return True if name.endswith("_API_KEY") else env.bool(name)
        if get_origin(kind) is tuple:
            return tuple(part.strip() for part in env.str(name).split(",") if part.strip())
        if get_origin(kind) is Literal:
            return env.str(name, validate=validate.OneOf(get_args(kind)))
        return env.str(name, validate=checks).strip()
    except EnvValidationError as error:
        reason = " ".join(cast("list[str]", error.error_messages))
        raise BadEnvironment(f"{name} has a bad value: {reason}") from error


def markdown_table() -> str:
    """The table of docs/environment.md."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for column in fields(Environment):
        default = _shown(column.default)
        rows.append(f"| `{column.name.upper()}` | {default} | {column.metadata['meaning']} |")
    return "\n".join(rows) + "\n"


def _shown(default: object) -> str:
    if default in ("", (), False):
        return ""
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"

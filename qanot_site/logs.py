"""Log lines: for people on a terminal, JSON for machines; secrets never.

Code logs through `structlog.get_logger(__name__)` with an event name and values; libraries'
`logging` records pass through the same processors.
"""

import logging
import os
import re
from collections.abc import Mapping
from typing import Any, Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

_SECRET_NAMES = re.compile(
    r"(pass(word|wd)|secret|token|api_?key|authorization|cookie|credential)", re.IGNORECASE
)
_COUNTED = re.compile(r"_tokens$|_token_added|first_token|last_token", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+]*://[^/\s:@]*):[^/\s@]+@", re.IGNORECASE)
# One-time links: to log in, to join, to choose a new password.
_LOGIN_LINK = re.compile(r"(?P<path>/(?:login|join|password)/)[^/\s\"']+")
# Keys of model providers and of others that people paste, by how they begin; our own API tokens
# and what is sealed in rows.
_KEY_SHAPED = re.compile(
    r"\b(?P<kind>[spr]k[-_]|xox[abprs]-|gh[pousr]_|github_pat_|glpat-|gsk_|xai-|hf_|npm_|pypi-"
    r"|AKIA|ASIA)[\w-]{8,}"
    r"|\b(?P<long>AIza|qanot_|gAAAAA)[\w-]{30,}"
    r"|\b(?P<jwt>eyJ)[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,40}-----)?"
)
_BEARER = re.compile(
    r"\b(?P<kind>Bearer\s+|Authorization[\"']?\s*[:=]\s*[\"']?(?:Basic|Token)\s+)[\w.~+/=-]{8,}",
    re.IGNORECASE,
)
# In queries, forms, JSON, reprs: a name that tells of a secret, and its value.
_NAMED = re.compile(
    r"(?P<name>(?<![^\W_])(?:pass(?:word|wd|phrase)?\d?|secret|token|api_?key|x-api-key|signature"
    r"|sessionid|csrfmiddlewaretoken|qanot_session\w*|parol)"
    r"[\"']?\s*(?:=|:\s?)\s*[\"']?)(?P<value>[^\s&;,\"'}\])]{4,})",
    re.IGNORECASE,
)
_COOKIES = re.compile(r"(?P<name>\b(?:Set-)?Cookie:\s*)[^\r\n\"']+", re.IGNORECASE)
# In an address it follows the word "bot" without a gap.
_BOT_TOKEN = re.compile(r"(?<!\d)(?P<bot>\d{6,12}):[\w-]{30,}")
MASK = "***"


def mask_text(text: str) -> str:
    """The text without passwords, one-time links, keys, tokens and cookies."""
    text = _URL_PASSWORD.sub(rf"\g<scheme>:{MASK}@", text)
    text = _LOGIN_LINK.sub(rf"\g<path>{MASK}", text)
    text = _PRIVATE_KEY.sub(MASK, text)
    text = _COOKIES.sub(rf"\g<name>{MASK}", text)
    text = _BEARER.sub(rf"\g<kind>{MASK}", text)
    text = _BOT_TOKEN.sub(rf"\g<bot>:{MASK}", text)
    text = _KEY_SHAPED.sub(rf"\g<kind>\g<long>\g<jwt>{MASK}", text)
    return _NAMED.sub(rf"\g<name>{MASK}", text)


def mask_secrets(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """A structlog processor: blank values with a secret's name, mask secrets inside texts."""
    for name, value in event.items():
        event[name] = _masked(name, value)
    return event


def _masked(name: object, value: object) -> object:
    """A value as it may be shown, however deep a secret lies in it."""
    if isinstance(name, str) and _SECRET_NAMES.search(name) and not _COUNTED.search(name):
        return MASK
    match value:
        case str():
            return mask_text(value)
        case bytes():
            return mask_text(value.decode(errors="replace"))
        case BaseException():
            return mask_text(repr(value))
        case Mapping():
            return {key: _masked(key, inner) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_masked("", inner) for inner in value]
        case None | bool() | int() | float():
            return value
        case _:
            # Renderers would write it so, past this mask: a request's repr holds its address.
            return mask_text(repr(value))


class ClientFaults(logging.Filter):
    """Drop the traceback where a request was refused: whoever sent it is at fault, not the code.

    Anybody can send such requests, and each would fill the screen of whoever ran `up`.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        is_refusal = record.name == "django.request" and record.levelno < logging.ERROR
        if is_refusal or record.name.startswith("django.security"):
            record.exc_info = None
            record.exc_text = None
        return True


def _shared_processors() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def configure(log_format: Literal["text", "json"]) -> dict[str, Any]:
    """Set structlog up and return Django's `LOGGING`.

    Returns:
        A `logging.config` dictionary; one handler on standard error, `INFO` and above.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared_processors(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "lines": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": _shared_processors(),
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_renderers(log_format),
                ],
            }
        },
        "filters": {"client_faults": {"()": ClientFaults}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "lines",
                "filters": ["client_faults"],
            }
        },
        "root": {"handlers": ["stderr"], "level": logging.INFO},
        "loggers": {
            name: {"level": logging.WARNING}
            for name in (
                "httpx",
                "httpx2",
                "httpcore2",
                "uvicorn.access",
                "uvicorn.error",
                "celery.worker.strategy",
                "celery.app.trace",
                "django_celery_beat",
                "celery.beat",
                "axes",
            )
        },
    }


def _add_process(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """A structlog processor: name the process, as several write into one stream."""
    event["process"] = os.getpid()
    return event


def _renderers(log_format: Literal["text", "json"]) -> list[Processor]:
    if log_format == "json":
        return [
            _add_process,
            structlog.processors.format_exc_info,
            mask_secrets,
            structlog.processors.JSONRenderer(),
        ]
    return [
        structlog.processors.format_exc_info,
        mask_secrets,
        structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0),
    ]

"""No secret reaches a log line, and no stranger fills the log."""

import logging
import sys

import pytest

from qanot_site import logs


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://app:hunter2@host/db", "postgresql://app:***@host/db"),
        ("redis://:hunter2@host/0", "redis://:***@host/0"),
        ("GET /login/abcDEF-123/ HTTP/1.1", "GET /login/***/ HTTP/1.1"),
        ("key sk-ant-api03-abcdefghij refused", "key sk-*** refused"),
        ("http://host:8000/path", "http://host:8000/path"),
    ],
)
def test_texts_are_masked(text: str, shown: str) -> None:
    assert logs.mask_text(text) == shown


def test_values_with_a_secret_name_are_blanked_and_counts_are_not() -> None:
    event = {
        "event": "call",
        "api_key": "abc",
        "Authorization": "Bearer abc",
        "password": "abc",
        "login_token": "abc",
        "input_tokens": 12,
        "first_token_at": "12:00",
    }

    masked = logs.mask_secrets(None, "info", dict(event))

    assert [name for name, value in masked.items() if value == "***"] == [
        "api_key",
        "Authorization",
        "password",
        "login_token",
    ]


@pytest.mark.parametrize(
    ("logger", "level", "has_traceback"),
    [
        ("django.request", logging.WARNING, False),
        ("django.request", logging.ERROR, True),
        ("django.security.DisallowedHost", logging.ERROR, False),
        ("sessions.turns.worker", logging.WARNING, True),
    ],
)
def test_a_refused_request_is_logged_without_a_traceback(
    logger: str, level: int, has_traceback: bool
) -> None:
    try:
        raise ValueError
    except ValueError:
        record = logging.LogRecord(logger, level, "", 0, "said", None, sys.exc_info())

    assert logs.ClientFaults().filter(record)

    assert bool(record.exc_info) is has_traceback

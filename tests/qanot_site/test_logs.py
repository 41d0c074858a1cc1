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
        ("gsk_abcdefghijklmnop", "gsk_***"),
        ("xai-abcdefghijklmnop", "xai-***"),
        ("AIza" + "Sy0123456789_-abcdefghijklmnopqrstu", "AIza***"),
        ("github_pat_11ABCDEFG0abcdefgh", "github_pat_***"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ***"),
        (
            "POST https://api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/send",
            "POST https://api.telegram.org/bot123456789:***/send",
        ),
        ("token qanot_" + "a" * 43, "token qanot_***"),
        ("sealed gAAAAA" + "b" * 94, "sealed gAAAAA***"),
        ("http://host:8000/path", "http://host:8000/path"),
        ("qanot_site.logs at 21:30:05", "qanot_site.logs at 21:30:05"),
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


def test_a_secret_is_masked_however_deep_it_lies() -> None:
    key = "sk-ant-api03-abcdefghij"
    event = {
        "event": "refused",
        "request": {"headers": [("x", f"Bearer {key}")], "api_key": key, "tokens": {"n": 1}},
        "error": ValueError(f"bad key {key}"),
        "body": f"key={key}".encode(),
        "attempts": (1, 2.5, None),
    }

    masked = logs.mask_secrets(None, "info", dict(event))

    assert key not in repr(masked)
    assert masked["attempts"] == [1, 2.5, None]
    assert key in repr(event)


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

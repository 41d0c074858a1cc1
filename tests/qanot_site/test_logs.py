"""No secret reaches a log line."""

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

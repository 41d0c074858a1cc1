"""How a provider's words become an error."""

from datetime import UTC, datetime

import pytest

from agents.core.errors import (
    AuthenticationFailed,
    BillingRefused,
    ContextOverflow,
    Overloaded,
    ProviderError,
    RateLimited,
    RequestRefused,
)
from agents.providers.failures import MAX_DETAIL, as_error, read_failure, retry_after_s
from tests.agents.providers.calls import make_call

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def make_error(body: object, status: int | None = None, key: str = "") -> ProviderError:
    """Return the error for a body."""
    return as_error(read_failure(body, status=status), api_key=key, call=make_call("Hello there."))


def said(message: str, **fields: object) -> dict[str, object]:
    """Return an error body with a message."""
    return {"error": {"message": message, **fields}}


# Sentences as the providers' servers send them.
SENTENCES: list[tuple[int, str, type[ProviderError]]] = [
    (400, "Your credit balance is too low to access the Anthropic API.", BillingRefused),
    (400, "prompt is too long: 205000 tokens > 200000 maximum", ContextOverflow),
    (400, "input length and `max_tokens` exceed context limit: 1 + 2 > 3", ContextOverflow),
    (400, "This model's maximum context length is 128000 tokens.", ContextOverflow),
    (400, "the request exceeds the available context size, try increasing it", ContextOverflow),
    (422, "Input is too long for requested model.", ContextOverflow),
    (413, "Request exceeds the maximum size", RequestRefused),
    (400, "API key not valid. Please pass a valid API key.", AuthenticationFailed),
    (429, "Number of request tokens has exceeded your rate limit", RateLimited),
    (429, "You exceeded your current quota", BillingRefused),
    (500, "the context window could not be loaded", Overloaded),
    (408, "Request timeout", ProviderError),
    (409, "Conflict", Overloaded),
    (307, "Moved", RequestRefused),
]


@pytest.mark.parametrize(("status", "message", "expected"), SENTENCES)
def test_a_sentence_has_its_error(status: int, message: str, expected: type[ProviderError]) -> None:
    assert isinstance(make_error(said(message), status), expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"code": 502, "message": "Bad gateway"}}, Overloaded),
        ({"error": {"code": "429", "message": "Slow"}}, RateLimited),
        ({"error": {"status": "401"}}, AuthenticationFailed),
        ({"error": "overloaded", "code": 503}, Overloaded),
    ],
)
def test_a_status_inside_a_stream_counts(
    body: dict[str, object], expected: type[ProviderError]
) -> None:
    assert type(make_error(body)) is expected


@pytest.mark.parametrize("body", [None, 7, "", "text", [], {}, {"error": None}, {"error": [1]}])
def test_any_body_makes_an_error(body: object) -> None:
    assert make_error(body, 500).detail == "500"
    assert make_error(body).detail


def test_a_detail_is_one_short_line() -> None:
    detail = make_error(said("a\nb " + "long " * 200), 400).detail
    assert len(detail) == MAX_DETAIL
    assert detail.startswith("400: a b long")


@pytest.mark.parametrize(
    "message",
    [
        "key very-own-key is bad",
        "Incorrect: sk-ab***9xyz.",
        "Incorrect: gsk_ab9xyzab9xyz, AIzaSyab9xyz, xai-ab9xyzab9xyz, hf_ab9xyzab9xyz",
        "Refused: Bearer ab.9xyz.cd",
    ],
)
def test_a_key_is_not_repeated(message: str) -> None:
    detail = make_error(said(message), 401, key="very-own-key").detail
    assert "[key]" in detail
    assert "own" not in detail
    assert "9xyz" not in detail


def test_words_of_the_prompt_are_not_repeated() -> None:
    quoted = "messages.0.content: 'Hello there.' is not allowed"
    assert make_error(said(quoted, type="invalid_request_error"), 400).detail == (
        "400 invalid_request_error"
    )


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "1"}, 1.0),
    ],
)
def test_the_wait_is_read(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after_s(headers, now=NOW) == expected

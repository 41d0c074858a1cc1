"""What a provider says when it refuses, as our error kinds; the only place that reads its words.

Providers agree on little: the same trouble comes as a status, as a type, as a code or as a
sentence, before a stream or inside one. Everything they send is first brought into a ``Failure``.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from agents.core.errors import (
    AuthenticationFailed,
    BillingRefused,
    ContextOverflow,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    RequestRefused,
    StreamBroken,
)
from agents.core.protocols import ModelCall

MAX_DETAIL = 300
# A stretch of this length, shared by a provider's words and the prompt, is a quotation.
QUOTED = 20

_BILLING_KINDS = frozenset(
    {
        "insufficient_quota",
        "insufficient_balance",
        "billing_error",
        "billing_not_active",
        "billing_hard_limit_reached",
    }
)
_CONTEXT_KINDS = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_AUTH_KINDS = frozenset({"authentication_error", "permission_error", "invalid_api_key"})
_RATE_KINDS = frozenset({"rate_limit_error", "rate_limit_exceeded", "usage_limit_reached"})
_TIMEOUT_KINDS = frozenset({"timeout_error", "timeout"})
_REFUSED_KINDS = frozenset(
    {"invalid_request_error", "not_found_error", "request_too_large", "model_not_found"}
)

_BILLING_TEXT = re.compile(
    r"credit balance is too low|insufficient[_ ](quota|balance)|exceeded your current quota", re.I
)
_CONTEXT_TEXT = re.compile(
    r"prompt is too long|input is too long|context (length|window|size|limit)|maximum context"
    r"|too many (input )?tokens|exceeds? the (model's )?maximum (number of )?(input )?tokens",
    re.I,
)
_AUTH_TEXT = re.compile(r"(invalid|incorrect) api[ _-]?key|api[ _-]?key not valid", re.I)
# Keys as providers echo them, whole or with their middle starred out.
_KEY_TEXT = re.compile(
    r"\b(sk|pk|gsk|xai|hf|key)[-_][\w*-]{6,}|\bAIza[\w*-]{6,}|\b[Bb]earer\s+[\w.*~+/=-]{6,}"
)


@dataclass(frozen=True, slots=True)
class Failure:
    """What a provider sent instead of an answer.

    Args:
        status: HTTP status; None for an error inside a stream.
        kinds: Its types and codes, lower case.
        message: Its sentence.
        headers: Of the response, names in lower case.
        limit_named: True where the body names the rate limit that was reached.
    """

    status: int | None = None
    kinds: frozenset[str] = frozenset()
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    limit_named: bool = False


def read_failure(
    body: object, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Failure:
    """Bring an error's body, of any provider and any form, into a ``Failure``."""
    nested = list(_mappings(body))
    kinds = frozenset(
        str(value).lower()
        for part in nested
        for value in (part.get("type"), part.get("code"), part.get("status"))
        if isinstance(value, str | int) and value not in ("", "error")
    )
    return Failure(
        status=status if status is not None else _status_among(kinds),
        kinds=kinds,
        message=_message(nested),
        headers={name.lower(): value for name, value in (headers or {}).items()},
        limit_named=any(part.get("rate_limit_reached_type") is not None for part in nested),
    )


def _mappings(body: object) -> Iterator[Mapping[str, object]]:
    """Yield a body and the errors nested in it, outermost first."""
    if isinstance(body, list) and body:
        # Google sends a list of one.
        body = body[0]
    while isinstance(body, Mapping):
        yield body
        body = body.get("error")


def _message(nested: Sequence[Mapping[str, object]]) -> str:
    """Return the innermost sentence; some servers send it as the error itself."""
    for part in reversed(nested):
        for said in (part.get("message"), part.get("error"), part.get("detail")):
            if isinstance(said, str) and said:
                return said
    return ""


def _status_among(kinds: Iterable[str]) -> int | None:
    """Return the HTTP status that some servers put into an error's code."""
    found = (int(kind) for kind in kinds if kind.isdecimal() and len(kind) == 3)
    return next((status for status in found if 400 <= status < 600), None)


def as_error(failure: Failure, *, api_key: str, call: ModelCall) -> ProviderError:
    """Return the error that callers decide by.

    Its detail carries neither the key nor a quotation of the prompt.
    """
    detail = clean_detail(_describe(failure), api_key=api_key)
    if quotes_prompt(detail, call):
        detail = _describe(Failure(status=failure.status, kinds=failure.kinds))
    return _error_class(failure)(detail, retry_after_s=retry_after_s(failure.headers))


def _error_class(failure: Failure) -> type[ProviderError]:
    status, kinds, text = failure.status, failure.kinds, failure.message
    # A named rate limit may come with words of quota, but it passes by itself.
    if failure.limit_named:
        return RateLimited
    if status == 402 or kinds & _BILLING_KINDS or _BILLING_TEXT.search(text):
        return BillingRefused
    is_ours = status is None or status in (400, 413, 422)
    if kinds & _CONTEXT_KINDS or (is_ours and _CONTEXT_TEXT.search(text)):
        return ContextOverflow
    if status in (401, 403) or kinds & _AUTH_KINDS or (is_ours and _AUTH_TEXT.search(text)):
        return AuthenticationFailed
    if status == 429 or kinds & _RATE_KINDS:
        return RateLimited
    if status is not None:
        return _by_status(status)
    return _by_kind(kinds)


def _by_status(status: int) -> type[ProviderError]:
    if status == 408:
        return ProviderTimeout
    # A conflict or "too early" is the server's own disorder and passes.
    if status in (409, 425) or status >= 500:
        return Overloaded
    return RequestRefused


def _by_kind(kinds: frozenset[str]) -> type[ProviderError]:
    if kinds & _TIMEOUT_KINDS:
        return ProviderTimeout
    if kinds & _REFUSED_KINDS:
        return RequestRefused
    if any("overload" in kind or "server" in kind or kind == "api_error" for kind in kinds):
        return Overloaded
    return StreamBroken


def retry_after_s(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return the seconds that a provider asks us to wait; None where it says nothing clear.

    Reads OpenAI's ``retry-after-ms``, and ``retry-after`` as seconds or as an HTTP date.

    Args:
        headers: Names in lower case.
        now: For tests; the clock otherwise.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None or asked is None:
        return seconds
    try:
        at = parsedate_to_datetime(asked)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _describe(failure: Failure) -> str:
    kinds = " ".join(sorted(kind for kind in failure.kinds if not kind.isdecimal()))
    named = " ".join(part for part in (str(failure.status or ""), kinds) if part)
    return ": ".join(part for part in (named, failure.message) if part) or "no reason given"


def clean_detail(text: str, *, api_key: str) -> str:
    """Return text on one short line, without the key."""
    if api_key:
        text = text.replace(api_key, "[key]")
    text = " ".join(_KEY_TEXT.sub("[key]", text).split())
    return text if len(text) <= MAX_DETAIL else f"{text[: MAX_DETAIL - 1]}…"


def quotes_prompt(detail: str, call: ModelCall) -> bool:
    """Return whether a provider's words repeat a stretch of what it was sent."""
    starts = range(0, max(1, len(detail) - QUOTED + 1), QUOTED // 4)
    stretches = [detail[at : at + QUOTED] for at in starts if len(detail) >= QUOTED]
    return any(
        any(stretch in text for stretch in stretches)
        or (len(text) >= QUOTED // 3 and text in detail)
        for text in _texts(call)
    )


def _texts(call: ModelCall) -> Iterator[str]:
    for part in call.system:
        yield part.text
    for message in call.messages:
        yield message.text.strip()

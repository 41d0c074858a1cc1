"""What can go wrong while an agent works, as classes that callers decide by.

AgentError
├── ProviderError            a model provider did not answer
│   ├── CallStopped          a person stopped the turn meanwhile
│   ├── RateLimited          the same request may succeed later, or elsewhere
│   ├── Overloaded           the provider's side is busy or broken
│   ├── ProviderTimeout      nothing came within the agreed time
│   ├── StreamBroken         the answer broke off, or arrived empty or unreadable
│   ├── AccountRefused       the account itself is refused until a person acts
│   │   ├── AuthenticationFailed
│   │   ├── BillingRefused
│   │   └── AddressNotAllowed
│   └── RequestRefused       this request is refused, the account is fine
│       ├── ContextOverflow
│       └── Redirected       the server leads elsewhere, where nobody follows
├── NoProvider               no account of the chain may be asked
├── CapReached               the call might cost more than may still be spent
├── Stopped                  a person asked the turn to stop
└── LeaseLost                another worker owns the turn now
"""

from typing import Literal

from agents.core.messages import JsonObject

ErrorCode = Literal[
    "rate_limit",
    "overloaded",
    "timeout",
    "stream_broken",
    "auth",
    "billing",
    "address",
    "request_refused",
    "context_overflow",
    "no_provider",
    "cap_reached",
    "stopped",
    "lease_lost",
    "crashed",
    "unknown",
]


class AgentError(Exception):
    """The root of everything an agent raises on purpose."""

    code: ErrorCode = "unknown"


class ProviderError(AgentError):
    """A model provider did not answer.

    Args:
        detail: What the provider said; never the prompt or the key.
        retry_after_s: Seconds the provider asked us to wait, if it did.
    """

    retryable = False

    def __init__(self, detail: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after_s = retry_after_s


class CallStopped(ProviderError):
    """A person stopped the turn while the provider answered."""

    code = "stopped"


class RateLimited(ProviderError):
    """HTTP 429: the same request may succeed later, or elsewhere."""

    code = "rate_limit"
    retryable = True


class Overloaded(ProviderError):
    """HTTP 5xx, 529 or no connection: the provider's side is busy or broken."""

    code = "overloaded"
    retryable = True


class ProviderTimeout(ProviderError):
    """Nothing came within the agreed time."""

    code = "timeout"
    retryable = True


class StreamBroken(ProviderError):
    """The answer broke off, or arrived empty or unreadable."""

    code = "stream_broken"
    retryable = True


class AccountRefused(ProviderError):
    """The account itself is refused; asking again helps nobody until a person acts."""


class AuthenticationFailed(AccountRefused):
    """HTTP 401 or 403: the key is wrong, revoked or not allowed to do this."""

    code = "auth"


class BillingRefused(AccountRefused):
    """HTTP 402 or its like: the account has no money or no quota left."""

    code = "billing"


class AddressNotAllowed(AccountRefused):
    """The account's address leads to where its team may not reach.

    Args:
        is_closed_to_all: True where superusers may not reach it either: only the list of hosts in
            this deployment's settings opens it.
    """

    code = "address"

    def __init__(self, detail: str, *, is_closed_to_all: bool = False) -> None:
        super().__init__(detail)
        self.is_closed_to_all = is_closed_to_all


class RequestRefused(ProviderError):
    """HTTP 400, 404 or 422: this request is refused, the account is fine."""

    code: ErrorCode = "request_refused"


class ContextOverflow(RequestRefused):
    """The request is longer than the model's window."""

    code = "context_overflow"


class Redirected(RequestRefused):
    """HTTP 301 to 308: the server leads elsewhere; a prompt does not follow.

    Args:
        address: Scheme and host of where it leads; empty where that is no other web server.
    """

    def __init__(self, detail: str, *, address: str) -> None:
        super().__init__(detail)
        self.address = address


class NoProvider(AgentError):
    """Every account of the chain is switched off, or the chain is empty."""

    code = "no_provider"


class CapReached(AgentError):
    """The call might cost more than may still be spent.

    Args:
        values: For the person: ``cap`` in dollars, and ``resets`` as a local time.
    """

    code = "cap_reached"

    def __init__(self, values: JsonObject) -> None:
        super().__init__(self.code)
        self.values = values


class Stopped(AgentError):
    """A person asked the turn to stop."""

    code = "stopped"


class LeaseLost(AgentError):
    """Another worker owns the turn now; whatever this one still holds is discarded."""

    code = "lease_lost"

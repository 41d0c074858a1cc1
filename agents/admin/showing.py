"""What pages show of a row."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

M = TypeVar("M", bound=Callable[..., Any])


def once(method: M) -> M:
    """Ask for a field's value once a row: Unfold's templates look at each of them five times.

    For fields that query. A row lives as long as its page.
    """

    @wraps(method)
    def shown(page: Any, row: Any) -> Any:
        known = vars(row).setdefault("_shown_once", {})
        if method.__name__ not in known:
            known[method.__name__] = method(page, row)
        return known[method.__name__]

    return shown  # type: ignore[return-value]  # the same signature

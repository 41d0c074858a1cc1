"""Write hooks: whoever wants to know of each fact and each note that is written."""

from collections.abc import Callable

import structlog
from django.db import transaction

_log = structlog.get_logger(__name__)

WriteHook = Callable[[str, str], None]

_hooks: list[WriteHook] = []


def add_write_hook(hook: WriteHook) -> None:
    """Call a function with ``(content, source)`` after each write of a fact or a note.

    It runs once the write is committed, in the writer's thread, so it should be quick. What it
    raises is logged and reaches nobody. Added twice, it is called once.
    """
    if hook not in _hooks:
        _hooks.append(hook)


def remove_write_hook(hook: WriteHook) -> None:
    """Call a function no more."""
    if hook in _hooks:
        _hooks.remove(hook)


def written(content: str, source: str) -> None:
    """Tell the hooks of a write, once its transaction is committed."""
    if _hooks:
        transaction.on_commit(lambda: _call(content, source))


def _call(content: str, source: str) -> None:
    for hook in tuple(_hooks):
        try:
            hook(content, source)
        except Exception:
            # A listener's mistake is not the writer's.
            _log.exception("memory.hook_failed", source=source)

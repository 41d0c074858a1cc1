"""Reasoning that local models write into their answer, kept out of it.

Qwen, DeepSeek and their kin begin a reply with ``<think>…</think>``, and servers without a
parser for it pass that on as text. Only the beginning of a reply is looked at: further down such
a tag is part of what the model wants to say.
"""

from typing import Final

TAGS: Final = ("think", "thinking", "thought")

_OPENING: Final = tuple(f"<{tag}>" for tag in TAGS)


class ThoughtFilter:
    """Lets through what is no reasoning, piece by piece."""

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._has_begun = False
        self._has_thought = False

    def feed(self, text: str) -> str:
        """Take the next piece, and return what of it, and of earlier ones, may be shown."""
        if self._has_begun:
            return text
        self._held += text
        while self._leave() if self._closing else self._enter():
            pass
        return self.finish() if self._has_begun else ""

    def finish(self) -> str:
        """Return what was held back and turned out to be no reasoning."""
        held, self._held = self._held, ""
        if self._closing:
            return ""
        return held.lstrip() if self._has_thought else held

    def _enter(self) -> bool:
        """Look at the beginning; return whether a thought began."""
        beginning = self._held.lstrip()
        tag = beginning.lower()
        for opening in _OPENING:
            if tag.startswith(opening):
                self._closing = f"</{opening[1:]}"
                self._held = beginning[len(opening) :]
                return True
        # Blank so far, or a tag that is not yet complete: more must come first.
        self._has_begun = not any(opening.startswith(tag) for opening in _OPENING)
        return False

    def _leave(self) -> bool:
        """Look for the end of the reasoning; return False where it has not come."""
        at = self._held.lower().find(self._closing)
        if at < 0:
            # The tag may be cut in two; what stands before it is forgotten.
            self._held = self._held[-(len(self._closing) - 1) :]
            return False
        self._held = self._held[at + len(self._closing) :]
        self._closing, self._has_thought = "", True
        return True

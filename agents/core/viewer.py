"""Who is looking: the one value that every read of memory is narrowed by."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Viewer:
    """On whose behalf, and where, memory is read or written.

    Args:
        person_id: The person who speaks; None for an unknown one, who sees shared scopes only.
        chat_id: The group in which it happens, if it is one.
        is_private: True where nobody but the person reads along.
    """

    team_id: int
    agent_id: int
    person_id: int | None = None
    chat_id: int | None = None
    is_private: bool = False

    @property
    def sees_person(self) -> bool:
        """Return whether the person's own part of memory may be shown here."""
        return self.is_private and self.person_id is not None

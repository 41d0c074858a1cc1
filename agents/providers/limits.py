"""How long an adapter's connection may stay silent."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProviderLimits:
    """Seconds after which a connection gives up on its own.

    The loop enforces the limits of a call; these make sure that nothing below it waits longer.

    Args:
        connect_s: To reach the provider.
        first_event_s: From the request to the first event.
        between_events_s: From one event to the next.
        call_s: For a whole call; a plain one may be silent that long.
    """

    connect_s: float = 10.0
    first_event_s: float = 60.0
    between_events_s: float = 60.0
    call_s: float = 600.0

    @property
    def silence_s(self) -> float:
        """Return the longest silence of a stream; a connection knows only one limit."""
        return max(self.first_event_s, self.between_events_s)

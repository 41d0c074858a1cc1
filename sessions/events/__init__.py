"""Live events: what a running turn publishes, and how watchers catch up (docs/events.md)."""

"""Running turns: claimed by a lease, stepped, answered, swept."""

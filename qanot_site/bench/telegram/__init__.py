"""`bench telegram` and `bench telegram-faults`: bots on a fake Bot API, and people who write."""

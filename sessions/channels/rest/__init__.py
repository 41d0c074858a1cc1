"""The REST channel: programs act for a person (docs/api.md)."""

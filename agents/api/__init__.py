"""The REST API's ground, and its operations on agents and their documents (docs/api.md)."""

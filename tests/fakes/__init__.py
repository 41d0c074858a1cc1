"""Servers and providers that stand in for the outside world, and fail in every way it does."""

"""Fixtures for all tests."""

import pytest
from django.conf import settings


def pytest_configure() -> None:
    """Quick password hashing: what is tested is never the hash."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """`embedded_servers` has made and migrated this process's database already."""

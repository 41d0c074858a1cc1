"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib import admin
from django.utils import translation

from tests import emptying


def pytest_configure() -> None:
    """Quick password hashing, as what is tested is never the hash; and the admin's pages."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # As in a process that serves pages.
    admin.autodiscover()
    emptying.use()


def pytest_unconfigure() -> None:
    """Leave no connection behind."""
    emptying.close()


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """`embedded_servers` has made and migrated this process's database already."""


@pytest.fixture(autouse=True)
def _language_of_a_request_ends_with_its_test() -> Iterator[None]:
    """A page leaves its language active in the thread, where the next page chooses anew."""
    yield
    translation.deactivate()

"""Who is asking."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory

from agents.models import User
from agents.services import access


def test_who_is_logged_in_is_asking_and_nobody_else(rf: RequestFactory) -> None:
    request = rf.get("/")
    request.user = User(username="sardor")
    assert access.user_of(request) is request.user
    request.user = AnonymousUser()
    with pytest.raises(PermissionDenied):
        access.user_of(request)

"""What a start and a person do to accounts that are out of use."""

import pytest

from agents.core.errors import AuthenticationFailed, Overloaded
from agents.models import ProviderAccount, Team
from agents.services import accounts, cool_downs
from tests import factories

pytestmark = pytest.mark.django_db

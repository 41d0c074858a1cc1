"""A person, a browser, our server and worker, a scripted model."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from agents.models import ChainLink, ProviderAccount
from agents.services import login_links
from tests.e2e.browser import require_chromium
from tests.fakes.anthropic import FakeAnthropic
from tests.sessions.channels import rest_platform
from tests.sessions.channels.rest_platform import Web
from tests.sessions.channels.webchat_rows import Someone, make_someone


@dataclass
class Scene:
    """Somebody who may talk to an agent with a fake model."""

    someone: Someone
    fake: FakeAnthropic
    web: Web
    link: str


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    """Serve and work for all tests here: a process takes seconds to start."""
    require_chromium()
    with rest_platform.web() as server, rest_platform.worker(FAKE_KEY="sk-fake"):
        yield server


@pytest.fixture
def scene(fake: FakeAnthropic, web: Web) -> Iterator[Scene]:
    someone = make_someone()
    account = ProviderAccount.objects.create(
        team=someone.team,
        name="Fake",
        kind=ProviderAccount.Kind.ANTHROPIC,
        base_url=fake.base_url,
        may_reach_private=True,
        key_reference="env:FAKE_KEY",
    )
    ChainLink.objects.create(agent=someone.agent, account=account, model="claude-sonnet-5-5")
    yield Scene(someone, fake, web, f"/login/{login_links.issue(someone.user)}/")
    fake.assert_done()

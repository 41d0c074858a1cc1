"""What stands in nobody's way: the pages as axe sees them, in both sizes and themes."""

import pytest
from django.urls import reverse

from agents.models import Membership
from agents.services import accounts
from sessions.models import Turn
from tests import factories
from tests.e2e.barriers import DESK, grave, sizes
from tests.e2e.browser import browsing, say, wait_for_end
from tests.e2e.conftest import Scene
from tests.fakes.script import answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]

RICH = """\
# A heading

A [link](https://example.org), `code` and **weight**.

| city | people |
|---|---|
| Tashkent | 3 million |

```python
print("hello")
```
"""


@pytest.fixture
def paths(scene: Scene) -> list[str]:
    """Return the addresses of the custom pages that the person may open."""
    Membership.objects.filter(team=scene.someone.team).update(role=Membership.Role.OWNER)
    account = factories.provider_account(team=scene.someone.team, name="Tired")
    accounts.switch_off(account, by=scene.someone.user)
    return [
        "/start/",
        reverse("admin:index"),
        reverse("admin:agents_provideraccount_connect"),
        reverse("admin:agents_provideraccount_change", args=[account.pk]),
        reverse("admin:agents_provideraccount_changelist"),
        reverse("admin:agents_agent_change", args=[scene.someone.agent.pk]),
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chat_has_no_grave_barrier(scheme: str, scene: Scene) -> None:
    scene.fake.play(answer(RICH))
    with browsing(scene.web.address, color_scheme=scheme, viewport=DESK) as person:
        page = person.new_page()
        page.goto("/login/")
        assert grave(page) == []
        page.goto(scene.link)
        page.goto("/chat/")
        page.locator("#message:not([disabled])").wait_for()
        assert grave(page) == []
        say(page, "My name is Sardor")
        wait_for_end(page)
        for size in sizes():
            page.set_viewport_size(size)
            assert grave(page) == []
    assert Turn.objects.get().state == Turn.State.ANSWERED


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_the_first_hour_have_no_grave_barrier(
    scheme: str, scene: Scene, paths: list[str]
) -> None:
    with browsing(scene.web.address, color_scheme=scheme, viewport=DESK) as person:
        page = person.new_page()
        page.goto(scene.link)
        for path in paths:
            page.goto(path)
            for size in sizes():
                page.set_viewport_size(size)
                assert grave(page) == [], (path, size)

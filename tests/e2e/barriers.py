"""What axe finds on a page that would stop somebody."""

from collections.abc import Iterator

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # no types
from playwright.sync_api import Page, ViewportSize

DESK = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=390, height=844)


def grave(page: Page) -> list[tuple[str, str]]:
    """Return what axe calls serious or critical, with the place of each."""
    found = Axe().run(page).response["violations"]
    return [
        (one["id"], node["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def sizes() -> Iterator[ViewportSize]:
    """Yield a desk's window and a phone's."""
    yield DESK
    yield PHONE

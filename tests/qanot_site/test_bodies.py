"""A request that brings too much ends with 413, whether it says so or not."""

from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
import pytest

from qanot_site import bodies
from qanot_site.asgi import application

pytestmark = pytest.mark.django_db(transaction=True)


async def post(content: bytes | None) -> int:
    """Send a body, in pieces and without its length where there is none."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"x" * (bodies.MAX_BYTES // 2)

    transport = httpx.ASGITransport(app=cast(Any, application))  # httpx has types of its own
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.post(
            "/api/v1/nowhere", content=pieces() if content is None else content
        )
    return answer.status_code


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MAX_BYTES", 1_000)


async def test_a_body_within_the_limit_reaches_its_view() -> None:
    assert await post(b"x" * 1_000) == 404


async def test_a_body_that_names_a_greater_length_is_not_read() -> None:
    assert await post(b"x" * 1_001) == 413


async def test_a_body_without_a_length_ends_at_the_limit() -> None:
    assert await post(None) == 413

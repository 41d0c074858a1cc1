"""Redis clients, with limits short enough for a Redis that is away."""

import asyncio
from functools import cache
from weakref import WeakKeyDictionary

from django.conf import settings
from redis import Redis as BlockingRedis
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Redis] = WeakKeyDictionary()


def redis_client() -> Redis:
    """Return the running loop's client; it connects at the first command, and again when lost."""
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = Redis.from_url(
            settings.REDIS_URL,
            decode_responses=False,
            socket_connect_timeout=0.5,
            socket_timeout=2,
            retry=Retry(NoBackoff(), 1),
        )
        _clients[loop] = client
    return client


async def close_redis_client() -> None:
    """Close the running loop's client, before the loop ends."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()


@cache
def blocking_client() -> BlockingRedis:
    """Return the process's client for threads without an event loop."""
    return BlockingRedis.from_url(settings.REDIS_URL, socket_connect_timeout=0.5, socket_timeout=1)

"""Chains are made ready without holding up the event loop."""

import sys
import threading

from agents.models import ChainLink, ProviderAccount
from agents.providers import is_warm, register
from agents.services import chain

SLOW = "tests.agents.services.slow_provider"


async def test_an_sdk_is_imported_in_a_thread_and_never_on_the_loop() -> None:
    register("slow", f"{SLOW}.OfflineProvider")
    link = ChainLink(account=ProviderAccount(kind="slow", name="Slow"), model="m")
    assert not is_warm("slow")
    await chain.warm_up([link])
    assert is_warm("slow")
    assert sys.modules[SLOW].IMPORTED_IN != threading.get_ident()


async def test_a_chain_that_is_warm_costs_nothing() -> None:
    await chain.warm_up([])
    await chain.warm_up([ChainLink(account=ProviderAccount(kind="offline"), model="m")])
    assert is_warm("offline")

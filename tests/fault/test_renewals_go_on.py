"""What renewals put up with: killed connections, servers that stand still, and large numbers."""

from __future__ import annotations

import asyncio

import pytest
from support.waiting import wait_until

pytestmark = pytest.mark.engines("valkey", "redis")


async def test_killed_connections(world):
    """Connections that the server kills, the keeper's own too, are replaced: no loss, no error."""
    slots = world.semaphore(limit=1, lease_ms=1000)
    errors = []

    async def body(held):
        for _ in range(4):
            await world.renewed(held.key, times=1)
            world.redis.client_kill_filter(_type="normal", skipme=True)
        await world.renewed(held.key)
        return held.signal.aborted

    assert await slots.run("x", body, on_renew_error=errors.append) is False
    assert errors == []


async def test_a_server_that_pauses(world):
    """A server that pauses its clients for less than a lease costs nobody a slot."""
    slots = world.semaphore(limit=1, lease_ms=2000)

    async def body(held):
        await world.renewed(held.key, times=1)
        world.redis.client_pause(900)
        await world.renewed(held.key)
        return held.signal.aborted

    assert await slots.run("x", body) is False


@pytest.mark.engines("valkey")
async def test_a_server_that_stands_still(private_world):
    """Nor does a server that is frozen for less than a lease, and answers all that it missed."""
    slots = private_world.semaphore(limit=1, lease_ms=2000)

    async def body(held):
        await private_world.renewed(held.key, times=1)
        with private_world.server.frozen():
            await asyncio.sleep(0.9)
        await private_world.renewed(held.key)
        return held.signal.aborted

    assert await slots.run("x", body) is False


@pytest.mark.engines("valkey")
async def test_hundreds_of_leases(far, proxy):
    """Hundreds of leases are renewed together: one by one they would all be lost here.

    Guards against yeongseon/azure-functions-langgraph-python#391.
    """
    leases = 300
    slots = far.semaphore(limit=leases, lease_ms=2000)
    holds = [far.raw(slots).hold("x") for _ in range(leases)]
    for hold in holds:
        await far.do(hold.__enter__ if far.colour == "sync" else hold.__aenter__)
    proxy.delay_down = 0.05  # for each answer, where each has a round trip of its own
    seen = len(proxy.scripts)
    first = now(far, slots)
    for _ in range(2):
        await wait_until(lambda: all(map(int.__lt__, first.values(), now(far, slots).values())))
        first = now(far, slots)
    assert len(first) == leases
    assert len(proxy.scripts) >= seen + 2 * leases
    proxy.recover()
    for hold in holds:
        leave = hold.__exit__ if far.colour == "sync" else hold.__aexit__
        await far.do(leave, None, None, None)
    assert now(far, slots) == {}


def now(far, slots):
    """Read the expiries, by token."""
    return dict(sorted(far.members(slots.key("x")).items()))


async def test_a_short_lease_among_long_ones(world):
    """Leases of any length are renewed side by side, each as often as it needs."""
    slots = world.semaphore(limit=10, lease_ms=60_000)

    async def wait(held):
        return await held.signal.wait(1.0)

    lengths = [60_000, 400, 30_000, 400, 5_000]
    lost = await asyncio.gather(*(slots.run("x", wait, lease_ms=length) for length in lengths))
    assert lost == [False] * len(lengths)

"""An acquire whose answer is lost never takes two slots, and never leaves one behind."""

from __future__ import annotations

import asyncio
import time

import pytest
import redis
from proxy import Fate
from support.waiting import wait_until

pytestmark = pytest.mark.engines("valkey")
either = pytest.mark.engines("valkey", "redis")

LEASE_MS = 60_000
"""Far longer than a test: nothing here comes right because a lease lapses."""


async def pool(far, proxy, client=None):
    """Make a pool of two slots beyond the proxy, on a server that knows the scripts."""
    slots = far.semaphore(client, limit=2, lease_ms=LEASE_MS)
    await (await slots.acquire("warm")).release()
    proxy.scripts.clear()
    return slots


@either
@pytest.mark.parametrize("fate", [Fate.SWALLOW, Fate.CUT_AFTER, Fate.TRUNCATE, Fate.CUT_BEFORE])
async def test_a_resent_acquire_takes_one_slot(far, proxy, fate):
    """An acquire that redis-py sends again because its answer was lost takes exactly one slot.

    Guards against simstudioai/sim#6864 and pacman82/throttle#18.
    """
    slots = await pool(far, proxy)
    proxy.plan(fate)
    held = await slots.acquire("x")
    assert held is not None
    assert len(proxy.scripts) == 2
    assert list(far.members(held.key)) == [held.token]
    assert await held.release() is True
    assert far.members(held.key) == {}


async def test_a_resent_acquire_of_the_last_slot_succeeds(far, proxy):
    """A re-sent acquire finds its own slot and is not refused for it, also when it is the last."""
    slots = await pool(far, proxy)
    first = await slots.acquire("x")
    proxy.plan(Fate.SWALLOW)
    second = await slots.acquire("x")
    assert second is not None
    assert await second.release() is True
    assert await first.release() is True


async def test_several_permits_of_a_resent_acquire(far, proxy):
    """Permits that are taken together are taken once, too."""
    slots = await pool(far, proxy)
    proxy.plan(Fate.CUT_AFTER)
    held = await slots.acquire("x", permits=2)
    assert len(far.members(held.key)) == 2
    assert await held.release() is True
    assert far.members(held.key) == {}


async def test_the_default_policy_of_the_client(far, proxy):
    """With redis-py's own patience and back-off, a lost answer costs one more try and no slot."""
    slots = await pool(far, proxy, far.client(brisk=False))
    proxy.plan(Fate.CUT_AFTER)
    held = await slots.acquire("x")
    assert list(far.members(held.key)) == [held.token]
    proxy.plan(Fate.CUT_AFTER)
    assert await held.release() is True
    assert far.members(held.key) == {}


@either
@pytest.mark.parametrize("fate", [Fate.SWALLOW, Fate.CUT_AFTER, Fate.TRUNCATE])
async def test_an_acquire_that_gives_up_leaves_no_slot(far, proxy, fate):
    """An acquire none of whose answers arrives raises, and its slot is free by then."""
    slots = await pool(far, proxy)
    proxy.plan(*[fate] * 4)
    with pytest.raises((redis.TimeoutError, redis.ConnectionError)):
        await slots.acquire("x")
    assert len(proxy.scripts) >= 5, "nothing was given back"
    await wait_until(lambda: far.members(slots.key("x")) == {}, 1.5)


async def test_a_run_that_cannot_enter_leaves_no_slot(far, proxy):
    """A run whose acquire is never answered raises without calling its body; no slot is left."""
    slots = await pool(far, proxy)
    proxy.plan(*[Fate.SWALLOW] * 4)
    called = []

    async def body():
        called.append(True)

    with pytest.raises(redis.TimeoutError):
        await slots.run("x", body)
    await wait_until(lambda: far.members(slots.key("x")) == {}, 1.5)
    assert not called


async def test_a_slot_is_given_back_once_the_server_is_reachable(far, proxy):
    """A slot taken just before the network went down is free soon after it is back."""
    slots = await pool(far, proxy)
    proxy.plan(otherwise=Fate.SWALLOW)

    async def go_down():
        await wait_until(lambda: far.members(slots.key("x")))
        proxy.fail()

    down = asyncio.ensure_future(go_down())
    with pytest.raises((redis.TimeoutError, redis.ConnectionError)):
        await slots.acquire("x")
    await down
    assert far.members(slots.key("x")), "not the accident that this test is about"
    proxy.plan()
    proxy.accept()
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)


async def test_a_network_that_lets_nothing_back_for_a_while(far, proxy):
    """While no answer of any kind comes back, a slot is given back all the same, and stays so."""
    slots = await pool(far, proxy)
    proxy.mute = True
    with pytest.raises(redis.TimeoutError):
        await slots.acquire("x")
    proxy.mute = False
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)
    held = [await slots.acquire("x") for _ in range(2)]
    assert all([await one.release() for one in held])


@either
async def test_an_acquire_that_arrives_after_it_was_given_up(far, proxy):
    """An acquire that the network kept until its caller had given it up takes no slot."""
    slots = await pool(far, proxy, far.client(retries=0))
    proxy.plan(Fate.HOLD)
    with pytest.raises(redis.TimeoutError):
        await slots.acquire("x")
    await arrival(far, proxy)
    assert far.members(slots.key("x")) == {}


@pytest.mark.colours("async")
async def test_an_acquire_that_arrives_after_it_was_cancelled(far, proxy):
    """An acquire that the network kept until its task had been cancelled takes no slot."""
    slots = await pool(far, proxy, far.client(socket_timeout=30))
    proxy.plan(Fate.HOLD)
    acquiring = asyncio.ensure_future(slots.acquire("x"))
    await wait_until(lambda: proxy.scripts)
    acquiring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await acquiring
    del acquiring
    await arrival(far, proxy)
    assert far.members(slots.key("x")) == {}


@either
async def test_an_acquire_that_arrives_after_its_copy_was_released(far, proxy):
    """A first copy that the network kept until its second had come and gone takes no slot."""
    slots = await pool(far, proxy)
    proxy.plan(Fate.HOLD)
    held = await slots.acquire("x")
    assert await held.release() is True
    await arrival(far, proxy)
    assert far.members(held.key) == {}


async def test_an_acquire_that_arrives_after_its_run_is_over(far, proxy):
    """The same for a whole run: the first copy of its acquire comes after its end."""
    slots = await pool(far, proxy)
    proxy.plan(Fate.HOLD)

    async def body():
        return "result"

    assert await slots.run("x", body) == "result"
    await arrival(far, proxy)
    assert far.members(slots.key("x")) == {}


async def test_an_acquire_that_arrives_after_its_copy_was_refused(far, proxy):
    """A first copy that comes after its second was told "no room" takes no slot for nobody."""
    slots = await pool(far, proxy)
    others = [await slots.acquire("x") for _ in range(2)]
    proxy.plan(Fate.HOLD)
    assert await slots.acquire("x") is None
    assert all([await other.release() for other in others])
    await arrival(far, proxy)
    assert far.members(slots.key("x")) == {}


async def arrival(far, proxy):
    """Let go of what the proxy holds, and wait until the server has carried it out."""
    before = scripts_run(far)
    proxy.let_go()
    await wait_until(lambda: scripts_run(far) > before)


def scripts_run(far):
    """Count the scripts that the server has been through."""
    return far.redis.info("commandstats")["cmdstat_evalsha"]["calls"]


async def test_nothing_is_given_back_that_was_never_sent(far, proxy):
    """An acquire that finds no server raises soon: there is nothing to give back."""
    slots = far.semaphore(limit=2, lease_ms=LEASE_MS)
    proxy.fail()
    start = time.monotonic()
    with pytest.raises(redis.ConnectionError):
        await slots.acquire("x")
    assert time.monotonic() - start < 0.9, "it waited for a slot that it cannot have taken"
    assert proxy.scripts == []

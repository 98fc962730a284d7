"""Renewal: a body keeps its slot for as long as it runs, and a short one pays nothing for it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from itertools import pairwise

import pytest

LEASE_MS = 600
"""Long enough for a machine that is busy with other things, too."""

QUICK = {"lease_ms": 30_000, "heartbeat_ms": 20}


async def test_a_body_of_five_leases_keeps_its_slot(world):
    """During a long body nobody else gets in and the count stays 1 (firecrawl/firecrawl#1197)."""
    slots = world.semaphore(limit=1, lease_ms=LEASE_MS)
    other = world.semaphore(prefix=slots.prefix, limit=1)
    seen = set()

    async def body(held):
        end = time.monotonic() + 5 * LEASE_MS / 1000
        while time.monotonic() < end:
            seen.add((await other.acquire("x"), await other.count("x")))
            await asyncio.sleep(0.02)
        assert held.signal.aborted is False
        return "done"

    assert await slots.run("x", body) == "done"
    assert seen == {(None, 1)}
    assert await slots.count("x") == 0


async def test_hold_renews_as_run_does(world):
    """The block of `hold` may be longer than a lease."""
    slots = world.semaphore(limit=1)
    async with slots.hold("x", **QUICK) as held:
        await world.renewed(held.key)
        assert await slots.count("x") == 1


async def test_a_hold_without_a_name_is_quiet_and_renewed(world):
    """`with hold(...):` without `as` warns of nothing, and keeps its slot all the same."""
    slots = world.semaphore(limit=1)
    async with slots.hold("x", **QUICK):
        await world.renewed(slots.key("x"))
        assert await slots.count("x") == 1
    assert await slots.count("x") == 0


async def test_limited_renews_as_run_does(world):
    """A decorated function may run longer than a lease, too."""
    slots = world.semaphore(limit=1)

    @slots.limited("x", **QUICK)
    async def call():
        await world.renewed(slots.key("x"))
        return await slots.count("x")

    assert await call() == 1


@pytest.mark.engines("valkey")
async def test_the_default_heartbeat_is_a_quarter_of_the_lease_in_effect(world):
    """The call's own `lease_ms` decides, not the declaration's: several beats per lease."""
    slots = world.semaphore(limit=1, lease_ms=60_000)

    async def body(held):
        seen = [world.members(held.key)[held.token]]
        while len(seen) < 3:
            expiry = world.members(held.key)[held.token]
            if expiry > seen[-1]:
                seen.append(expiry)
            await asyncio.sleep(0.002)
        return seen

    seen = await slots.run("x", body, lease_ms=1_000)
    beats = [after - before for before, after in pairwise(seen)]
    assert min(beats) > 125, f"the beats are too close: {beats}"
    assert min(beats) < 500, f"the beats are too far apart: {beats}"


async def test_a_short_body_costs_two_commands(world):
    """A body that ends before the first heartbeat costs its acquire and its release."""
    slots = world.semaphore(limit=1)

    async def body(held):
        return held.token

    await slots.run("x", body)
    with world.server.listening() as seen:
        token = await slots.run("x", body)
    assert [words[0] for words in seen] == ["EVALSHA", "EVALSHA"]
    assert all(token in words for words in seen)


async def test_short_bodies_open_no_connection(world):
    """The client's connection is used again, and renewal opens its own when it is due only."""
    slots = world.semaphore(limit=1)

    async def body():
        return None

    await slots.run("x", body)
    before = world.server.connections_made()
    for _ in range(20):
        await slots.run("x", body)
    assert world.server.connections_made() == before


async def test_one_thread_serves_all_bodies_of_a_client(world):
    """However many bodies run, short or long, one thread renews them (PyrateLimiter#191)."""

    def threads():
        return {t for t in threading.enumerate() if not t.name.startswith("test")}

    before = threads()
    client = world.client()
    pools = [world.semaphore(client, limit=20) for _ in range(3)]
    more = set()

    async def short():
        more.update(threads() - before)

    async def long(held):
        await world.renewed(held.key)
        more.update(threads() - before)

    for slots in pools * 10:
        await slots.run("x", short)
    await asyncio.gather(*(slots.run("x", long, **QUICK) for slots in pools * 5))
    assert len(more) == 1


@pytest.mark.colours("async")
async def test_a_body_has_no_task_of_its_own(world):
    """`run` awaits its body in the caller's task; nothing runs beside it."""
    slots = world.semaphore(limit=1)
    before = asyncio.all_tasks()

    async def body(held):
        await world.renewed(held.key)
        return asyncio.all_tasks(), asyncio.current_task()

    tasks, own = await slots.run("x", body, **QUICK)
    assert tasks == before
    assert own is asyncio.current_task()


@pytest.mark.colours("async")
async def test_a_body_that_blocks_the_event_loop_keeps_its_slot(world):
    """Renewal does not depend on the loop (PrefectHQ/prefect#18893, #19068)."""
    slots = world.semaphore(limit=1, lease_ms=LEASE_MS)

    async def body(held):
        time.sleep(3 * LEASE_MS / 1000)
        left = world.members(held.key)[held.token] - world.now_ms()
        return left, held.signal.aborted

    left, aborted = await slots.run("x", body)
    assert left > 0
    assert aborted is False


@pytest.mark.engines("valkey")
@pytest.mark.colours("async")
async def test_a_busy_loop_elsewhere_costs_no_slot(world):
    """A loop that is blocked between the body's own steps does not lose it either."""
    slots = world.semaphore(limit=1, lease_ms=LEASE_MS)
    begun = asyncio.Event()

    async def body():
        begun.set()
        await asyncio.sleep(0.05)
        return "done"

    running = asyncio.ensure_future(slots.run("x", body))
    await begun.wait()
    time.sleep(3 * LEASE_MS / 1000)
    assert await running == "done"


@pytest.mark.engines("valkey", "redis")
@pytest.mark.colours("async")
async def test_a_body_does_not_begin_on_a_lease_that_has_lapsed(world):
    """An answer that is read a lease too late is no slot: others have had it in the meantime.

    The loop is blocked after the server has granted the slot and before the answer is read.
    """
    slots = world.semaphore(limit=1, lease_ms=100)

    async def body(held):
        left = world.members(held.key).get(held.token, 0) - world.now_ms()
        return left > 0, held.signal.aborted

    running = asyncio.ensure_future(slots.run("x", body, heartbeat_ms=False))
    while not world.members(slots.key("x")):
        await asyncio.sleep(0)
    time.sleep(0.2)
    assert await running == (True, False)


@pytest.mark.engines("valkey")
async def test_one_server_down_does_not_stop_the_renewal_on_another(world, private_server, caplog):
    """Clients have renewal of their own (yeongseon/azure-functions-langgraph-python#391)."""
    client = private_server.client(world.colour)
    elsewhere = world.semaphore(client, limit=1)
    slots = world.semaphore(limit=1, lease_ms=LEASE_MS)

    async def doomed():
        private_server.stop()
        return await slots.run("x", body)

    async def body():
        await asyncio.sleep(2 * LEASE_MS / 1000)
        return "done"

    assert await elsewhere.run("x", doomed, heartbeat_ms=10) == "done"
    await world.do(client.close if world.colour == "sync" else client.aclose)
    caplog.clear()  # the record of the release that failed keeps its whole stack alive


async def test_contention_and_renewal_are_not_worth_a_line_in_the_log(world, caplog):
    """Nothing above DEBUG is logged while all goes well (python-redis-lock#112, ftl#2160)."""
    caplog.set_level(logging.DEBUG)
    slots = world.semaphore(limit=1)

    async def body(held):
        assert await slots.acquire("x", retries=1, retry_delay_ms=1) is None
        await world.renewed(held.key)

    await slots.run("x", body, **QUICK)
    loud = [record for record in caplog.records if record.levelno > logging.DEBUG]
    assert loud == []

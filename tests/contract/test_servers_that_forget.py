"""Scripts that are gone, rights that are missing, and servers that come back empty."""

from __future__ import annotations

import asyncio
import gc

import pytest
import redis
import redis.asyncio
from support.waiting import wait_until

from benni import Semaphore, SemaphoreLeaseLostError

REAL = pytest.mark.engines("valkey", "redis")


async def test_every_call_survives_a_script_flush(world):
    """No call fails because the server has forgotten its scripts (PyrateLimiter#182)."""
    slots = world.semaphore(limit=2)
    forget = world.redis.script_flush
    forget()
    held = await slots.acquire("x")
    forget()
    assert await held.extend() is True
    forget()
    assert await slots.count("x") == 1
    forget()
    assert await held.release() is True


async def test_a_missing_script_costs_one_more_command_once(world):
    """`EVALSHA`, then `EVAL` for that one call; afterwards the server knows it again."""
    slots = world.semaphore(limit=1)
    await slots.count("x")
    world.redis.script_flush()
    with world.server.listening() as seen:
        await slots.count("x")
        await slots.count("x")
    assert [words[0] for words in seen] == ["EVALSHA", "EVAL", "EVALSHA"]


async def test_renewal_survives_a_script_flush(world):
    """A body keeps its slot when the scripts go while it runs."""
    slots = world.semaphore(limit=1)

    async def body(held):
        for _ in range(3):
            world.redis.script_flush()
            await world.renewed(held.key, 1)
        world.redis.script_flush()
        return held.signal.aborted

    assert await slots.run("x", body, lease_ms=30_000, heartbeat_ms=20) is False


@REAL
async def test_a_user_without_the_script_command_can_do_everything(world):
    """`SCRIPT` is never needed: `EVALSHA`, `EVAL` and the data commands are enough."""
    rights = "~* -@all +@connection +evalsha +eval +time +@sortedset +@read +pexpireat"
    world.redis.execute_command("ACL", "SETUSER", "worker", "reset", "on", ">pw", *rights.split())
    try:
        client = world.client(username="worker", password="pw")
        slots = world.semaphore(client, limit=1)
        with pytest.raises(redis.exceptions.NoPermissionError):
            await world.do(client.script_load, "return 1")

        async def body(held):
            assert await held.extend() is True
            assert await slots.acquire("x") is None
            await world.renewed(held.key)
            return await slots.count("x")

        assert await slots.run("x", body, lease_ms=30_000, heartbeat_ms=20) == 1
        assert await slots.count("x") == 0
    finally:
        world.redis.execute_command("ACL", "DELUSER", "worker")


@REAL
async def test_a_server_that_comes_back_empty_is_a_loss(private_world):
    """A body whose server lost the data hears of it, and the client works again at once."""
    world = private_world
    slots = world.semaphore(limit=1)

    async def body(held):
        await asyncio.to_thread(world.server.restart_empty)
        await wait_until(lambda: held.signal.aborted)

    with pytest.raises(SemaphoreLeaseLostError) as lost:
        await slots.run("x", body, lease_ms=60_000, heartbeat_ms=20)
    assert lost.value.key == slots.key("x")
    async with await slots.acquire("x"):
        assert await slots.count("x") == 1


@REAL
async def test_a_client_outlives_a_restart_between_two_calls(private_world):
    """An idle connection that died is no reason for a call to fail."""
    world = private_world
    slots = world.semaphore(limit=1)
    await slots.count("x")
    await asyncio.to_thread(world.server.restart_empty)
    assert await slots.count("x") == 0
    async with await slots.acquire("x"):
        assert await slots.acquire("x") is None


@pytest.mark.colours("async")
@pytest.mark.engines("valkey")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestWarning")
def test_an_asyncio_client_outlives_its_event_loop(server, colour):
    """One client may serve one `asyncio.run` after another, renewal included.

    What redis-py had open in the loop that is gone cannot be closed in the next, hence the filter.
    """
    client = redis.asyncio.Redis.from_url(server.url)
    slots = Semaphore(client=client, limit=1)

    async def use(*, last):
        async with slots.hold("x", lease_ms=30_000, heartbeat_ms=20) as held:
            before = server.admin.zscore(held.key, held.token)
            await wait_until(lambda: server.admin.zscore(held.key, held.token) > before)
        assert await slots.count("x") == 0
        if last:
            await client.aclose()

    asyncio.run(use(last=False))
    asyncio.run(use(last=True))
    gc.collect()

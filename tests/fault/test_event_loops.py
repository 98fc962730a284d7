"""One client and several event loops, one after the other or at once; handles that nobody has."""

from __future__ import annotations

import asyncio
import gc

import pytest
from support.waiting import block_until

from benni import Semaphore

LEASE_MS = 400

pytestmark = pytest.mark.engines("valkey")


left_open = pytest.mark.filterwarnings("ignore::ResourceWarning")
"""For tests that leave a connection or a handle to the garbage collector, as programs do."""


def is_free(server):
    return not server.admin.exists("loops:x")


def test_two_loops_at_once(server):
    """A client in use by a loop that runs refuses another loop, before anything is mixed up."""
    client = server.client("async")
    slots = Semaphore(client=client, prefix="loops", limit=1, lease_ms=LEASE_MS)
    errors = []

    def other_loop():
        try:
            asyncio.run(slots.run("y", lambda: None))
        except RuntimeError as error:
            errors.append(str(error))

    async def main():
        async with slots.hold("x") as held:
            await asyncio.to_thread(other_loop)
            assert await held.extend() is True
        await client.aclose()

    asyncio.run(main())
    (error,) = errors
    assert "another event loop" in error
    assert is_free(server)
    assert not server.admin.exists("loops:y")


@left_open
@pytest.mark.parametrize("collected", [False, True])
def test_a_loop_that_is_closed_with_a_body_pending(server, collected):
    """A body whose loop is closed is never told anything; its slot lapses, in silence.

    Also if it is collected, and so left, where no loop can run what leaving it takes.
    """
    slots = Semaphore(client=server.client("async"), prefix="loops", limit=1, lease_ms=LEASE_MS)
    loop = asyncio.new_event_loop()
    entered = asyncio.Event()

    async def body():
        entered.set()
        await asyncio.sleep(3600)

    task = loop.create_task(slots.run("x", body))
    task._log_destroy_pending = False
    loop.run_until_complete(entered.wait())
    loop.close()
    if collected:
        del task, slots
        gc.collect()
    block_until(lambda: is_free(server), LEASE_MS / 1000 + 0.5)


@left_open
def test_a_handle_that_nobody_has(server):
    """The slot of a hold that was entered and dropped lapses: it is not renewed for ever.

    Guards against redisson/redisson#6198.
    """
    with server.client() as client:
        hold = Semaphore(client=client, prefix="loops", limit=1, lease_ms=LEASE_MS).hold("x")
        hold.__enter__()
        del hold
        gc.collect()
        block_until(lambda: is_free(server), LEASE_MS / 1000 + 0.5)


@left_open
@pytest.mark.colours("async")
async def test_an_async_handle_that_nobody_has(world):
    """The same with an asyncio client."""
    slots = world.semaphore(limit=1, lease_ms=LEASE_MS)
    hold = slots.hold("x")
    await hold.__aenter__()
    del hold
    gc.collect()
    block_until(lambda: not world.redis.exists(slots.key("x")), LEASE_MS / 1000 + 0.5)


def test_a_generator_that_is_dropped(server):
    """A generator that is dropped in its `with` block leaves it, so its slot is free at once."""
    with server.client() as client:
        slots = Semaphore(client=client, prefix="loops", limit=1, lease_ms=60_000)

        def generator():
            with slots.hold("x") as held:
                yield held.token

        stream = generator()
        assert server.admin.zscore("loops:x", next(stream))
        del stream
        gc.collect()
        assert is_free(server)


@pytest.mark.colours("async")
async def test_an_async_generator_that_is_dropped(world):
    """The same for an async generator, whose loop closes it soon after."""
    slots = world.semaphore(limit=1, lease_ms=60_000)

    async def generator():
        async with slots.hold("x") as held:
            yield held.token

    stream = generator()
    assert await anext(stream) in world.members(slots.key("x"))
    del stream
    gc.collect()
    for _ in range(100):
        await asyncio.sleep(0.01)
        if not world.members(slots.key("x")):
            return
    raise AssertionError("its slot is still taken")

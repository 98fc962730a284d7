"""A task may be cancelled at any await of the library; no slot, task or warning stays behind."""

from __future__ import annotations

import asyncio
import gc
from functools import partial
from itertools import count

import pytest
from support.waiting import wait_until

from benni import Semaphore

pytestmark = [pytest.mark.engines("valkey"), pytest.mark.colours("async")]

LEASE_MS = 60_000
"""Far longer than a test: nothing here comes right because a lease lapses."""


class CancelledAt:
    """Awaits something, and has the running task cancelled at chosen ones of its suspensions.

    `late` cancels in the very step in which what is waited for has come, as it happens to a task
    whose answer and whose cancellation arrive together.
    """

    def __init__(self, awaitable, steps, *, late):
        self._awaitable = awaitable
        self._steps = steps
        self._late = late
        self.suspensions = 0

    def __await__(self):
        inner = self._awaitable.__await__()
        resume = partial(inner.send, None)
        while True:
            try:
                waits_for = resume()
            except StopIteration as stop:
                return stop.value
            self.suspensions += 1
            if self.suspensions in self._steps:
                self._cancel(waits_for)
            try:
                resume = partial(inner.send, (yield waits_for))
            except BaseException as error:
                resume = partial(inner.throw, error)

    def _cancel(self, waits_for):
        task = asyncio.current_task()
        if self._late and waits_for is not None:
            # Added before the task's own wake-up call, so it runs before that, in the same step.
            waits_for.add_done_callback(lambda _: task.cancel())
        else:
            task.cancel()


async def acquire(slots):
    """Prepare an acquire."""

    async def steps():
        return await (await slots.acquire("x", retries=1, retry_delay_ms=1)).release()

    return steps()


async def release(slots):
    """Prepare a release."""
    return (await slots.acquire("x")).release()


async def release_anew(slots):
    """Prepare a release that has to connect first."""
    held = await slots.acquire("x")
    await slots.client.connection_pool.disconnect()
    return held.release()


async def run(slots):
    """Prepare a run whose body waits."""
    return slots.run("x", partial(asyncio.sleep, 0.001))


async def run_with_cancel(slots):
    """Prepare a run whose body is cancelled on loss."""
    return slots.run("x", partial(asyncio.sleep, 0.001), on_lost="cancel")


async def hold_and_extend(slots):
    """Prepare a hold that extends its lease."""

    async def steps():
        async with slots.hold("x") as held:
            await held.extend()

    return steps()


async def hold_and_connect_anew(slots):
    """Prepare a hold that has to connect on its way out."""

    async def steps():
        async with slots.hold("x"):
            await slots.client.connection_pool.disconnect()

    return steps()


PREPARATIONS = [
    acquire,
    release,
    release_anew,
    run,
    run_with_cancel,
    hold_and_extend,
    hold_and_connect_anew,
]


@pytest.mark.parametrize("late", [False, True], ids=["waiting", "answered"])
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
@pytest.mark.parametrize("prepare", PREPARATIONS)
async def test_cancelled_at_any_await(world, prepare, twice, late):
    """Whatever await it is cancelled at, once or again right away, a call leaves no slot behind.

    Guards against agronholm/anyio#947, python/cpython#90155 and Effect-TS/effect#6910.
    """
    key = "cancelled:x"
    for step in count(1):
        world.redis.script_flush()  # so that the way of a script that is not known is gone, too
        client = world.server.client("async")
        slots = Semaphore(client=client, prefix="cancelled", limit=1, lease_ms=LEASE_MS)
        slots.client = client
        prepared = await prepare(slots)
        awaited = CancelledAt(prepared, {step, step + 1} if twice else {step}, late=late)
        (outcome,) = await asyncio.gather(as_task(awaited), return_exceptions=True)
        await wait_until(lambda: not world.redis.exists(key), 2)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await client.aclose()
        if awaited.suspensions < step:
            break
        # Before Python 3.12 `wait_for`, which redis-py is fond of, may swallow a cancellation.
        assert not isinstance(outcome, Exception), f"cancelled at step {step}"
    assert step > 2, "not the accident that this test is about"
    gc.collect()


async def as_task(awaitable):
    """Make a coroutine of it, which `gather` makes a task of."""
    return await awaitable

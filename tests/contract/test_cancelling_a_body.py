"""`on_lost="cancel"`: a loss ends the body, and is told from every other cancellation."""

from __future__ import annotations

import asyncio
import time

import pytest
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError

pytestmark = pytest.mark.colours("async")

CANCEL = {"lease_ms": 30_000, "heartbeat_ms": 20, "on_lost": "cancel"}


async def test_a_loss_cancels_the_body_at_its_next_await(world):
    """The body ends with `CancelledError`, and `run` with the loss in its place."""
    slots = world.semaphore(limit=1)
    ends = []

    async def body(held):
        world.redis.delete(held.key)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ends.append(held.signal.reason)
            raise

    with pytest.raises(SemaphoreLeaseLostError) as lost:
        await slots.run("x", body, **CANCEL)
    assert ends == [lost.value]
    assert asyncio.current_task().cancelling() == 0


async def test_hold_cancels_its_block(world):
    """The block of `hold` is cancelled as the body of `run` is."""
    slots = world.semaphore(limit=1)
    with pytest.raises(SemaphoreLeaseLostError):
        async with slots.hold("x", **CANCEL) as held:
            world.redis.delete(held.key)
            await asyncio.sleep(60)
    assert asyncio.current_task().cancelling() == 0
    await asyncio.sleep(0)


async def test_a_limited_function_is_cancelled(world):
    """A decorated function takes the option, too."""
    slots = world.semaphore(limit=1)

    @slots.limited("x", **CANCEL)
    async def call():
        world.redis.delete(slots.key("x"))
        await asyncio.sleep(60)

    with pytest.raises(SemaphoreLeaseLostError):
        await call()
    assert asyncio.current_task().cancelling() == 0


async def test_a_body_that_swallows_the_cancellation_is_lost_all_the_same(world):
    """A body that returns after it was cancelled does not hide the loss."""
    slots = world.semaphore(limit=1)

    async def body(held):
        world.redis.delete(held.key)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "done"

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **CANCEL)
    assert asyncio.current_task().cancelling() == 0


async def test_what_a_cancelled_body_raises_goes_first(world):
    """An error from the body's own cleaning up comes out, with a note of the loss."""
    slots = world.semaphore(limit=1)

    async def body(held):
        world.redis.delete(held.key)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise LookupError from None

    with pytest.raises(LookupError) as raised:
        await slots.run("x", body, **CANCEL)
    assert len(raised.value.__notes__) == 1
    assert asyncio.current_task().cancelling() == 0


async def test_a_body_that_ends_before_its_next_await_is_not_cancelled(world):
    """A loss that is known as the body ends raises the loss; no cancellation comes after."""
    slots = world.semaphore(limit=1)

    async def body(held):
        world.redis.delete(held.key)
        while not held.signal.aborted:
            time.sleep(0.005)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **CANCEL)
    assert asyncio.current_task().cancelling() == 0
    await asyncio.sleep(0.01)


async def test_a_cancellation_from_outside_stays_one(world):
    """A body that somebody else cancels raises `CancelledError`, and its slot is free."""
    slots = world.semaphore(limit=1)
    begun = asyncio.Event()

    async def body():
        begun.set()
        await asyncio.sleep(60)

    running = asyncio.ensure_future(slots.run("x", body, **CANCEL))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert running.cancelled()
    assert await slots.count("x") == 0


async def test_a_cancellation_from_outside_wins_over_the_loss(world):
    """Cancelled by both, the task is cancelled: whoever asked for it gets what they asked."""
    slots = world.semaphore(limit=1)

    async def body(held):
        world.redis.delete(held.key)
        while not held.signal.aborted:
            time.sleep(0.005)
        running.cancel()
        await asyncio.sleep(60)

    running = asyncio.ensure_future(slots.run("x", body, **CANCEL))
    with pytest.raises(asyncio.CancelledError):
        await running
    assert running.cancelled()


@pytest.mark.parametrize("on_lost", ["signal", "cancel"])
async def test_a_timeout_around_run_stays_a_timeout(world, on_lost):
    """`asyncio.timeout` cancels the body, frees the slot, and raises `TimeoutError`."""
    slots = world.semaphore(limit=1)

    async def body():
        await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await slots.run("x", body, on_lost=on_lost)
    assert await slots.count("x") == 0
    assert asyncio.current_task().cancelling() == 0


async def test_a_timeout_inside_the_body_is_the_bodys_own(world):
    """A body's own `asyncio.timeout` and the cancellation by a loss are told apart."""
    slots = world.semaphore(limit=1)

    async def body(held):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await asyncio.sleep(60)
        world.redis.delete(held.key)
        async with asyncio.timeout(30):
            await asyncio.sleep(60)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **CANCEL)
    assert asyncio.current_task().cancelling() == 0


async def test_a_task_group_goes_on_after_the_loss(world):
    """In a `TaskGroup` the loss can be caught, and the siblings are not cancelled with it."""
    slots = world.semaphore(limit=1)

    async def body(held):
        world.redis.delete(held.key)
        await asyncio.sleep(60)

    async def careful():
        with pytest.raises(SemaphoreLeaseLostError):
            await slots.run("x", body, **CANCEL)
        await asyncio.sleep(0)
        return "careful"

    async def sibling():
        await wait_until(first.done)
        return "sibling"

    async with asyncio.TaskGroup() as group:
        first, second = group.create_task(careful()), group.create_task(sibling())
    assert (first.result(), second.result()) == ("careful", "sibling")


async def test_without_the_option_nobody_is_cancelled(world):
    """By default a loss aborts the signal only, and the body goes on until it wants to stop."""
    slots = world.semaphore(limit=1)
    steps = []

    async def body(held):
        world.redis.delete(held.key)
        await wait_until(lambda: held.signal.aborted)
        await asyncio.sleep(0.02)
        steps.append("went on")

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, lease_ms=30_000, heartbeat_ms=20)
    assert steps == ["went on"]


async def test_a_release_survives_the_cancellation_of_its_task(world):
    """A body that is cancelled over and over still gives its slot back (prefect#17415)."""
    slots = world.semaphore(limit=1)
    begun = asyncio.Event()

    async def body():
        begun.set()
        await asyncio.sleep(60)

    for turns in range(12):
        begun.clear()
        running = asyncio.ensure_future(slots.run("x", body))
        await begun.wait()
        running.cancel()
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await wait_until(lambda: not world.members(slots.key("x")))

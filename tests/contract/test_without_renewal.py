"""`heartbeat_ms=False`, and renewals that fail without anything being lost."""

from __future__ import annotations

import asyncio
import threading

import pytest
from redis.exceptions import ResponseError
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError


async def test_heartbeat_false_sends_no_renewal(world):
    """With `heartbeat_ms=False` the lease is as long as it was when it was granted."""
    slots = world.semaphore(limit=1, lease_ms=100)

    async def body(held):
        first = world.members(held.key)[held.token]
        await wait_until(lambda: world.now_ms() > first)
        return world.members(held.key)

    assert await slots.run("x", body, heartbeat_ms=False) == {}


async def test_an_overlong_body_without_renewal_returns(world):
    """With `heartbeat_ms=False` a lapsed or missing slot at the end is no loss: nobody asked."""
    slots = world.semaphore(limit=1, lease_ms=50)

    async def overlong(held):
        await wait_until(lambda: not world.members(held.key))
        return held.signal.aborted

    async def robbed(held):
        world.redis.delete(held.key)
        return held.signal.aborted

    assert await slots.run("x", overlong, heartbeat_ms=False) is False
    assert await slots.run("x", robbed, heartbeat_ms=False) is False


async def test_without_renewal_a_refused_extend_is_a_loss(world):
    """The server's own answer to the body's `extend` counts even with `heartbeat_ms=False`."""
    slots = world.semaphore(limit=1)

    async def body(held):
        world.redis.delete(held.key)
        assert await held.extend() is False
        return held.signal.reason

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, heartbeat_ms=False)


async def test_without_renewal_the_body_may_extend_by_itself(world):
    """A body that extends in time keeps its slot for as long as it likes."""
    slots = world.semaphore(limit=1, lease_ms=200)

    async def body(held):
        first = world.members(held.key)[held.token]
        while world.now_ms() <= first:
            assert await held.extend() is True
            await asyncio.sleep(0.02)
        return "done"

    assert await slots.run("x", body, heartbeat_ms=False) == "done"


async def test_on_renew_error_sees_each_failed_round_trip(world):
    """An error is no loss (nextlyhq/nextly#777): the body is told, and goes on with its slot.

    The key is of another type for a while, so the server answers renewals with an error.
    """
    slots = world.semaphore(limit=1)
    errors = []
    threads = set()

    def on_renew_error(error):
        errors.append(error)
        threads.add(threading.current_thread())

    async def body(held):
        world.break_key(held.key)
        await wait_until(lambda: len(errors) >= 2)
        world.mend_key(held.key)
        return held.signal.aborted

    options = {"lease_ms": 30_000, "heartbeat_ms": 20, "on_renew_error": on_renew_error}
    assert await slots.run("x", body, **options) is False
    assert all(isinstance(error, ResponseError) for error in errors)
    if world.colour == "async":
        assert threads == {threading.current_thread()}
    else:
        assert threading.current_thread() not in threads


async def test_what_on_renew_error_raises_is_swallowed(world, caplog):
    """A broken callback costs nobody a slot, and is no error of the renewal or of the loop."""
    slots = world.semaphore(limit=1)
    calls = []

    def on_renew_error(error):
        calls.append(error)
        raise LookupError

    async def body(held):
        world.break_key(held.key)
        await wait_until(lambda: len(calls) >= 2)
        world.mend_key(held.key)
        return "done"

    options = {"lease_ms": 30_000, "heartbeat_ms": 20, "on_renew_error": on_renew_error}
    assert await slots.run("x", body, **options) == "done"
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_on_renew_error_is_not_called_after_run_has_returned(world):
    """When `run` is over, so are its callbacks: also one that was on its way."""
    slots = world.semaphore(limit=1)
    calls = []

    async def body(held):
        world.break_key(held.key)
        await wait_until(lambda: calls)
        world.mend_key(held.key)

    options = {"lease_ms": 30_000, "heartbeat_ms": 1, "on_renew_error": calls.append}
    for _ in range(5):
        calls.clear()
        await slots.run("x", body, **options)
        before = len(calls)
        await asyncio.sleep(0.01)
        assert len(calls) == before

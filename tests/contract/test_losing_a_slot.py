"""What comes out of `run` when its slot was lost, and when it was not."""

from __future__ import annotations

import asyncio

import pytest
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError

QUICK = {"lease_ms": 30_000, "heartbeat_ms": 20}


async def test_a_body_that_returns_after_the_loss_is_no_success(world):
    """`run` raises the loss although the body returned (redisson/redisson#4698, #3854)."""
    slots = world.semaphore(limit=3)
    reasons = []

    async def body(held):
        world.redis.delete(held.key)
        await wait_until(lambda: held.signal.aborted)
        reasons.append(held.signal.reason)
        return "done"

    with pytest.raises(SemaphoreLeaseLostError) as lost:
        await slots.run("x", body, **QUICK)
    assert reasons == [lost.value]
    assert reasons[0] is lost.value
    assert (lost.value.key, lost.value.limit) == (slots.key("x"), 3)
    assert slots.key("x") in str(lost.value)


async def test_a_loss_that_only_the_release_finds_is_a_loss(world):
    """A slot that is gone at the end is reported, also when no renewal had noticed."""
    slots = world.semaphore(limit=1)
    signals = []

    async def body(held):
        world.redis.delete(held.key)
        signals.append(held.signal)

    with pytest.raises(SemaphoreLeaseLostError) as lost:
        await slots.run("x", body)
    assert signals[0].reason is lost.value


async def test_the_bodys_own_error_goes_first(world):
    """What the body raises comes out unchanged, with a note (redis/redis-py#3531)."""
    slots = world.semaphore(limit=1)
    own = LookupError("the body's own")

    async def body(held):
        world.redis.delete(held.key)
        await wait_until(lambda: held.signal.aborted)
        raise own

    with pytest.raises(LookupError) as raised:
        await slots.run("x", body, **QUICK)
    assert raised.value is own
    assert raised.value.args == ("the body's own",)
    (note,) = raised.value.__notes__
    assert slots.key("x") in note
    assert "lost" in note


async def test_an_error_without_a_loss_has_no_note(world):
    """An error of a body that held its slot throughout is passed on as it is."""
    slots = world.semaphore(limit=1)
    own = LookupError()

    async def body():
        raise own

    with pytest.raises(LookupError) as raised:
        await slots.run("x", body)
    assert raised.value is own
    assert not hasattr(own, "__notes__")
    assert await slots.count("x") == 0


async def test_the_reason_that_a_body_raises_comes_out_itself(world):
    """A body that stops with `throw_if_aborted` makes `run` raise that very object."""
    slots = world.semaphore(limit=1)
    reasons = []

    async def body(held):
        world.redis.delete(held.key)
        await wait_until(lambda: held.signal.aborted)
        reasons.append(held.signal.reason)
        held.signal.throw_if_aborted()

    with pytest.raises(SemaphoreLeaseLostError) as lost:
        await slots.run("x", body, **QUICK)
    assert lost.value is reasons[0]
    assert not hasattr(lost.value, "__notes__")


async def test_hold_raises_the_loss_at_its_end(world):
    """The block of `hold` is told of a loss as the caller of `run` is."""
    slots = world.semaphore(limit=1)
    with pytest.raises(SemaphoreLeaseLostError) as lost:
        async with slots.hold("x", **QUICK) as held:
            world.redis.delete(held.key)
            await wait_until(lambda: held.signal.aborted)
    assert lost.value is held.signal.reason


async def test_a_limited_function_raises_the_loss(world):
    """A decorated function does not return as if nothing had happened."""
    slots = world.semaphore(limit=1)

    @slots.limited("x")
    async def call():
        world.redis.delete(slots.key("x"))

    with pytest.raises(SemaphoreLeaseLostError):
        await call()


async def test_a_slot_that_the_body_released_is_not_lost(world):
    """A release inside the body is its own wish: `run` returns what the body returned."""
    slots = world.semaphore(limit=1)

    async def body(held):
        assert await held.release() is True
        async with await slots.acquire("x"):
            await asyncio.sleep(0.1)
        return held.signal.aborted

    assert await slots.run("x", body, **QUICK) is False


async def test_the_end_of_a_lost_body_frees_nobody_elses_slot(world):
    """A body that lost its slot leaves that of its successor alone."""
    slots = world.semaphore(limit=1)
    successors = []

    async def body(held):
        world.redis.delete(held.key)
        successors.append(await slots.acquire("x"))
        await wait_until(lambda: held.signal.aborted)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **QUICK)
    assert await slots.count("x") == 1
    assert await successors[0].release() is True


async def test_a_loss_is_known_before_a_renewal_could_bring_the_slot_back(world):
    """Renewal never re-creates a slot that is gone (swarthy/redis-semaphore#175)."""
    slots = world.semaphore(limit=1)

    async def body(held):
        world.redis.delete(held.key)
        await wait_until(lambda: held.signal.aborted)
        await asyncio.sleep(0.06)
        return await slots.count("x")

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **QUICK)
    assert await slots.count("x") == 0


async def test_other_bodies_are_not_concerned(world):
    """The loss of one slot leaves the other holders of the id with theirs."""
    slots = world.semaphore(limit=2)

    async def robbed(held):
        world.redis.zrem(held.key, held.token)
        await wait_until(lambda: held.signal.aborted)

    async def fine(held):
        with pytest.raises(SemaphoreLeaseLostError):
            await slots.run("x", robbed, **QUICK)
        assert await held.extend() is True
        return held.signal.aborted

    assert await slots.run("x", fine, **QUICK) is False

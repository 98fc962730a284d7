"""Taking a slot: the limit, refusal, and the bounded spin of `retries`."""

from __future__ import annotations

import asyncio
import time

import pytest
from support.waiting import wait_until

from benni import SemaphoreNotAcquiredError


async def test_of_25_callers_at_once_20_run_and_5_are_refused(world):
    """A limit of 20 lets 20 bodies run at the same time, and refuses the others at once."""
    slots = world.semaphore(limit=20)
    everybody_is_settled = asyncio.Event()
    running = 0

    async def body():
        nonlocal running
        running += 1
        await everybody_is_settled.wait()
        return "answer"

    calls = [asyncio.ensure_future(slots.run("openai", body)) for _ in range(25)]
    await wait_until(lambda: running + sum(call.done() for call in calls) == 25)
    held = await slots.count("openai")
    everybody_is_settled.set()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    assert running == held == 20
    assert outcomes.count("answer") == 20
    refused = [outcome for outcome in outcomes if outcome != "answer"]
    assert [type(error) for error in refused] == [SemaphoreNotAcquiredError] * 5
    assert {(error.key, error.limit) for error in refused} == {(slots.key("openai"), 20)}
    assert await slots.count("openai") == 0


async def test_acquire_returns_none_without_room(world):
    """`acquire` answers None when every permit is taken, and takes nothing."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x"):
        assert await slots.acquire("x") is None
        assert await slots.count("x") == 1


async def test_a_freed_slot_can_be_taken_at_once(world):
    """Each release makes room for exactly one more (otovo/redis-rate-limiters#7)."""
    slots = world.semaphore(limit=2)
    first, second = await slots.acquire("x"), await slots.acquire("x")
    await first.release()
    async with await slots.acquire("x"):
        assert await slots.acquire("x") is None
    await second.release()


async def test_ids_have_pools_of_their_own(world):
    """A full id leaves every other id alone, and an integer is an id like its digits."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x"), await slots.acquire(7):
        assert await slots.acquire("7") is None
        assert await slots.count("y") == 0


async def test_semaphores_with_one_prefix_share_the_pool(world):
    """Two clients that name the same prefix and id compete for the same permits."""
    here = world.semaphore(prefix="shared", limit=1)
    there = world.semaphore(prefix="shared", limit=1)
    async with await here.acquire("x"):
        assert await there.acquire("x") is None
        assert await there.count("x") == 1


async def test_the_limit_is_read_at_each_acquire(world):
    """A process with a lower limit refuses where one with a higher still admits."""
    low = world.semaphore(prefix="shared", limit=1)
    high = world.semaphore(prefix="shared", limit=2)
    async with await low.acquire("x"):
        assert await low.acquire("x") is None
        async with await high.acquire("x"):
            assert await high.acquire("x") is None


@pytest.mark.parametrize("retries", [0, 1, 4])
async def test_retries_is_the_number_of_further_tries(world, retries):
    """A refused acquisition costs one round trip for each try, and not one more."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x"):
        with world.server.listening() as seen:
            assert await slots.acquire("x", retries=retries, retry_delay_ms=1) is None
    assert [words[0] for words in seen] == ["EVALSHA"] * (1 + retries)


async def test_the_last_try_follows_the_last_pause(world):
    """The pause between two tries is `retry_delay_ms`, and there is none after the last."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x"):
        start = time.monotonic()
        assert await slots.acquire("x", retries=2, retry_delay_ms=100) is None
        assert time.monotonic() - start >= 0.199


async def test_a_spinning_caller_gets_in_when_another_leaves(world):
    """With `retries`, a caller that was refused at first takes the slot that is freed later."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    spinning = asyncio.ensure_future(slots.acquire("x", retries=2000, retry_delay_ms=5))
    await asyncio.sleep(0.05)
    assert not spinning.done()
    assert await held.release() is True
    async with await spinning as next_held:
        assert next_held.token != held.token


async def test_run_spins_as_acquire_does(world):
    """`run` takes the same options: it runs its body as soon as a retry finds room."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")

    async def body():
        return "ran"

    spinning = asyncio.ensure_future(slots.run("x", body, retries=2000, retry_delay_ms=5))
    await held.release()
    assert await spinning == "ran"


async def test_run_is_refused_when_its_tries_are_over(world):
    """After its last try `run` raises with `key` and `limit`, and its body never runs."""
    slots = world.semaphore(limit=1)

    async def body():
        pytest.fail("ran without a slot")

    async with await slots.acquire("x"):
        with pytest.raises(SemaphoreNotAcquiredError) as refused:
            await slots.run("x", body, retries=2, retry_delay_ms=1)
    assert (refused.value.key, refused.value.limit) == (slots.key("x"), 1)
    assert str(refused.value) == f"no room for {slots.key('x')}: its limit is 1"


async def test_every_acquisition_has_a_token_of_its_own(world):
    """Tokens are never used twice, so no handle can stand for another's slot."""
    slots = world.semaphore(limit=50)
    handles = await asyncio.gather(*(slots.acquire("x") for _ in range(50)))
    assert {held.token for held in handles} == set(world.members(slots.key("x")))
    assert len({held.token for held in handles}) == 50
    await asyncio.gather(*(held.release() for held in handles))


@pytest.mark.colours("async")
async def test_a_cancelled_spin_ends_and_leaves_nothing_behind(world):
    """A cancellation is never swallowed, whatever the spin was at (python/cpython#86296).

    On Python 3.11 `asyncio.wait_for`, which redis-py sends with, returns instead of raising when
    the cancellation comes in the moment in which the command has been sent.
    """
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x"):
        for turns in range(60):
            spinning = asyncio.ensure_future(slots.acquire("x", retries=10**6, retry_delay_ms=0))
            for _ in range(turns):
                await asyncio.sleep(0)
            spinning.cancel()
            await asyncio.wait({spinning}, timeout=1)
            swallowed = not spinning.done()
            while not spinning.done():
                spinning.cancel()
                await asyncio.sleep(0.01)
            assert not swallowed, f"still spinning after a cancellation in turn {turns}"
            assert spinning.cancelled()
    assert await slots.count("x") == 0

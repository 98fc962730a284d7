"""What `acquire` returns: one acquisition, to extend, to release, to read."""

from __future__ import annotations

import gc
import time
import warnings

import pytest
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError, ValidationError


async def test_a_handle_says_what_it_holds(world):
    """`key`, `token`, `limit`, `permits` and `signal` describe the acquisition."""
    slots = world.semaphore(limit=3)
    async with await slots.acquire("x", permits=2) as held:
        assert held.key == slots.key("x")
        assert held.token in world.members(held.key)
        assert (held.limit, held.permits) == (3, 2)
        assert held.signal.aborted is False
        assert held.signal.reason is None
        assert held.key in repr(world.raw(held))
        assert "held" in repr(world.raw(held))


async def test_release_is_true_once(world):
    """`release` is True for the release that let go, and False ever after."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    assert await held.release() is True
    assert await held.release() is False
    assert await slots.count("x") == 0
    assert held.signal.aborted is False


async def test_a_second_release_touches_nobody_else(world):
    """A double release does not free the slot of the next holder (dv/redis-semaphore#65)."""
    slots = world.semaphore(limit=1)
    first = await slots.acquire("x")
    await first.release()
    async with await slots.acquire("x"):
        await first.release()
        assert await slots.count("x") == 1


async def test_release_is_false_when_the_lease_had_lapsed(world):
    """A holder that comes too late hears that it no longer held its slot."""
    slots = world.semaphore(limit=1, lease_ms=50)
    held = await slots.acquire("x")
    await wait_until(lambda: not world.members(held.key))
    assert await held.release() is False
    assert held.signal.aborted is False


async def test_extend_moves_the_expiry(world):
    """`extend` holds on for the acquisition's lease from now, or for the one it is given."""
    slots = world.semaphore(limit=1, lease_ms=5_000)
    async with await slots.acquire("x", lease_ms=1_000) as held:
        assert await held.extend() is True
        left = world.members(held.key)[held.token] - world.now_ms()
        assert 500 < left <= 1_000
        assert await held.extend(30_000) is True
        left = world.members(held.key)[held.token] - world.now_ms()
        assert 25_000 < left <= 30_000


async def test_extend_may_shorten(world):
    """A lease that the holder asks for is the one it gets, also when it is shorter."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x") as held:
        assert await held.extend(1_000) is True
        assert world.members(held.key)[held.token] - world.now_ms() <= 1_000


async def test_extend_after_a_loss_is_false_and_aborts_the_signal(world):
    """`extend` on a slot that is gone says so, and the signal carries the reason."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    world.redis.delete(held.key)
    assert await held.extend() is False
    assert held.signal.aborted is True
    assert isinstance(held.signal.reason, SemaphoreLeaseLostError)
    assert (held.signal.reason.key, held.signal.reason.limit) == (held.key, 1)
    assert await held.extend() is False
    assert await held.release() is False


async def test_extend_does_not_bring_an_expired_holder_back(world):
    """A lapsed member that nobody has dropped yet stays lapsed (swarthy/redis-semaphore#175)."""
    slots = world.semaphore(limit=2)
    async with await slots.acquire("x"):
        late = await slots.acquire("x", lease_ms=50)
        await wait_until(lambda: min(world.members(late.key).values()) <= world.now_ms())
        assert await late.extend() is False
        assert await slots.count("x") == 1


async def test_extend_after_release_is_false_and_no_loss(world):
    """A slot that was let go is not lost: `extend` is False and the signal stays quiet."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    await held.release()
    assert await held.extend() is False
    assert held.signal.aborted is False
    assert await slots.count("x") == 0


@pytest.mark.parametrize("bad", [0, -1, True, 1.5, "1000"])
async def test_extend_refuses_a_bad_length(world, bad):
    """The length given to `extend` follows the rule of `lease_ms`."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x") as held:
        with pytest.raises(ValidationError) as refused:
            await held.extend(bad)
        wanted = f"semaphore lease_ms must be a positive integer, received {bad!r}"
        assert str(refused.value) == wanted


async def test_a_handle_is_a_context_manager_that_releases(world):
    """Leaving the block releases, also when the block raises (alisaifee/coredis#370)."""
    slots = world.semaphore(limit=1)
    with pytest.raises(LookupError):
        async with await slots.acquire("x"):
            raise LookupError
    assert await slots.count("x") == 0


async def test_an_early_release_in_the_block_is_fine(world):
    """A block may release by itself; its end then has nothing to do."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x") as held:
        assert await held.release() is True
    assert await slots.count("x") == 0


async def test_a_handle_that_is_dropped_warns(world):
    """A handle that nobody released is named in a `ResourceWarning` when it is collected."""
    slots = world.semaphore(limit=1, lease_ms=100)
    held = await slots.acquire("x")
    wanted = f"{held.key} held> was dropped without release"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del held
        await wait_until(lambda: gc.collect() >= 0 and caught)
    (warning,) = [warning for warning in caught if "dropped" in str(warning.message)]
    assert warning.category is ResourceWarning
    assert wanted in str(warning.message)


async def test_handles_that_are_over_do_not_warn(world):
    """Neither a released nor a lost handle warns: pytest makes an error of each warning."""
    slots = world.semaphore(limit=2)
    released, lost = await slots.acquire("x"), await slots.acquire("x")
    await released.release()
    world.redis.delete(lost.key)
    await lost.extend()
    del released, lost
    gc.collect()


async def test_nothing_renews_a_handle_from_acquire(world):
    """Without `extend` the slot is free after one lease, and nothing was sent to keep it."""
    slots = world.semaphore(limit=1, lease_ms=200)
    with world.server.listening() as seen:
        held = await slots.acquire("x")
        start = time.monotonic()
        await wait_until(lambda: not world.members(held.key))
        assert time.monotonic() - start > 0.1
    about_it = [words for words in seen if held.token in words]
    assert len({tuple(words[2:]) for words in about_it}) == 1, "more than the acquire was sent"
    assert held.signal.aborted is False
    assert await held.release() is False

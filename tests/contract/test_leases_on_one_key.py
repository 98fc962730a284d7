"""Leases of different lengths on one key, and permits that are taken together."""

from __future__ import annotations

import pytest
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError


async def lapse(world, held):
    """Shorten a lease, and wait until the server's clock has passed it."""
    assert await held.extend(20) is True
    expiry = world.members(held.key)[held.token]
    await wait_until(lambda: world.now_ms() > expiry)


async def test_a_short_lease_never_shortens_another(world):
    """The key outlives a short lease when a longer one is on it, in whatever order they came."""
    slots = world.semaphore(limit=3)
    first = await slots.acquire("x", lease_ms=30_000)
    short = await slots.acquire("x", lease_ms=500)
    second = await slots.acquire("x", lease_ms=40_000)
    await lapse(world, short)
    assert await slots.count("x") == 2
    assert await first.release() is True
    assert await second.release() is True
    assert await short.release() is False


async def test_the_key_expires_with_its_last_live_lease(world):
    """The key's expiry is the largest score after every acquire and every extension."""
    slots = world.semaphore(limit=3)
    key = slots.key("x")

    def covers():
        return world.redis.pexpiretime(key) == max(world.members(key).values())

    first = await slots.acquire("x", lease_ms=10_000)
    assert covers()
    second = await slots.acquire("x", lease_ms=5_000)
    assert covers()
    third = await slots.acquire("x", lease_ms=20_000)
    assert covers()
    await second.extend(60_000)
    assert covers()
    for held in (first, second, third):
        await held.release()


async def test_nothing_is_left_of_a_pool_that_nobody_uses(world):
    """The key goes with the last release, and with the last lease (getsentry/snuba#4965)."""
    slots = world.semaphore(limit=2, lease_ms=50)
    held = await slots.acquire("x")
    await held.release()
    assert world.redis.keys() == []
    forgotten = await slots.acquire("x")
    await wait_until(lambda: world.redis.keys() == [])
    assert await forgotten.release() is False


async def test_an_expired_holder_is_dropped_by_the_next_acquire(world):
    """The slot of a holder that died comes back by itself, one by one (redis-rate-limiters#7)."""
    slots = world.semaphore(limit=2)
    async with await slots.acquire("x") as alive:
        dead = await slots.acquire("x")
        assert await slots.acquire("x") is None
        await lapse(world, dead)
        async with await slots.acquire("x") as successor:
            assert set(world.members(dead.key)) == {alive.token, successor.token}
        assert await dead.release() is False


async def test_count_ignores_the_expired_and_writes_nothing(world):
    """`count` leaves an expired member where it is, and does not count it."""
    slots = world.semaphore(limit=3)
    async with await slots.acquire("x") as alive:
        dead = await slots.acquire("x")
        assert await slots.count("x") == 2
        await lapse(world, dead)
        before = world.members(alive.key), world.redis.pexpiretime(alive.key)
        assert await slots.count("x") == 1
        assert (world.members(alive.key), world.redis.pexpiretime(alive.key)) == before
        assert dead.token in before[0]
        await dead.release()
    assert await slots.count("x") == 0
    assert await slots.count("never used") == 0


async def test_count_is_one_round_trip(world):
    """`count` costs one command."""
    slots = world.semaphore(limit=1)
    await slots.count("x")
    with world.server.listening() as seen:
        await slots.count("x")
    assert [words[0] for words in seen] == ["EVALSHA"]


async def test_a_refused_acquire_changes_no_lease(world):
    """Whoever is refused leaves the holders and the key's expiry as they are (litellm#39309)."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x", lease_ms=5_000) as held:
        before = world.members(held.key), world.redis.pexpiretime(held.key)
        assert await slots.acquire("x", lease_ms=60_000) is None
        assert (world.members(held.key), world.redis.pexpiretime(held.key)) == before


async def test_permits_are_taken_all_together(world):
    """`permits=3` makes three members, of which the token is one."""
    slots = world.semaphore(limit=5)
    async with await slots.acquire("x", permits=3) as held:
        members = world.members(held.key)
        assert len(members) == 3
        assert held.token in members
        assert len(set(members.values())) == 1
        assert held.permits == 3
        assert await slots.count("x") == 3
    assert await slots.count("x") == 0


async def test_permits_that_do_not_fit_take_nothing(world):
    """Where there is no room for all of them, none is taken, and a smaller request still fits."""
    slots = world.semaphore(limit=5)
    async with await slots.acquire("x", permits=3):
        assert await slots.acquire("x", permits=3) is None
        assert await slots.count("x") == 3
        async with await slots.acquire("x", permits=2):
            assert await slots.count("x") == 5
            assert await slots.acquire("x") is None


async def test_all_permits_may_be_taken_at_once(world):
    """`permits` may be the whole limit."""
    slots = world.semaphore(limit=4)
    async with await slots.acquire("x", permits=4):
        assert await slots.acquire("x") is None


async def test_permits_are_extended_together(world):
    """`extend` moves every member, and the key's expiry with them."""
    slots = world.semaphore(limit=3)
    async with await slots.acquire("x", permits=3, lease_ms=5_000) as held:
        assert await held.extend(60_000) is True
        (expiry,) = set(world.members(held.key).values())
        assert expiry - world.now_ms() > 50_000
        assert world.redis.pexpiretime(held.key) == expiry


async def test_a_heavy_body_is_renewed_and_let_go_as_one(world):
    """`run` renews all its permits together, and gives all of them back."""
    slots = world.semaphore(limit=3)

    async def body(held):
        await world.renewed(held.key)
        assert len(set(world.members(held.key).values())) == 1
        return await slots.count("x")

    assert await slots.run("x", body, permits=3, lease_ms=30_000, heartbeat_ms=20) == 3
    assert world.members(slots.key("x")) == {}


async def test_a_permit_that_is_gone_is_the_loss_of_all(world):
    """Holding some of the permits is not holding: the handle is lost, and frees the rest."""
    slots = world.semaphore(limit=3)

    async def body(held):
        other = next(member for member in world.members(held.key) if member != held.token)
        world.redis.zrem(held.key, other)
        await wait_until(lambda: held.signal.aborted)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, permits=3, lease_ms=30_000, heartbeat_ms=20)
    await wait_until(lambda: not world.members(slots.key("x")))


async def test_a_lost_handle_frees_what_is_left_of_its_permits(world):
    """`release` gives the remaining permits back, also when `extend` had found a loss before."""
    slots = world.semaphore(limit=3)
    held = await slots.acquire("x", permits=3)
    world.redis.zrem(held.key, held.token)
    assert await held.extend() is False
    assert await held.release() is False
    await wait_until(lambda: not world.members(held.key), 2)

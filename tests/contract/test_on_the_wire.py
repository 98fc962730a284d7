"""The format that every implementation shares, and the drivers and dialects that reach it."""

from __future__ import annotations

import pytest
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError

FLAVOURS = {
    "resp2-bytes": {"protocol": 2, "decode_responses": False},
    "resp2-text": {"protocol": 2, "decode_responses": True},
    "resp3-bytes": {"protocol": 3, "decode_responses": False},
    "resp3-text": {"protocol": 3, "decode_responses": True},
    "single connection": {"single_connection_client": True},
    "valkey-py": {"driver": "valkey"},
    "valkey-py, text": {"driver": "valkey", "protocol": 3, "decode_responses": True},
}
EVERY = pytest.mark.parametrize("flavour", FLAVOURS)


async def test_holders_are_a_sorted_set_at_the_key(world):
    """`<prefix>:<id>` has a member for each token, scored with its expiry in server time."""
    slots = world.semaphore(prefix="provider", limit=20, lease_ms=60_000)
    before = world.now_ms()
    async with await slots.acquire("openai") as held:
        after = world.now_ms()
        assert held.key == slots.key("openai") == "provider:openai"
        assert world.redis.type("provider:openai") == "zset"
        ((token, expiry),) = world.members("provider:openai").items()
        assert token == held.token
        assert before + 60_000 <= expiry <= after + 60_000
    assert world.redis.exists("provider:openai") == 0


@pytest.mark.parametrize("id", ["a:b", "ünï", "with space", "{tag}", "{", "a}b{c}", 0, -7, 10**30])
async def test_an_id_is_written_as_it_is(world, id):
    """Whatever a string or an integer holds goes into the key unchanged."""
    slots = world.semaphore(prefix="p", limit=1)
    async with await slots.acquire(id) as held:
        assert held.key == f"p:{id}"
        assert list(world.redis.keys()) == [f"p:{id}"]
        assert await held.extend() is True
        assert await slots.count(id) == 1


async def test_a_foreign_holder_counts(world):
    """A live member that another library wrote takes a slot."""
    slots = world.semaphore(limit=2)
    world.put_holder(slots.key("x"), "foreign", 30_000)
    assert await slots.count("x") == 1
    async with await slots.acquire("x"):
        assert await slots.count("x") == 2
        assert await slots.acquire("x") is None
    assert set(world.members(slots.key("x"))) == {"foreign"}


async def test_a_foreign_holder_without_room_refuses(world):
    """A pool that others fill has no room for us, and we leave their expiry alone."""
    slots = world.semaphore(limit=1)
    world.put_holder(slots.key("x"), "foreign", 30_000)
    before = world.members(slots.key("x"))
    assert await slots.acquire("x") is None
    assert world.members(slots.key("x")) == before


async def test_an_expired_foreign_holder_is_dropped(world):
    """A member whose score is at or below the server's clock is no holder, whoever wrote it."""
    slots = world.semaphore(limit=1)
    world.put_holder(slots.key("x"), "foreign", 0)
    assert await slots.count("x") == 0
    async with await slots.acquire("x") as held:
        assert set(world.members(held.key)) == {held.token}


async def test_a_foreign_acquire_sees_ours(world):
    """Our members and the key's expiry are what another library's acquire relies on."""
    slots = world.semaphore(limit=2)
    key = slots.key("x")
    async with await slots.acquire("x", lease_ms=30_000) as held:
        world.redis.zremrangebyscore(key, "-inf", world.now_ms())
        assert world.redis.zcard(key) == 1
        assert world.members(key)[held.token] > world.now_ms()
        assert world.redis.pexpiretime(key) == world.members(key)[held.token]


async def test_a_key_of_another_type_is_the_servers_error(world):
    """What the driver raises passes through, and the foreign key is left alone."""
    slots = world.semaphore(limit=1)
    world.redis.set(slots.key("x"), "not a pool", px=60_000)
    with pytest.raises(Exception, match="WRONGTYPE") as refused:
        await slots.acquire("x")
    assert type(refused.value).__module__.startswith("redis.")
    assert world.redis.get(slots.key("x")) == "not a pool"


@EVERY
async def test_every_flavour_acquires_extends_counts_and_releases(world, flavour):
    """The replies of every dialect are understood."""
    slots = world.semaphore(world.client(**FLAVOURS[flavour]), limit=2)
    held = await slots.acquire("x", permits=2)
    assert await slots.acquire("x") is None
    assert await held.extend() is True
    assert await slots.count("x") == 2
    assert await held.release() is True
    assert await held.release() is False
    gone = await slots.acquire("x")
    world.redis.delete(gone.key)
    assert await gone.extend() is False


@EVERY
async def test_every_flavour_renews(world, flavour):
    """The connection that renews speaks the client's dialect as well."""
    slots = world.semaphore(world.client(**FLAVOURS[flavour]), limit=1)

    async def body(held):
        world.redis.script_flush()
        await world.renewed(held.key)
        return "done"

    assert await slots.run("x", body, lease_ms=30_000, heartbeat_ms=20) == "done"


@EVERY
async def test_every_flavour_finds_a_loss(world, flavour):
    """A loss is a loss in every dialect."""
    slots = world.semaphore(world.client(**FLAVOURS[flavour]), limit=1)

    async def body(held):
        world.redis.delete(held.key)
        await wait_until(lambda: held.signal.aborted)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, lease_ms=30_000, heartbeat_ms=20)

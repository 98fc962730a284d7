"""Which clients are accepted, and what they are called by."""

from __future__ import annotations

import fakeredis
import pytest
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel
import valkey
import valkey.asyncio
from support.servers import valkey_server
from support.waiting import wait_until
from support.world import World, leaving_nothing

from benni import AsyncBenni, AsyncSemaphore, Benni, Semaphore, SyncBenni, SyncSemaphore
from benni.schema import semaphore

slots = semaphore("provider", limit=1)


def sentinel(module):
    return module.Sentinel([("127.0.0.1", 1)])


CLIENTS = {
    "redis.Redis": (redis.Redis, "sync"),
    "redis.StrictRedis": (redis.StrictRedis, "sync"),
    "redis, of a pool": (lambda: redis.Redis(connection_pool=redis.ConnectionPool()), "sync"),
    "redis, blocking pool": (
        lambda: redis.Redis(connection_pool=redis.BlockingConnectionPool()),
        "sync",
    ),
    "redis, of a Sentinel": (lambda: sentinel(redis.sentinel).master_for("m"), "sync"),
    "redis.asyncio.Redis": (redis.asyncio.Redis, "async"),
    "redis.asyncio, of a URL": (lambda: redis.asyncio.from_url("redis://"), "async"),
    "redis.asyncio, of a Sentinel": (
        lambda: sentinel(redis.asyncio.sentinel).master_for("m"),
        "async",
    ),
    "redis.asyncio.RedisCluster": (lambda: redis.asyncio.RedisCluster("127.0.0.1", 1), "async"),
    "fakeredis": (fakeredis.FakeRedis, "sync"),
    "fakeredis, asyncio": (fakeredis.FakeAsyncRedis, "async"),
    "valkey.Valkey": (valkey.Valkey, "sync"),
    "valkey.asyncio.Valkey": (valkey.asyncio.Valkey, "async"),
    "valkey.asyncio.ValkeyCluster": (lambda: valkey.asyncio.ValkeyCluster("127.0.0.1", 1), "async"),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("which", CLIENTS)
async def test_the_client_decides_the_colour(which):
    """A blocking client makes blocking things, an asyncio one awaited things."""
    make, colour = CLIENTS[which]
    client = make()
    handle = Benni(client, schema={"slots": slots})
    pools = (
        handle.query.slots,
        Semaphore(client=client, limit=1),
        Semaphore(client=handle, limit=1),
    )
    assert type(handle) is (SyncBenni if colour == "sync" else AsyncBenni)
    assert {type(pool) for pool in pools} == {SyncSemaphore if colour == "sync" else AsyncSemaphore}
    assert handle.client is client


class Named:
    """Has a method of a client's, and is none."""

    def execute_command(self, *args):
        """Do nothing."""


REFUSED = {
    "a class": lambda: redis.Redis,
    "an asyncio class": lambda: redis.asyncio.Redis,
    "None": lambda: None,
    "a URL": lambda: "redis://localhost",
    "a number": lambda: 6379,
    "a pool": redis.ConnectionPool,
    "a pipeline": lambda: redis.Redis().pipeline(),
    "an asyncio pipeline": lambda: redis.asyncio.Redis().pipeline(),
    "a pub/sub": lambda: redis.Redis().pubsub(),
    "an asyncio pub/sub": lambda: redis.asyncio.Redis().pubsub(),
    "a Sentinel": lambda: sentinel(redis.sentinel),
    "an asyncio Sentinel": lambda: sentinel(redis.asyncio.sentinel),
    "a lock": lambda: redis.Redis().lock("x"),
    "a look-alike": Named,
}


@pytest.mark.parametrize("which", REFUSED)
@pytest.mark.parametrize("make", [Benni, lambda client: Semaphore(client=client, limit=1)])
async def test_anything_else_is_a_type_error(which, make):
    """The error says what is accepted, and what was received."""
    thing = REFUSED[which]()
    with pytest.raises(TypeError) as refused:
        make(thing)
    assert str(refused.value).startswith("client must be a redis.Redis, ")
    assert f"received {thing!r}" in str(refused.value)


async def test_a_sentinel_is_told_what_to_use():
    """A `Sentinel` finds clients and is none; the message says how to get one."""
    with pytest.raises(TypeError, match=r"master_for\(\)"):
        Benni(sentinel(redis.sentinel))


@pytest.mark.engines("valkey")
async def test_a_cluster_client_does_everything(engine, colour):
    """On a Cluster every script's keys are in one slot (PyrateLimiter#126), in both colours."""
    with valkey_server(tcp=True, cluster_enabled="yes") as server:
        server.admin.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        await wait_until(lambda: server.admin.cluster("INFO")["cluster_state"] == "ok")
        async with World(server, colour) as world:
            of = redis if colour == "sync" else redis.asyncio
            client = of.RedisCluster("127.0.0.1", server.port)
            pool = world.semaphore(client, limit=2)
            for name in ("x", "{tag}", "a{b", "c}d", 7):
                held = await pool.acquire(name, permits=2)
                assert await pool.acquire(name) is None
                assert await held.extend() is True
                assert await pool.count(name) == 2
                assert await held.release() is True
                async with pool.hold(name, lease_ms=30_000, heartbeat_ms=20):
                    await world.renewed(pool.key(name), 1)
            await world.do(client.close if colour == "sync" else client.aclose)


@pytest.mark.engines("valkey")
@pytest.mark.parametrize("protocol", [2, 3])
async def test_a_client_that_is_dropped_takes_its_thread_along(engine, colour, protocol):
    """No helper thread or connection outlives its client (PyrateLimiter#185), over TCP too."""
    with valkey_server(tcp=True) as server:
        async with leaving_nothing(server), World(server, colour) as world:
            pool = world.semaphore(world.client(protocol=protocol), limit=1)
            async with pool.hold("x", lease_ms=30_000, heartbeat_ms=20):
                await world.renewed(pool.key("x"))
            del pool

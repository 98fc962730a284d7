"""The client decides the colour, and a type checker knows it. Checked, never run."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import redis
import redis.asyncio

from benni import AsyncBenni, AsyncSemaphore, Benni, Semaphore, SyncBenni, SyncSemaphore
from benni.schema import SemaphoreSchema, semaphore

if TYPE_CHECKING:
    import fakeredis

slots = semaphore("provider", limit=20, lease_ms=60_000)


def declarations() -> None:
    """A declaration has a type of its own, and its options have theirs."""
    assert_type(slots, SemaphoreSchema)
    assert_type(slots.limit, int)
    assert_type(slots.prefix, str)
    semaphore("provider")  # type: ignore[call-arg]
    semaphore("provider", 20)  # type: ignore[call-arg]
    semaphore("provider", limit="20")  # type: ignore[arg-type]
    semaphore(7, limit=20)  # type: ignore[arg-type]


def blocking(
    client: redis.Redis,
    cluster: redis.RedisCluster,
    fake: fakeredis.FakeRedis,
) -> None:
    """Blocking clients make blocking handles and primitives."""
    assert_type(Benni(client, schema=slots.__class__), SyncBenni)
    assert_type(Benni(cluster), SyncBenni)
    assert_type(Benni(fake), SyncBenni)
    assert_type(Benni(Benni(client)), SyncBenni)
    assert_type(Semaphore(client=client, limit=1), SyncSemaphore)
    assert_type(Semaphore(client=cluster, limit=1, prefix="p", lease_ms=1), SyncSemaphore)
    assert_type(Semaphore(client=fake, limit=1), SyncSemaphore)
    assert_type(Semaphore(client=Benni(client), limit=1), SyncSemaphore)
    assert_type(Benni(client)[slots], SyncSemaphore)


def awaited(
    client: redis.asyncio.Redis,
    cluster: redis.asyncio.RedisCluster,
    fake: fakeredis.FakeAsyncRedis,
) -> None:
    """Asyncio clients make awaited ones."""
    assert_type(Benni(client, schema=[]), AsyncBenni)
    assert_type(Benni(cluster), AsyncBenni)
    assert_type(Benni(fake), AsyncBenni)
    assert_type(Benni(Benni(client)), AsyncBenni)
    assert_type(Semaphore(client=client, limit=1), AsyncSemaphore)
    assert_type(Semaphore(client=cluster, limit=1, prefix="p", lease_ms=1), AsyncSemaphore)
    assert_type(Semaphore(client=fake, limit=1), AsyncSemaphore)
    assert_type(Semaphore(client=Benni(client), limit=1), AsyncSemaphore)
    assert_type(Benni(client)[slots], AsyncSemaphore)


def by_name(client: redis.Redis, aio: redis.asyncio.Redis) -> None:
    """A colour can be asked for by its name, and then the client has to have it."""
    assert_type(SyncSemaphore(client=client, limit=1), SyncSemaphore)
    assert_type(AsyncSemaphore(client=aio, limit=1), AsyncSemaphore)
    assert_type(SyncBenni(client), SyncBenni)
    assert_type(AsyncBenni(aio), AsyncBenni)


def from_url() -> None:
    """The class says the colour where there is no client."""
    assert_type(SyncBenni.from_url("embedded://"), SyncBenni)
    assert_type(AsyncBenni.from_url("embedded://", schema=[{"slots": slots}]), AsyncBenni)


def handles(handle: SyncBenni) -> None:
    """A blocking handle is entered with `with`."""
    with handle as entered:
        assert_type(entered, SyncBenni)
    handle.close()
    assert_type(handle.url, str)
    assert_type(len(handle.query), int)
    assert_type(list(handle.query), list[str])


async def async_handles(handle: AsyncBenni) -> None:
    """An awaited one with `async with`."""
    async with handle as entered:
        assert_type(entered, AsyncBenni)
    await handle.aclose()
    handle.close()  # type: ignore[attr-defined]
    with handle:  # type: ignore[attr-defined]
        pass


def no_clients() -> None:
    """What is no client is an error before the program runs."""
    Benni("redis://localhost")  # type: ignore[call-overload]
    Benni()  # type: ignore[call-overload]
    Benni(redis.Redis)  # type: ignore[call-overload]
    Semaphore(client=None, limit=1)  # type: ignore[call-overload]


def options(client: redis.Redis) -> None:
    """The constructor takes names, and checks them."""
    Semaphore(client, limit=1)  # type: ignore[call-overload]
    Semaphore(client=client)  # type: ignore[call-overload]
    Semaphore(client=client, limit="1")  # type: ignore[call-overload]
    Semaphore(client=client, limit=1, lease=1)  # type: ignore[call-overload]


def not_mixed(handle: SyncBenni, aio: AsyncBenni) -> None:
    """One colour is not the other."""
    a: AsyncSemaphore = handle[slots]  # type: ignore[assignment]
    b: SyncSemaphore = aio[slots]  # type: ignore[assignment]
    handle["slots"]  # type: ignore[index]
    del a, b


def properties(primitive: Semaphore) -> None:
    """What both colours have can be used without knowing which it is."""
    assert_type(primitive.limit, int)
    assert_type(primitive.prefix, str)
    assert_type(primitive.lease_ms, int)
    assert_type(primitive.key("a"), str)
    assert_type(primitive.key(7), str)
    primitive.key(None)  # type: ignore[arg-type]

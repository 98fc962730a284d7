"""A `World` for clients of any kind, and the one thing that has to work through each of them."""

from __future__ import annotations

import asyncio
import time

import redis

from support.world import World

LEASE_MS = 500


class Site(World):
    """A `World` whose clients may be of any kind."""

    def __init__(self, server, colour):
        super().__init__(server, colour)
        self._adopted = []

    def adopt(self, client):
        """See to it that `client` is closed when the test has ended."""
        self._adopted.append(client)
        return client

    def redis_py(self, **options):
        """Make a client of redis-py."""
        return self.adopt(self.of(redis).Redis(**options))

    def of(self, module):
        """Give `redis` or `redis.asyncio`, and the same of valkey-py."""
        return module if self.colour == "sync" else module.asyncio

    async def close(self):
        """Close every client, and the pool of each that has one."""
        for client in self._adopted:
            await self.do(client.close if self.colour == "sync" else client.aclose)
            pool = getattr(client, "connection_pool", None)
            if pool is not None:
                await self.do(pool.disconnect)
        self._adopted.clear()
        await super().close()


async def keeps_its_slot(  # noqa: PLR0913
    site, client, id="x", *, meanwhile=None, observer=None, lease_ms=LEASE_MS, **options
):
    """Run a body of three leases on `client`: it is alone, renewed without a hitch, and ends."""
    slots = site.semaphore(client, limit=1, lease_ms=lease_ms, **options)
    other = site.semaphore(observer or client, prefix=slots.prefix, limit=1)
    seen, errors = set(), []

    async def body(held):
        end = time.monotonic() + 3 * lease_ms / 1000
        if meanwhile is not None:
            await meanwhile(held)
        while time.monotonic() < end:
            seen.add((await other.acquire(id), await other.count(id)))
            await asyncio.sleep(0.05)
        assert held.signal.aborted is False
        return "done"

    assert await slots.run(id, body, on_renew_error=errors.append) == "done"
    assert seen == {(None, 1)}
    assert errors == []
    assert await slots.count(id) == 0

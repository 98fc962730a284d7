"""A `World`: one colour on one server, and what a test needs to act in it and to look at it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import threading
import time
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from benni import Semaphore
from support.colours import Threads, Wrapped
from support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_numbers = count(1)


class World:
    """One colour on one server. See `support.colours` for how a test is written once for both."""

    def __init__(self, server: Any, colour: str) -> None:
        self.server = server
        self.colour = colour
        self._clients: list[Any] = []
        self._threads = Threads()

    # Making things.

    def client(self, **options: Any) -> Any:
        """Make a client of this colour, which is closed when the test has ended."""
        client = self.server.client(self.colour, **options)
        self._clients.append(client)
        return client

    def semaphore(self, client: Any = None, **options: Any) -> Any:
        """Make a colour-neutral semaphore, by default on a client and a prefix of its own."""
        client = self.client() if client is None else client
        options.setdefault("prefix", f"pool{next(_numbers)}")
        return self.neutral(Semaphore(client=client, **options))

    def neutral(self, thing: Any) -> Any:
        """Make every call of `thing` that waits awaitable."""
        return self._threads.neutral(thing)

    def raw(self, thing: Any) -> Any:
        """Take a colour-neutral thing out of its wrapping."""
        return thing.raw if isinstance(thing, Wrapped) else thing

    def plain(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Make of an async function what this colour takes for a body."""
        return self._threads.plain(body) if self.colour == "sync" else body

    async def do(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call what blocks in one colour and is awaited in the other."""
        if self.colour == "sync":
            return await self._threads.call(fn, *args, **kwargs)
        result = fn(*args, **kwargs)
        return await result if inspect.isawaitable(result) else result

    # Looking at the server.

    @property
    def redis(self) -> Any:
        """A blocking client that looks at the server from outside; replies are text."""
        return self.server.admin

    def members(self, key: str) -> dict[str, int]:
        """Read the holders of a key: token and expiry in server milliseconds."""
        return {
            token: int(score) for token, score in self.redis.zrange(key, 0, -1, withscores=True)
        }

    def now_ms(self) -> int:
        """Read the server's clock."""
        seconds, microseconds = self.redis.time()
        return seconds * 1000 + microseconds // 1000

    async def renewed(self, key: str, times: int = 2) -> None:
        """Wait until the leases on `key` have been extended so often."""
        for _ in range(times):
            before = max(self.members(key).values())
            await wait_until(lambda: max(self.members(key).values()) > before)

    def put_holder(self, key: str, token: str, expires_in_ms: int) -> None:
        """Write a holder by hand, as another implementation of the wire format would."""
        expiry = self.now_ms() + expires_in_ms
        self.redis.zadd(key, {token: expiry})
        self.redis.pexpireat(key, max(expiry, self.now_ms() + 60_000))

    def break_key(self, key: str) -> None:
        """Put another type at `key` in one step: the server answers its scripts with errors."""
        with self.redis.pipeline(transaction=True) as step:
            step.rename(key, f"{key}:aside").set(key, "of another type", px=60_000).execute()

    def mend_key(self, key: str) -> None:
        """Put back what `break_key` took away."""
        self.redis.rename(f"{key}:aside", key)

    # The end.

    async def close(self) -> None:
        """Close the clients, and see that nothing of them is left: no thread, no connection."""
        for client in self._clients:
            if self.colour == "sync":
                client.close()
                client.connection_pool.disconnect()  # fakeredis keeps its pool open
            else:
                await client.aclose(close_connection_pool=True)
        self._clients.clear()
        self._threads.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()


@contextlib.asynccontextmanager
async def leaving_nothing(server: Any) -> AsyncIterator[None]:
    """Check that the library has ended its threads and connections once its things are dropped."""
    threads = set(threading.enumerate())
    connections = server.connections() if server.kind == "real" else 0
    yield

    def left() -> list[str]:
        more_threads = {t for t in threading.enumerate() if not t.name.startswith("asyncio_")}
        names = [t.name for t in more_threads - threads if t.is_alive()]
        if server.kind == "real" and server.pid is not None:
            more = server.connections() - connections
            names += [f"{more} connections"] if more > 0 else []
        return names

    end = time.monotonic() + 1
    while left() and time.monotonic() < end:
        gc.collect()
        await asyncio.sleep(0.002)
    assert not left(), f"left behind: {left()}"

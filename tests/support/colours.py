"""One way to write a test for both colours: everything that waits is awaited.

`neutral(thing)` gives an asyncio thing back as it is. A blocking one comes wrapped: the calls that
block are made in a thread and are awaited, what they return is wrapped as well, and a body that is
written as an async function runs in the test's event loop while the thread waits for it.
"""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any

from benni import SyncBenni, SyncLease, SyncSignal
from benni.primitives import SyncSemaphore

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCKING: dict[type, frozenset[str]] = {
    SyncSemaphore: frozenset({"acquire", "run", "count"}),
    SyncLease: frozenset({"release", "extend"}),
    SyncSignal: frozenset({"wait"}),
    SyncBenni: frozenset({"close"}),
}
"""What blocks, by type; every other attribute is used as it is."""

BODIES = ("run",)
"""The calls whose second argument is a body."""


class Threads:
    """The threads that blocking calls are made in, and the loop that bodies run in."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(64, thread_name_prefix="test")
        self.loop = asyncio.get_running_loop()

    async def call(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call `fn` in a thread, and wrap what it returns."""
        result = await self.loop.run_in_executor(self._pool, partial(fn, *args, **kwargs))
        return self.neutral(result)

    def neutral(self, thing: Any) -> Any:
        """Wrap what blocks."""
        if type(thing) in BLOCKING:
            return Wrapped(thing, BLOCKING[type(thing)], self)
        return thing

    def plain(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Make a blocking function of an async one, with the same parameters."""
        if not inspect.iscoroutinefunction(body):
            return body

        def plain(*args: Any, **kwargs: Any) -> Any:
            outcome: Future[Any] = Future()
            call = partial(body, *map(self.neutral, args), **kwargs)
            self.loop.call_soon_threadsafe(self._start, call, outcome)
            return outcome.result()

        plain.__signature__ = inspect.signature(body)  # type: ignore[attr-defined]
        plain.__wrapped__ = body  # type: ignore[attr-defined]
        return plain

    def _start(self, call: Callable[[], Any], outcome: Future[Any]) -> None:
        async def run() -> None:
            try:
                outcome.set_result(await call())
            except BaseException as error:
                outcome.set_exception(error)

        outcome.task = self.loop.create_task(run())  # type: ignore[attr-defined]

    def close(self) -> None:
        """End the threads, which have nothing left to do."""
        self._pool.shutdown()


class Wrapped:
    """A blocking thing whose blocking calls are awaited."""

    def __init__(self, thing: Any, blocking: frozenset[str], threads: Threads) -> None:
        self.raw = thing
        self._blocking = blocking
        self._threads = threads

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.raw, name)
        if name not in self._blocking:
            return self._threads.neutral(value)
        return partial(self._run if name in BODIES else self._call, value)

    def __getitem__(self, key: Any) -> Any:
        return self._threads.neutral(self.raw[key])

    async def _call(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await self._threads.call(fn, *args, **kwargs)

    async def _run(self, fn: Callable[..., Any], id: Any, body: Any, **options: Any) -> Any:
        return await self._threads.call(fn, id, self._threads.plain(body), **options)

    def hold(self, *args: Any, **options: Any) -> Entered:
        return Entered(self.raw.hold(*args, **options), self._threads)

    def limited(self, *args: Any, **options: Any) -> Any:
        decorate = self.raw.limited(*args, **options)

        def decorated(body: Callable[..., Any]) -> Callable[..., Any]:
            limited = decorate(self._threads.plain(body))

            async def call(*args: Any, **kwargs: Any) -> Any:
                return await self._threads.call(limited, *args, **kwargs)

            return update_wrapper(call, limited)

        return decorated

    async def __aenter__(self) -> Any:
        entered = await self._threads.call(self.raw.__enter__)
        return self if getattr(entered, "raw", None) is self.raw else entered

    async def __aexit__(self, *exc: object) -> Any:
        return await self._threads.call(self.raw.__exit__, *exc)


class Entered:
    """A blocking context manager that is entered with `async with`."""

    def __init__(self, manager: Any, threads: Threads) -> None:
        self._manager = manager
        self._threads = threads

    async def __aenter__(self) -> Any:
        return await self._threads.call(self._manager.__enter__)

    async def __aexit__(self, *exc: object) -> Any:
        return await self._threads.call(self._manager.__exit__, *exc)

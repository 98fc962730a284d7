"""The processes that the demo starts, and ends by their ids."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    Event = dict[str, Any]

PATIENCE_SECONDS = 5


class Child:
    """A process of the demo's own, whose events are handed to `on_event` as they come."""

    def __init__(
        self, process: asyncio.subprocess.Process, on_event: Callable[[Event], None]
    ) -> None:
        self._process = process
        self._on_event = on_event
        self._killed = False
        self._ready: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        """The id that the system knows it by."""
        return self._process.pid

    async def ready(self) -> Event:
        """Wait for its first event, which tells that it is ready."""
        either: set[asyncio.Future[Any]] = {self._ready, self._reading}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            raise ChildProcessError(f"process {self.pid} ended before it was ready")
        return self._ready.result()

    def go(self) -> None:
        """Give it the word to start."""
        if self._process.stdin:
            self._process.stdin.write(b"go\n")

    async def done(self) -> None:
        """Wait until it has ended: with success, or killed from here."""
        await self._reading
        code = await self._process.wait()
        if code and not self._killed:
            raise ChildProcessError(f"process {self.pid} ended with {code}")

    async def kill(self) -> None:
        """End it as a crash would: at once, with nothing given back. Every event has been read."""
        self._killed = True
        self._process.kill()
        await self._reading
        await self._process.wait()

    async def stop(self) -> None:
        """End it in good order if it still runs, and reap it."""
        if self._process.returncode is None:
            self._process.terminate()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    async def _read(self) -> None:
        if not self._process.stdout:
            return
        async for line in self._process.stdout:
            event = json.loads(line)
            if event["event"] == "ready":
                self._ready.set_result(event)
            else:
                self._on_event(event)


@asynccontextmanager
async def child(
    module: str, *args: str, on_event: Callable[[Event], None] = lambda _: None
) -> AsyncIterator[Child]:
    """Start `python -m module`; the block's end is the process's end.

    It has a session of its own, so that a Ctrl-C reaches the parent alone, which then stops all.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *args, stdin=PIPE, stdout=PIPE, start_new_session=True
    )
    started = Child(process, on_event)
    try:
        yield started
    finally:
        await asyncio.shield(started.stop())

"""The semaphore on an asyncio client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benni.primitives._leased.aio import AsyncLeased
from benni.primitives.semaphore.base import Semaphore
from benni.primitives.semaphore.core import SemaphoreCore, read_count

if TYPE_CHECKING:
    from benni._io.aio import AsyncDriver


class AsyncSemaphore(AsyncLeased[SemaphoreCore], Semaphore):
    """A `Semaphore` whose methods are awaited."""

    _driver: AsyncDriver

    async def count(self, id: str | int) -> int:
        """Same as `SyncSemaphore.count`, but awaited."""
        return read_count(await self._driver.call(self._core.count(id)))

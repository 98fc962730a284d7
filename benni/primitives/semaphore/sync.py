"""The semaphore on a blocking client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benni.primitives._leased.sync import SyncLeased
from benni.primitives.semaphore.base import Semaphore
from benni.primitives.semaphore.core import SemaphoreCore, read_count

if TYPE_CHECKING:
    from benni._io.sync import SyncDriver


class SyncSemaphore(SyncLeased[SemaphoreCore], Semaphore):
    """A `Semaphore` whose methods block."""

    _driver: SyncDriver

    def count(self, id: str | int) -> int:
        """Count the permits of `id` that live holders have. One round trip; writes nothing."""
        return read_count(self._driver.call(self._core.count(id)))

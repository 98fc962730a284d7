"""The semaphore as a declaration: a plain value that opens nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from benni._core.declaration import Declaration
from benni._core.rules import Milliseconds, PositiveInt, Text

if TYPE_CHECKING:
    from benni.primitives.semaphore.aio import AsyncSemaphore
    from benni.primitives.semaphore.sync import SyncSemaphore


class SemaphoreSchema(Declaration):
    """At most `limit` permits of each id of `prefix` are held at once, each for `lease_ms`."""

    kind: ClassVar[str] = "semaphore"

    prefix: Text
    limit: PositiveInt
    lease_ms: Milliseconds = 60_000

    def bind_sync(self, client: Any) -> SyncSemaphore:
        """Make the semaphore on a blocking client."""
        from benni.primitives.semaphore.sync import SyncSemaphore  # noqa: PLC0415

        return SyncSemaphore.bound(self, client)

    def bind_async(self, client: Any) -> AsyncSemaphore:
        """Make the semaphore on an asyncio client."""
        from benni.primitives.semaphore.aio import AsyncSemaphore  # noqa: PLC0415

        return AsyncSemaphore.bound(self, client)


def semaphore(prefix: str, *, limit: int, lease_ms: int = 60_000) -> SemaphoreSchema:
    """Declare a semaphore: a value for a schema module. Nothing is sent or opened.

    Args:
        prefix: the namespace; the key of an id is `<prefix>:<id>`.
        limit: how many permits of an id can be held at once.
        lease_ms: how many milliseconds a slot is held without an extension.

    Raises:
        ValidationError: an option breaks its rule.
    """
    return SemaphoreSchema(prefix=prefix, limit=limit, lease_ms=lease_ms)

"""The semaphore's client-taking form, which picks the colour that its client has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from benni._io.drivers import client_of, driver_of, new_token, pick
from benni._io.process import process
from benni.primitives.semaphore.core import SemaphoreCore

if TYPE_CHECKING:
    from typing import Self

    from benni._io.drivers import AsyncClient, SyncClient
    from benni.primitives.semaphore.aio import AsyncSemaphore
    from benni.primitives.semaphore.schema import SemaphoreSchema
    from benni.primitives.semaphore.sync import SyncSemaphore


class Semaphore:
    """At most `limit` permits of an id are held at once, across every process on this Redis.

    Given a blocking client this makes a `SyncSemaphore`, given an asyncio one an
    `AsyncSemaphore`. Nothing is sent.

    Args:
        client: a client of redis-py, valkey-py or fakeredis, of either colour, or a Benni handle.
        limit: how many permits of an id can be held at once.
        prefix: the namespace; the key of an id is `<prefix>:<id>`.
        lease_ms: how many milliseconds a slot is held without an extension.

    Raises:
        ValidationError: an option breaks its rule.
        TypeError: `client` is no client.
    """

    _core: SemaphoreCore
    _client: Any
    _driver: Any

    @overload
    def __new__(
        cls, *, client: AsyncClient, limit: int, prefix: str = ..., lease_ms: int = ...
    ) -> AsyncSemaphore: ...
    @overload
    def __new__(
        cls, *, client: SyncClient, limit: int, prefix: str = ..., lease_ms: int = ...
    ) -> SyncSemaphore: ...
    def __new__(
        cls, *, client: Any, limit: int, prefix: str = "semaphore", lease_ms: int = 60_000
    ) -> Any:
        """See the class."""
        from benni.primitives.semaphore.aio import AsyncSemaphore  # noqa: PLC0415
        from benni.primitives.semaphore.schema import SemaphoreSchema  # noqa: PLC0415
        from benni.primitives.semaphore.sync import SyncSemaphore  # noqa: PLC0415

        declared = SemaphoreSchema(prefix=prefix, limit=limit, lease_ms=lease_ms)
        client = client_of(client)
        return pick(cls, client, SyncSemaphore, AsyncSemaphore).bound(declared, client)

    @classmethod
    def bound(cls, declared: SemaphoreSchema, client: Any) -> Self:
        """Make one of a declaration; what a Benni handle does."""
        self = object.__new__(cls)
        self._core = SemaphoreCore(
            declared.prefix, declared.limit, declared.lease_ms, new_token, process
        )
        self._client = client
        self._driver = driver_of(client)
        return self

    @property
    def limit(self) -> int:
        """How many permits of an id can be held at once."""
        return self._core.limit

    @property
    def prefix(self) -> str:
        """The namespace of the keys."""
        return self._core.prefix

    @property
    def lease_ms(self) -> int:
        """How many milliseconds a slot is held without an extension."""
        return self._core.lease_ms

    def key(self, id: str | int) -> str:
        """Name the key of `id`: `"<prefix>:<id>"`. No round trip."""
        return self._core.key(id)

    def __repr__(self) -> str:
        core = self._core
        return (
            f"<{type(self).__name__} {core.prefix!r} limit={core.limit} lease_ms={core.lease_ms}>"
        )

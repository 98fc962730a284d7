"""From a client to its driver: one for each pool, however many clients and primitives use it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from benni._io.clients import colour_of, home_of

if TYPE_CHECKING:
    import redis
    import redis.asyncio

    from benni._io.aio import AsyncDriver
    from benni._io.clients import Colour
    from benni._io.sync import SyncDriver
    from benni.client import AsyncBenni, SyncBenni

T = TypeVar("T")


class SyncLike(Protocol):
    """A blocking client of another driver, as a type checker sees it."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Make one round trip."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class AsyncLike(Protocol):
    """Same as `SyncLike`, but awaited."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Same as `SyncLike.execute_command`; some drivers return a coroutine from a plain def."""
        ...

    async def aclose(self) -> None:
        """Same as `SyncLike.close`, but awaited. What tells the colours apart."""
        ...


SyncClient: TypeAlias = "redis.Redis | redis.RedisCluster | SyncBenni | SyncLike"
AsyncClient: TypeAlias = "redis.asyncio.Redis | redis.asyncio.RedisCluster | AsyncBenni | AsyncLike"


def client_of(client: Any) -> Any:
    """Return the Redis client: `client` itself, or the one that a Benni handle is bound to."""
    return getattr(client, "_benni_client", client)


def driver_of(client: Any) -> SyncDriver | AsyncDriver:
    """Return the driver of a client: the same for all clients that share a pool.

    It stays with the pool, so that a primitive made for a single call finds a keeper at work.
    """
    colour = colour_of(client)
    home = home_of(client)
    known = getattr(home, "_benni_driver", None)
    if known is None or known.home is not home:  # a copied pool has the driver of the original
        known = home._benni_driver = _make(home, colour)  # noqa: SLF001
    return cast("SyncDriver | AsyncDriver", known)


def _make(home: Any, colour: Colour) -> SyncDriver | AsyncDriver:
    if colour == "async":
        from benni._io.aio import AsyncDriver  # noqa: PLC0415

        return AsyncDriver(home)
    from benni._io.sync import SyncDriver  # noqa: PLC0415

    return SyncDriver(home)


def pick(cls: type, client: Any, sync: type[T], aio: type[T]) -> type[T]:
    """Choose the class of the client's colour, or `cls` itself where that is a subclass of it."""
    colour = colour_of(client)
    of_colour = sync if colour == "sync" else aio
    if issubclass(of_colour, cls):
        return of_colour
    if issubclass(cls, of_colour):
        return cls
    wanted = "a blocking" if colour == "async" else "an asyncio"
    raise TypeError(f"{cls.__name__} needs {wanted} client, received {client!r}")


def new_token() -> str:
    """Make a token: 128 bits of the system's randomness, so it can be neither met nor guessed."""
    return os.urandom(16).hex()

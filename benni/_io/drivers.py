"""From a client to its driver: one for each client, however many primitives use it."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from benni._io.clients import colour_of

if TYPE_CHECKING:
    import redis
    import redis.asyncio

    from benni._io.aio import AsyncDriver
    from benni._io.sync import SyncDriver
    from benni.client import AsyncBenni, SyncBenni

T = TypeVar("T")

SyncClient: TypeAlias = "redis.Redis | redis.RedisCluster | SyncBenni"
AsyncClient: TypeAlias = "redis.asyncio.Redis | redis.asyncio.RedisCluster | AsyncBenni"

_drivers: weakref.WeakValueDictionary[int, SyncDriver | AsyncDriver] = weakref.WeakValueDictionary()
"""By the client's identity, which is its own for as long as the driver is alive and holds it."""


def driver_of(client: Any) -> SyncDriver | AsyncDriver:
    """Return the driver of a client, or of a Benni handle. `TypeError` for anything else."""
    bound = getattr(client, "_benni_driver", None)
    if bound is not None:
        return cast("SyncDriver | AsyncDriver", bound)
    driver = _drivers.get(id(client))
    if driver is None:
        driver = _drivers[id(client)] = _make(client)
    return driver


def _make(client: Any) -> SyncDriver | AsyncDriver:
    if colour_of(client) == "async":
        from benni._io.aio import AsyncDriver  # noqa: PLC0415

        return AsyncDriver(client)
    from benni._io.sync import SyncDriver  # noqa: PLC0415

    return SyncDriver(client)


def pick(cls: type, driver: SyncDriver | AsyncDriver, sync: type[T], aio: type[T]) -> type[T]:
    """Choose the class of the driver's colour, or `cls` itself where that is a subclass of it."""
    of_colour = sync if driver.colour == "sync" else aio
    if issubclass(of_colour, cls):
        return of_colour
    if issubclass(cls, of_colour):
        return cls
    wanted = "a blocking" if driver.colour == "async" else "an asyncio"
    raise TypeError(f"{cls.__name__} needs {wanted} client, received {driver.client!r}")


def new_token() -> str:
    """Make a token: 128 bits of the system's randomness, so it can be neither met nor guessed."""
    return os.urandom(16).hex()

"""What a semaphore sends, and how it names its errors."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from benni._core.keys import sibling
from benni._core.leased import VOID_MS, LeasedCore
from benni._io.scripts import load
from benni.errors import ReplyError, SemaphoreLeaseLostError, SemaphoreNotAcquiredError

if TYPE_CHECKING:
    from benni._core.effects import Argument, Call, Reply
    from benni._core.lease import Lease

ACQUIRE = load("semaphore", "acquire")
EXTEND = load("semaphore", "extend")
RELEASE = load("semaphore", "release")
COUNT = load("semaphore", "count")


class SemaphoreCore(LeasedCore):
    """A sorted set of holders at the key: member = token, score = expiry in server time."""

    name = "semaphore"

    def acquire(self, lease: Lease) -> Call:
        """Add the members if they fit."""
        return ACQUIRE.call(_keys(lease.key), (self.limit, lease.duration_ms, *_members(lease)))

    def extend(self, lease: Lease, lease_ms: int, *, at_least: bool) -> Call:
        """Move the expiry of members that are there and have not expired."""
        return EXTEND.call((lease.key.encode(),), (lease_ms, int(at_least), *_members(lease)))

    def release(self, lease: Lease, *, remember: bool, brief: bool = False) -> Call:
        """Remove the members."""
        args: tuple[Argument, ...] = (VOID_MS if remember else 0, *_members(lease))
        return RELEASE.call(_keys(lease.key), args, brief=brief)

    def count(self, id: str | int) -> Call:
        """Count the members that have not expired."""
        return COUNT.call((self.key(id).encode(),), ())

    def lost(self, key: str, why: str) -> SemaphoreLeaseLostError:
        """See `LeasedCore`."""
        return SemaphoreLeaseLostError(key, self.limit, why)

    def not_acquired(self, key: str) -> SemaphoreNotAcquiredError:
        """See `LeasedCore`."""
        return SemaphoreNotAcquiredError(key, self.limit)


def read_count(reply: Reply) -> int:
    """Read the answer to `count`."""
    if type(reply.value) is not int or reply.value < 0:
        raise ReplyError(COUNT.name, reply.value)
    return reply.value


@lru_cache(maxsize=4096)
def _keys(key: str) -> tuple[bytes, bytes]:
    return key.encode(), sibling(key, "void").encode()


def _members(lease: Lease) -> tuple[str, ...]:
    """Name a member for each permit; the first is the token itself."""
    if lease.permits == 1:
        return (lease.token,)
    more = (f"{lease.token}:{n}" for n in range(2, lease.permits + 1))
    return (lease.token, *more)

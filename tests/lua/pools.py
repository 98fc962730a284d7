"""A pool of holders to run scripts on: what they see is written by hand, so no test waits."""

from __future__ import annotations

from typing import Any

from benni._core.keys import sibling
from benni.primitives.semaphore.core import ACQUIRE, COUNT, EXTEND, RELEASE

FAR = 60_000
"""Milliseconds that no test outlasts."""


class Pool:
    """One key, and each script as a method."""

    def __init__(self, redis: Any) -> None:
        self.redis = redis
        self.key = "pool:x"
        self.void = sibling(self.key, "void")

    def acquire(self, *members: str, limit: int = 2, lease: int = FAR) -> Any:
        """Run `acquire.lua`."""
        return self.redis.eval(ACQUIRE.text, 2, self.key, self.void, limit, lease, *members)

    def extend(self, *members: str, lease: int = FAR, at_least: bool = False) -> Any:
        """Run `extend.lua`."""
        return self.redis.eval(EXTEND.text, 1, self.key, lease, int(at_least), *members)

    def release(self, *members: str, remember: int = 0) -> Any:
        """Run `release.lua`."""
        return self.redis.eval(RELEASE.text, 2, self.key, self.void, remember, *members)

    def count(self) -> Any:
        """Run `count.lua`."""
        return self.redis.eval(COUNT.text, 1, self.key)

    def now(self) -> int:
        """Read the server's clock."""
        seconds, microseconds = self.redis.time()
        return seconds * 1000 + microseconds // 1000

    def put(self, **ends: int) -> None:
        """Write holders whose leases end in so many milliseconds, or ended so many ago."""
        now = self.now()
        self.redis.zadd(self.key, {token: now + end for token, end in ends.items()})
        self.redis.pexpireat(self.key, now + max(FAR, *ends.values()))

    def put_void(self, **ends: int) -> None:
        """Write remembered tokens in the same way."""
        now = self.now()
        self.redis.zadd(self.void, {token: now + end for token, end in ends.items()})
        self.redis.pexpireat(self.void, now + FAR)

    @property
    def holders(self) -> dict[str, int]:
        """Read the holders: token and end of the lease."""
        found = self.redis.zrange(self.key, 0, -1, withscores=True)
        return {token: int(score) for token, score in found}

    @property
    def voided(self) -> set[str]:
        """Read the remembered tokens."""
        return set(self.redis.zrange(self.void, 0, -1))

    def ends(self, key: str | None = None) -> int:
        """Read when a key expires, in server milliseconds."""
        return int(self.redis.pexpiretime(key or self.key))

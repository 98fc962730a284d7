"""A pool to run scripts on, whose clock stands still: what they see and write is exact.

It stands an hour ahead of the server's, so that nothing which a script writes expires meanwhile.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from benni._core.keys import sibling
from benni._core.scripts import parse

AHEAD = 3_600_000
FAR = 60_000


class Pool:
    """One key, and each script as a method. `now` is the time that scripts see."""

    def __init__(self, redis: Any) -> None:
        self.redis = redis
        self.key = "pool:x"
        self.void = sibling(self.key, "void")
        self.now = server_ms(redis) + AHEAD

    def acquire(self, *members: str, limit: int = 2, lease: int = FAR) -> Any:
        """Run `acquire.lua`."""
        return self._run("acquire", [self.key, self.void], limit, lease, *members)

    def extend(self, *members: str, lease: int = FAR, at_least: bool = False) -> Any:
        """Run `extend.lua`."""
        return self._run("extend", [self.key], lease, int(at_least), *members)

    def release(self, *members: str, remember: int = 0) -> Any:
        """Run `release.lua`."""
        return self._run("release", [self.key, self.void], remember, *members)

    def count(self) -> Any:
        """Run `count.lua`."""
        return self._run("count", [self.key])

    def _run(self, name: str, keys: list[str], *args: Any) -> Any:
        return self.redis.eval(self.text(name), len(keys), *keys, *args)

    def text(self, name: str) -> str:
        """Read a script, with the clock of this pool in it."""
        path = files("benni.primitives").joinpath("semaphore", f"{name}.lua")
        clock = f"local function now() return {self.now} end"
        return parse(name, path.read_text("utf-8"), {"now": clock}).text

    def put(self, **ends: int) -> None:
        """Write holders whose leases end in so many milliseconds, or ended so many ago."""
        self.redis.zadd(self.key, {token: self.now + end for token, end in ends.items()})
        self.redis.pexpireat(self.key, self.now + max(ends.values()))

    def put_void(self, **ends: int) -> None:
        """Write remembered tokens in the same way."""
        self.redis.zadd(self.void, {token: self.now + end for token, end in ends.items()})
        self.redis.pexpireat(self.void, self.now + max(ends.values()))

    @property
    def holders(self) -> dict[str, int]:
        """Read how long each holder has, in milliseconds."""
        return self._read(self.key)

    @property
    def voided(self) -> dict[str, int]:
        """Read how long each token is remembered."""
        return self._read(self.void)

    def _read(self, key: str) -> dict[str, int]:
        found = self.redis.zrange(key, 0, -1, withscores=True)
        return {token: int(score) - self.now for token, score in found}

    def expiry(self, key: str | None = None) -> int:
        """Read how long a key lives."""
        return int(self.redis.pexpiretime(key or self.key)) - self.now


def server_ms(redis: Any) -> int:
    """Read the server's clock in milliseconds."""
    seconds, microseconds = redis.time()
    return seconds * 1000 + microseconds // 1000

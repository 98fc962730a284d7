"""The second witness: a process that reads the set of holders, over and over, by server time."""

from __future__ import annotations

import signal
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import redis

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LIVE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZCOUNT', KEYS[1], '(' .. string.format('%.0f', now), '+inf')
"""
PAUSE_SECONDS = 0.0005


@dataclass(frozen=True)
class Watched:
    """What the witness saw."""

    samples: int
    full: int
    """Samples in which the limit was reached."""
    peak: int


def watch(url: str, key: str, limit: int, parent: Connection) -> None:
    """Count live holders until the parent says a word, then tell it what was seen."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    seen: Counter[int] = Counter()
    with redis.Redis.from_url(url) as client:
        live = client.register_script(LIVE)
        while not parent.poll(PAUSE_SECONDS):
            seen[live(keys=[key])] += 1
    parent.send(Watched(seen.total(), seen[limit], max(seen, default=0)))

"""What the processes of the proof have in common."""

from __future__ import annotations

from typing import NamedTuple

from benni.schema import semaphore

LIMIT = 8
LEASE_MS = 1_000
"""Short, and still long enough that a busy machine seldom keeps a worker waiting for all of it."""
ID = "shared"
slots = semaphore("proof", limit=LIMIT, lease_ms=LEASE_MS)

WORKERS = 4
CALLERS = 10
"""Of each worker."""
KILL_SECONDS = 1.0
PAUSE = (0.05, 0.15)
"""Shortest and longest wait of a caller that was refused, in seconds."""

SHORT = (0.0, 0.004)
LONG = (1.2, 2.5)
"""Shortest and longest stay inside, in seconds; all of the long ones outlast a lease."""
SHARE_LONG = 1 / 1_000
SHARE_SHORT = 1 / 10
"""The other bodies leave as soon as they are inside."""


class Place(NamedTuple):
    """Where a worker finds Redis, and the provider's door."""

    redis: str
    door: str

"""The declaring words. Importing this, or a module that uses it, opens nothing.

from benni.schema import semaphore

slots = semaphore("provider", limit=20, lease_ms=60_000)
"""

from benni._core.declaration import Declaration
from benni.primitives.semaphore.schema import SemaphoreSchema, semaphore

__all__ = ["Declaration", "SemaphoreSchema", "semaphore"]

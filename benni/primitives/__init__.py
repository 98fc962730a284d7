"""The client-taking words: for code that has a client and no schema. Same keys, same pool."""

from benni.errors import (
    BenniError,
    LeaseLostError,
    NotAcquiredError,
    ReplyError,
    SemaphoreLeaseLostError,
    SemaphoreNotAcquiredError,
    ValidationError,
)
from benni.primitives._leased.aio import AsyncLease
from benni.primitives._leased.signal import AsyncSignal, Signal, SyncSignal
from benni.primitives._leased.sync import SyncLease
from benni.primitives.semaphore.aio import AsyncSemaphore
from benni.primitives.semaphore.base import Semaphore
from benni.primitives.semaphore.sync import SyncSemaphore

__all__ = [
    "AsyncLease",
    "AsyncSemaphore",
    "AsyncSignal",
    "BenniError",
    "LeaseLostError",
    "NotAcquiredError",
    "ReplyError",
    "Semaphore",
    "SemaphoreLeaseLostError",
    "SemaphoreNotAcquiredError",
    "Signal",
    "SyncLease",
    "SyncSemaphore",
    "SyncSignal",
    "ValidationError",
]

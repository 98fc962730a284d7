"""Limits of a provider that hold across every process that shares one Redis."""

from benni.client import AsyncBenni, Benni, SyncBenni
from benni.errors import (
    BenniError,
    LeaseLostError,
    NotAcquiredError,
    ReplyError,
    SemaphoreLeaseLostError,
    SemaphoreNotAcquiredError,
    ValidationError,
)
from benni.primitives import (
    AsyncLease,
    AsyncSemaphore,
    AsyncSignal,
    Semaphore,
    SyncLease,
    SyncSemaphore,
    SyncSignal,
)

__all__ = [
    "AsyncBenni",
    "AsyncLease",
    "AsyncSemaphore",
    "AsyncSignal",
    "Benni",
    "BenniError",
    "LeaseLostError",
    "NotAcquiredError",
    "ReplyError",
    "Semaphore",
    "SemaphoreLeaseLostError",
    "SemaphoreNotAcquiredError",
    "SyncBenni",
    "SyncLease",
    "SyncSemaphore",
    "SyncSignal",
    "ValidationError",
]

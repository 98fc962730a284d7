"""The handle, its signal and the errors. Checked, never run."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, assert_type

from benni import (
    AsyncSignal,
    BenniError,
    LeaseLostError,
    NotAcquiredError,
    ReplyError,
    SemaphoreLeaseLostError,
    SemaphoreNotAcquiredError,
    SyncSignal,
    ValidationError,
)

if TYPE_CHECKING:
    from benni import AsyncLease, SyncLease


def handle(held: SyncLease) -> None:
    """What a handle has."""
    assert_type(held.key, str)
    assert_type(held.token, str)
    assert_type(held.limit, int)
    assert_type(held.permits, int)
    assert_type(held.signal, SyncSignal)
    assert_type(held.release(), bool)
    assert_type(held.extend(), bool)
    assert_type(held.extend(500), bool)
    assert_type(held.extend(lease_ms=None), bool)
    held.extend("500")  # type: ignore[arg-type]
    held.key = "other"  # type: ignore[misc]
    held.limit = 3  # type: ignore[misc]


async def handle_awaited(held: AsyncLease) -> None:
    """The same, awaited where something is sent."""
    assert_type(held.key, str)
    assert_type(held.signal, AsyncSignal)
    assert_type(await held.release(), bool)
    assert_type(await held.extend(), bool)
    assert_type(await held.extend(lease_ms=500), bool)
    held.release()  # type: ignore[unused-coroutine]


def signal(seen: SyncSignal) -> None:
    """How a body learns of a loss."""
    assert_type(seen.aborted, bool)
    assert_type(seen.reason, LeaseLostError | None)
    seen.throw_if_aborted()
    assert_type(seen.wait(), bool)
    assert_type(seen.wait(1.5), bool)
    assert_type(seen.add_listener(print), Callable[[], None])
    seen.add_listener(lambda: None)
    seen.add_listener(lambda reason: None)
    seen.add_listener(3)  # type: ignore[arg-type]
    seen.aborted = True  # type: ignore[misc]


async def signal_awaited(seen: AsyncSignal) -> None:
    """The same, awaited where it waits."""
    assert_type(seen.aborted, bool)
    assert_type(seen.reason, LeaseLostError | None)
    assert_type(await seen.wait(timeout=1.5), bool)
    assert_type(seen.add_listener(print), Callable[[], None])


def errors() -> None:
    """The tree, and the data that each error carries."""
    root: type[BenniError]
    root = ValidationError
    root = ReplyError
    python: type[ValueError] = ValidationError
    refused: type[NotAcquiredError] = SemaphoreNotAcquiredError
    lost: type[LeaseLostError] = SemaphoreLeaseLostError
    root = refused
    root = lost
    del root, python


def attributes(
    refused: SemaphoreNotAcquiredError, lost: SemaphoreLeaseLostError, reply: ReplyError
) -> None:
    """What a handler can ask of an error."""
    assert_type(refused.key, str)
    assert_type(refused.limit, int)
    assert_type(lost.key, str)
    assert_type(lost.limit, int)
    assert_type(reply.script, str)
    assert_type(reply.reply, object)

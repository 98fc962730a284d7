"""A misspelt option, or one of the wrong type, is an error everywhere. Checked, never run."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benni import AsyncSemaphore, SyncSemaphore


def body() -> None: ...
def on_renew_error(error: BaseException) -> None: ...
def on_two(error: BaseException, more: int) -> None: ...


def accepted(slots: SyncSemaphore, number: int | None) -> None:
    """Every option by its name; None is the default, so that a wrapper can pass it on."""
    slots.acquire("a", permits=2, lease_ms=500, retries=3, retry_delay_ms=50)
    slots.acquire("a", lease_ms=number)
    slots.run("a", body, heartbeat_ms=10, on_renew_error=on_renew_error, on_lost="signal")
    slots.run("a", body, heartbeat_ms=False, on_renew_error=None)
    slots.run("a", body, heartbeat_ms=number, lease_ms=number)
    slots.hold("a", permits=2, heartbeat_ms=10)
    slots.limited("a", permits=2, heartbeat_ms=10)


def misspelt(slots: SyncSemaphore) -> None:
    """No such option."""
    slots.acquire("a", permit=2)  # type: ignore[call-arg]
    slots.run("a", body, retry=2)  # type: ignore[call-overload]
    slots.hold("a", heartbeat=2)  # type: ignore[call-arg]
    slots.limited("a", lease=2)  # type: ignore[call-overload]


def of_another_call(slots: SyncSemaphore) -> None:
    """A handle from `acquire` is not renewed, so there is nothing to set."""
    slots.acquire("a", heartbeat_ms=2)  # type: ignore[call-arg]
    slots.acquire("a", on_lost="signal")  # type: ignore[call-arg]


def of_a_wrong_type(slots: SyncSemaphore) -> None:
    """Each option has its type."""
    slots.acquire("a", permits="2")  # type: ignore[arg-type]
    slots.acquire("a", lease_ms=0.5)  # type: ignore[arg-type]
    slots.hold("a", on_lost="abort")  # type: ignore[arg-type]
    slots.hold("a", heartbeat_ms="10")  # type: ignore[arg-type]
    slots.hold("a", on_renew_error=on_two)  # type: ignore[arg-type]
    slots.hold("a", on_renew_error=3)  # type: ignore[arg-type]
    slots.run("a", body, retries=None)  # type: ignore[call-overload]


def by_position(slots: SyncSemaphore) -> None:
    """Options are named."""
    slots.acquire("a", 2)  # type: ignore[call-arg]
    slots.hold("a", 2)  # type: ignore[call-arg]


async def misspelt_awaited(slots: AsyncSemaphore) -> None:
    """So it is in the other colour."""
    await slots.acquire("a", permit=2)  # type: ignore[call-arg]
    await slots.run("a", body, retry=2)  # type: ignore[call-overload]
    slots.hold("a", heartbeat=2)  # type: ignore[call-arg]
    slots.limited("a", lease=2)  # type: ignore[call-overload]


async def of_a_wrong_type_awaited(slots: AsyncSemaphore) -> None:
    """Here too."""
    await slots.acquire("a", permits="2")  # type: ignore[arg-type]
    slots.hold("a", on_lost="abort")  # type: ignore[arg-type]
    await slots.run("a", body, heartbeat_ms="10")  # type: ignore[call-overload]

"""`run`, `hold` and `acquire`: what a body is given, and what comes back. Checked, never run."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, assert_type

from benni import AsyncLease, SyncLease

if TYPE_CHECKING:
    from benni import AsyncSemaphore, SyncSemaphore


def plain() -> int:
    return 1


def with_sync(held: SyncLease) -> bytes:
    return held.key.encode()


def with_async(held: AsyncLease) -> bytes:
    return held.key.encode()


def three(a: int, b: str, c: bytes) -> float:
    return a + len(b) + len(c) + 0.5


async def coroutine() -> int:
    return 1


async def coroutine_with(held: AsyncLease) -> bytes:
    return held.key.encode()


async def coroutine_three(a: int, b: str, c: bytes) -> float:
    return a + len(b) + len(c) + 0.5


def run(slots: SyncSemaphore) -> None:
    """The type of what the function returns is kept."""
    assert_type(slots.run("a", plain), int)
    assert_type(slots.run(7, with_sync), bytes)
    assert_type(slots.run("a", lambda: "text"), str)
    assert_type(slots.run("a", lambda held: held.permits), int)
    assert_type(slots.run("a", partial(three, 1, "b", b"c")), float)
    assert_type(slots.run("a", with_sync, retries=3, heartbeat_ms=False), bytes)


def run_what_does_not_fit(slots: SyncSemaphore) -> None:
    """A function that needs more, or another handle, is an error."""
    slots.run("a", three)  # type: ignore[arg-type]
    slots.run("a", with_async)  # type: ignore[arg-type]
    slots.run("a", 3)  # type: ignore[call-overload]
    slots.run("a")  # type: ignore[call-overload]
    slots.run(None, plain)  # type: ignore[call-overload]
    slots.run(1.5, plain)  # type: ignore[call-overload]


async def run_awaited(slots: AsyncSemaphore) -> None:
    """An awaitable that the function returns is awaited; anything else is returned as it is."""
    assert_type(await slots.run("a", coroutine), int)
    assert_type(await slots.run("a", coroutine_with), bytes)
    assert_type(await slots.run("a", plain), int)
    assert_type(await slots.run("a", with_async), bytes)
    assert_type(await slots.run("a", lambda: "text"), str)
    assert_type(await slots.run("a", lambda: coroutine_three(1, "b", b"c")), float)
    assert_type(await slots.run("a", lambda held: held.permits), int)
    assert_type(await slots.run("a", partial(three, 1, "b", b"c")), float)
    assert_type(await slots.run("a", partial(coroutine_three, 1, "b", b"c")), float)
    assert_type(await slots.run("a", coroutine_with, on_lost="cancel"), bytes)


async def run_awaited_what_does_not_fit(slots: AsyncSemaphore) -> None:
    """The same errors."""
    await slots.run("a", coroutine_three)  # type: ignore[arg-type]
    await slots.run("a", with_sync)  # type: ignore[arg-type]
    await slots.run("a", coroutine())  # type: ignore[call-overload]
    await slots.run("a")  # type: ignore[call-overload]


def acquire(slots: SyncSemaphore) -> None:
    """There may be no room, and a type checker insists that this is looked at."""
    held = slots.acquire("a")
    assert_type(held, SyncLease | None)
    held.release()  # type: ignore[union-attr]
    if held is not None:
        with held as entered:
            assert_type(entered, SyncLease)
    assert_type(slots.count("a"), int)


async def acquire_awaited(slots: AsyncSemaphore) -> None:
    """So it is when awaited."""
    held = await slots.acquire("a", permits=2)
    assert_type(held, AsyncLease | None)
    await held.release()  # type: ignore[union-attr]
    if held is not None:
        async with held as entered:
            assert_type(entered, AsyncLease)
    assert_type(await slots.count("a"), int)


def hold(slots: SyncSemaphore) -> int:
    """The block is given the handle, and always runs: what follows it need not return."""
    with slots.hold("a", retries=1) as held:
        assert_type(held, SyncLease)
        return held.permits


async def hold_awaited(slots: AsyncSemaphore) -> int:
    """So it is with `async with`."""
    async with slots.hold("a", on_lost="cancel") as held:
        assert_type(held, AsyncLease)
        return held.permits


def hold_the_wrong_way(slots: SyncSemaphore, aio: AsyncSemaphore) -> None:
    """A forgotten `async` is an error."""
    with aio.hold("a"):  # type: ignore[attr-defined]
        pass
    with slots.acquire("a"):  # type: ignore[union-attr]
        pass

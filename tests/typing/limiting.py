"""`limited` keeps the signature of what it decorates. Checked, never run."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_type

if TYPE_CHECKING:
    from benni import AsyncSemaphore, SyncSemaphore


def id_of(model: str, size: int) -> str:
    return model * size


def plain(model: str, size: int) -> bytes:
    return model.encode() * size


def other(model: str, size: str) -> bytes:
    return (model + size).encode()


def named(*, model: str, size: int = 1) -> bytes:
    return model.encode() * size


async def coroutine(model: str, size: int) -> bytes:
    return model.encode() * size


async def coroutine_other(model: str) -> bytes:
    return model.encode()


def blocking(slots: SyncSemaphore) -> None:
    """Arguments and result are those of the function."""
    limited = slots.limited("a", retries=3)(plain)
    assert_type(limited("m", size=1), bytes)
    limited("m")  # type: ignore[call-arg]
    limited("m", "1")  # type: ignore[arg-type]


def with_keywords(slots: SyncSemaphore) -> None:
    """Names, kinds and defaults of parameters are kept."""
    limited = slots.limited(7)(named)
    assert_type(limited(model="m"), bytes)
    limited("m")  # type: ignore[call-arg]
    limited(model="m", sizes=2)  # type: ignore[call-arg]


def with_an_id(slots: SyncSemaphore) -> None:
    """A function that names the id takes what the decorated one takes."""
    limited = slots.limited(id_of)(plain)
    assert_type(limited("m", size=1), bytes)
    limited("m", "1")  # type: ignore[arg-type]
    slots.limited(id_of)(other)  # type: ignore[arg-type]
    slots.limited(id_of)(named)  # type: ignore[arg-type]


async def awaited(slots: AsyncSemaphore) -> None:
    """A decorated coroutine function is one still: its call can be made a task."""
    limited = slots.limited("a", on_lost="cancel")(coroutine)
    assert_type(await limited("m", size=1), bytes)
    assert_type(asyncio.create_task(limited("m", 1)), asyncio.Task[bytes])
    await limited("m")  # type: ignore[call-arg]


async def awaited_with_an_id(slots: AsyncSemaphore) -> None:
    """The id's function is a plain one in this colour too."""
    limited = slots.limited(id_of)(coroutine)
    assert_type(await limited("m", size=1), bytes)
    slots.limited(id_of)(coroutine_other)  # type: ignore[arg-type]
    slots.limited(coroutine)(coroutine)  # type: ignore[arg-type]


def awaited_only(slots: AsyncSemaphore) -> None:
    """A plain function cannot be made one that is awaited."""
    slots.limited("a")(plain)  # type: ignore[arg-type]


async def as_decorators(slots: SyncSemaphore, aio: AsyncSemaphore) -> None:
    """Written above a function or a method, with `self` bound as ever."""

    @slots.limited("a")
    def call(model: str) -> int:
        return len(model)

    assert_type(call("m"), int)

    class Service:
        @slots.limited("a")
        def call(self, model: str) -> int:
            return len(model)

        @aio.limited("a")
        async def call_awaited(self, model: str) -> int:
            return len(model)

    assert_type(Service().call("m"), int)
    assert_type(await Service().call_awaited("m"), int)


def no_ids(slots: SyncSemaphore) -> None:
    """An id is text, a number, or a function that returns one."""
    slots.limited(1.5)  # type: ignore[call-overload]
    slots.limited(lambda: None)  # type: ignore[arg-type, return-value]

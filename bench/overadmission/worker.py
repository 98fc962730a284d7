"""A worker process: callers that take slots, in every way there is, until the door is closed.

Half of the workers are threads and half are tasks. An exception that is none of the outcomes ends
the worker, which counts as a crash.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
import traceback
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.overadmission.desk import AsyncDesk, SyncDesk
from bench.overadmission.settings import (
    CALLERS,
    ID,
    LONG,
    PAUSE,
    SHARE_LONG,
    SHARE_SHORT,
    SHORT,
    slots,
)
from benni import AsyncBenni, SemaphoreLeaseLostError, SemaphoreNotAcquiredError, SyncBenni

if TYPE_CHECKING:
    from bench.overadmission.settings import Place
    from benni import AsyncLease, AsyncSemaphore, SyncLease, SyncSemaphore

NOT_RENEWED = "a handle, which nothing renews, was released after its lease"


@dataclass(frozen=True)
class Turn:
    """How a slot is to be used."""

    by_handle: bool
    """`acquire` and `release`, without renewal, in place of `run`."""
    seconds: float
    outcome: str = "pair"


def deal() -> Turn:
    """Draw a turn. Only `run` renews, so only `run` stays for longer than a lease."""
    dice = random.random()
    if dice < SHARE_LONG:
        return Turn(by_handle=False, seconds=random.uniform(*LONG), outcome="long")
    seconds = random.uniform(*SHORT) if dice < SHARE_SHORT else 0.0
    return Turn(by_handle=random.random() < 0.5, seconds=seconds)


def work(place: Place, *, threads: bool) -> None:
    """Be a worker process. A Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    random.seed()
    if threads:
        _work_in_threads(place)
    else:
        asyncio.run(_work_in_tasks(place))


def _work_in_threads(place: Place) -> None:
    with SyncBenni.from_url(place.redis) as client:
        pool = client[slots]
        callers = [
            threading.Thread(target=_caller_or_crash, args=(pool, place.door))
            for _ in range(CALLERS)
        ]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()


def _caller_or_crash(pool: SyncSemaphore, door: str) -> None:
    try:
        with closing(SyncDesk(door)) as desk:
            _caller(pool, desk)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        os._exit(1)


def _caller(pool: SyncSemaphore, desk: SyncDesk) -> None:
    while desk.open:
        outcome = _turn(pool, desk, deal())
        desk.note(outcome)
        if outcome == "refused":
            time.sleep(random.uniform(*PAUSE))


def _turn(pool: SyncSemaphore, desk: SyncDesk, turn: Turn) -> str:
    def body(held: SyncLease) -> None:
        if desk.enter(held.token):
            if turn.seconds:
                held.signal.wait(turn.seconds)
            desk.leave()

    try:
        if not turn.by_handle:
            pool.run(ID, body)
            return turn.outcome
        held = pool.acquire(ID)
        if held is None:
            return "refused"
        body(held)
        return turn.outcome if held.release() else f"lost {held.token} {NOT_RENEWED}"
    except SemaphoreNotAcquiredError:
        return "refused"
    except SemaphoreLeaseLostError as loss:
        return f"lost {desk.token} {loss}"


async def _work_in_tasks(place: Place) -> None:
    async with AsyncBenni.from_url(place.redis) as client, asyncio.TaskGroup() as callers:
        for _ in range(CALLERS):
            callers.create_task(_async_caller_at(place.door, client[slots]))


async def _async_caller_at(door: str, pool: AsyncSemaphore) -> None:
    with closing(await AsyncDesk.at(door)) as desk:
        await _async_caller(pool, desk)


async def _async_caller(pool: AsyncSemaphore, desk: AsyncDesk) -> None:
    while desk.open:
        outcome = await _async_turn(pool, desk, deal())
        desk.note(outcome)
        if outcome == "refused":
            await asyncio.sleep(random.uniform(*PAUSE))


async def _async_turn(pool: AsyncSemaphore, desk: AsyncDesk, turn: Turn) -> str:
    async def body(held: AsyncLease) -> None:
        if await desk.enter(held.token):
            if turn.seconds:
                await held.signal.wait(turn.seconds)
            await desk.leave()

    try:
        if not turn.by_handle:
            await pool.run(ID, body)
            return turn.outcome
        held = await pool.acquire(ID)
        if held is None:
            return "refused"
        await body(held)
        return turn.outcome if await held.release() else f"lost {held.token} {NOT_RENEWED}"
    except SemaphoreNotAcquiredError:
        return "refused"
    except SemaphoreLeaseLostError as loss:
        return f"lost {desk.token} {loss}"

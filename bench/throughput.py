"""`throughput`: many callers on one client, benni against redis-py's own script objects.

A ratio above 1 says that benni is the faster one.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import TYPE_CHECKING

import redis
import redis.asyncio

from bench.report import Report
from bench.rounds import Compared, compare
from bench.wire import ID, LIMIT, PREFIX, Pair, overhear
from benni import Semaphore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bench.report import Row
    from bench.rounds import Side
    from bench.stage import Stage

TASKS = (1, 20, 100)
THREADS = (1, 8, 20)
BATCH = 1_000
"""Pairs that all callers of a side make together in a round."""
ROUNDS = 11
"""More is not needed where nothing depends on a few per cent."""


def throughput(stage: Stage) -> Report:
    """Compare acquire and release through a handle with the same scripts, registered by hand."""
    url = stage.engines[0].url
    pair, rounds = overhear(url), min(ROUNDS, stage.rounds)
    rows = [_row(n, "tasks", _tasks(url, pair, n, rounds)) for n in TASKS]
    rows += [_row(n, "threads", _threads(url, pair, n, rounds)) for n in THREADS]
    return Report(f"acquire and release, {stage.engines[0].name}, one key, no refusals", rows)


def _row(callers: int, kind: str, times: Compared) -> Row:
    return {
        "callers": f"{callers} {kind}",
        "benni pairs/s": BATCH / median(times.second),
        "redis-py pairs/s": BATCH / median(times.first),
        "ratio": times.ratio,
        "quartiles": times.spread,
    }


def _tasks(url: str, pair: Pair, callers: int, rounds: int) -> Compared:
    with asyncio.Runner() as runner:
        client = redis.asyncio.Redis.from_url(url)
        slots = Semaphore(client=client, prefix=PREFIX, limit=LIMIT)
        acquire, release = map(client.register_script, (pair.acquire.text, pair.release.text))

        async def ours() -> None:
            held = await slots.acquire(ID)
            assert held is not None
            await held.release()

        async def theirs(token: str) -> None:
            await acquire(pair.acquire.keys, pair.acquire.args_for(token))
            await release(pair.release.keys, pair.release.args_for(token))

        def all_of(each: Callable[[str], Awaitable[None]]) -> Side:
            return lambda: runner.run(_side_by_side(each, callers))

        try:
            return compare(all_of(theirs), all_of(lambda _: ours()), rounds)
        finally:
            runner.run(client.aclose())


async def _side_by_side(each: Callable[[str], Awaitable[None]], callers: int) -> None:
    async def caller(n: int) -> None:
        for _ in range(BATCH // callers):
            await each(f"token{n}")

    await asyncio.gather(*map(caller, range(callers)))


def _threads(url: str, pair: Pair, callers: int, rounds: int) -> Compared:
    with redis.Redis.from_url(url) as client, ThreadPoolExecutor(callers) as pool:
        slots = Semaphore(client=client, prefix=PREFIX, limit=LIMIT)
        acquire, release = map(client.register_script, (pair.acquire.text, pair.release.text))

        def ours() -> None:
            held = slots.acquire(ID)
            assert held is not None
            held.release()

        def theirs(token: str) -> None:
            acquire(pair.acquire.keys, pair.acquire.args_for(token))
            release(pair.release.keys, pair.release.args_for(token))

        def all_of(each: Callable[[str], None]) -> Side:
            def caller(n: int) -> None:
                for _ in range(BATCH // callers):
                    each(f"token{n}")

            return lambda: list(pool.map(caller, range(callers)))

        return compare(all_of(theirs), all_of(lambda _: ours()), rounds)

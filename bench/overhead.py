"""`overhead`: `run` with an empty body against the same two EVALSHA, sent by hand."""

from __future__ import annotations

import asyncio
from statistics import median
from typing import TYPE_CHECKING, Any

import redis
import redis.asyncio

from bench.report import Report, Verdict
from bench.rounds import Compared, compare
from bench.wire import ID, LIMIT, PREFIX, Pair, overhear
from benni import Semaphore

if TYPE_CHECKING:
    from bench.report import Row
    from bench.stage import Stage

TARGET = 1.25
BATCH = 25
"""Pairs that each side makes in its turn: a few milliseconds, so that both meet the same noise."""
TURNS = 16
"""In a round."""


def overhead(stage: Stage) -> Report:
    """Compare both colours with their bare client; one caller, one connection."""
    url = stage.engines[0].url
    pair = overhear(url)
    compared = {colour: side(url, pair, stage.rounds * TURNS) for colour, side in _SIDES.items()}
    return Report(
        f"run with an empty body against two bare EVALSHA, {stage.engines[0].name}, one caller",
        [_row(colour, times) for colour, times in compared.items()],
        [Verdict(f"{colour} overhead ratio", c.ratio, TARGET) for colour, c in compared.items()],
    )


def _row(colour: str, times: Compared) -> Row:
    return {
        "colour": colour,
        "benni pairs/s": BATCH / median(times.first),
        "bare pairs/s": BATCH / median(times.second),
        "benni us/pair": median(times.first) / BATCH * 1e6,
        "bare us/pair": median(times.second) / BATCH * 1e6,
        "ratio": times.ratio,
        "quartiles": times.spread,
    }


def _sync(url: str, pair: Pair, rounds: int) -> Compared:
    with redis.Redis.from_url(url) as client:
        slots = Semaphore(client=client, prefix=PREFIX, limit=LIMIT)
        first, second = _words(pair)

        def ours() -> None:
            for _ in range(BATCH):
                slots.run(ID, _nothing)

        def theirs() -> None:
            for _ in range(BATCH):
                client.evalsha(*first)
                client.evalsha(*second)

        return compare(ours, theirs, rounds)


def _async(url: str, pair: Pair, rounds: int) -> Compared:
    with asyncio.Runner() as runner:
        client = redis.asyncio.Redis.from_url(url)
        slots = Semaphore(client=client, prefix=PREFIX, limit=LIMIT)
        first, second = _words(pair)

        async def ours() -> None:
            for _ in range(BATCH):
                await slots.run(ID, _nothing_async)

        async def theirs() -> None:
            for _ in range(BATCH):
                await client.evalsha(*first)
                await client.evalsha(*second)

        try:
            return compare(lambda: runner.run(ours()), lambda: runner.run(theirs()), rounds)
        finally:
            runner.run(client.aclose())


def _words(pair: Pair) -> list[Any]:
    return [
        (each.sha, len(each.keys), *each.keys, *each.args) for each in (pair.acquire, pair.release)
    ]


def _nothing() -> None:
    """Be an empty body."""


async def _nothing_async() -> None:
    """Be an empty body."""


_SIDES = {"sync": _sync, "async": _async}

"""One proof: a provider, four workers, a witness, and a look at what is left afterwards."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.overadmission.crew import Crew, fork
from bench.overadmission.ledger import Ledger
from bench.overadmission.monitor import Watched, watch
from bench.overadmission.provider import provider
from bench.overadmission.settings import ID, LEASE_MS, LIMIT, Place, slots
from benni import AsyncBenni

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from bench.servers import Engine

LEAST_PAIRS_PER_SECOND = 400
"""Below this rate the proof gives up, so that it ends on any machine."""
START_SECONDS = 30
LOOK_SECONDS = 0.1


@dataclass
class Trial:
    """What was seen on one server."""

    engine: Engine
    ledger: Ledger
    seconds: float = 0
    kills: int = 0
    crashes: int = 0
    watched: Watched = field(default_factory=lambda: Watched(0, 0, 0))
    stuck: set[str] = field(default_factory=set)
    """Tokens of killed workers that were still held when a lease had passed."""
    missing: int = 0
    """Slots that could not be taken when all workers had gone."""
    notes: list[str] = field(default_factory=list)


async def prove(engine: Engine, pairs: int) -> Trial:
    """Have `pairs` slots taken and released, and count who was inside."""
    trial = Trial(engine, Ledger(LIMIT, pairs))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Place(engine.url, str(Path(folder, "door")))
        async with provider(trial.ledger, place.door), _witness(trial):
            await _run(trial, place)
    await _look_back(trial)
    trial.notes += _evidence(trial)
    return trial


def _evidence(trial: Trial) -> Iterator[str]:
    """Tell what is worth a look: each loss, and each moment with too many inside."""
    for token, why in trial.ledger.lost.items():
        yield f"{trial.engine.name}: {token} lost: {why}"
    for tokens in trial.ledger.unexplained:
        yield f"{trial.engine.name}: {len(tokens)} were inside at once: {sorted(tokens)}"


async def _run(trial: Trial, place: Place) -> None:
    crew = Crew(place)
    killing = asyncio.create_task(crew.keep_killing())
    started = time.monotonic()
    try:
        await _done(trial.ledger, crew)
        trial.seconds = time.monotonic() - started
        killing.cancel()
        await crew.join()
    finally:
        killing.cancel()
        crew.end()
    trial.kills, trial.crashes = crew.kills, crew.crashes


async def _done(ledger: Ledger, crew: Crew) -> None:
    """Wait until the pairs are complete; then close the door. A crash or lack of speed ends it."""
    until = time.monotonic() + START_SECONDS + ledger.wanted / LEAST_PAIRS_PER_SECOND
    while ledger.pairs < ledger.wanted and not crew.crashes and time.monotonic() < until:
        await asyncio.sleep(LOOK_SECONDS)
    ledger.closed = True


@asynccontextmanager
async def _witness(trial: Trial) -> AsyncIterator[None]:
    ours, its = fork.Pipe()
    key = f"{slots.prefix}:{ID}"
    process = fork.Process(target=watch, args=(trial.engine.url, key, LIMIT, its), daemon=True)
    process.start()
    its.close()
    try:
        yield
        ours.send("enough")
        trial.watched = await asyncio.to_thread(ours.recv)
    finally:
        process.kill()
        process.join()


async def _look_back(trial: Trial) -> None:
    """When the last lease has run out, nobody must hold a slot and every slot must be free."""
    await asyncio.sleep(LEASE_MS / 1000 + LOOK_SECONDS)
    async with AsyncBenni.from_url(trial.engine.url) as client:
        pool = client[slots]
        trial.stuck = await _live(client, pool.key(ID)) & set(trial.ledger.orphans)
        held = [await pool.acquire(ID) for _ in range(LIMIT)]
        trial.missing = held.count(None)
        for each in held:
            if each is not None:
                await each.release()


async def _live(client: AsyncBenni, key: str) -> set[str]:
    seconds, micros = await client.client.time()
    now = seconds * 1000 + micros // 1000
    return {token.decode() for token in await client.client.zrangebyscore(key, f"({now}", "+inf")}

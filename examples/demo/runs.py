"""One run: four workers against the provider, watched from outside."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from examples.demo.children import Child, child
from examples.demo.ledger import History, Stats
from examples.demo.settings import PROVIDER, WORKERS

if TYPE_CHECKING:
    import httpx

    from benni import AsyncBenni
    from examples.demo.children import Event
    from examples.demo.progress import Screen

LOOK_SECONDS = 0.02
SHOW_SECONDS = 0.2


@dataclass(frozen=True)
class Stage:
    """What both runs use: the provider, the slots, and where to show progress."""

    http: httpx.AsyncClient
    client: AsyncBenni
    screen: Screen
    seconds: float


@dataclass(frozen=True)
class Kill:
    """When a worker was killed, the slots that it held, and when the last was free again."""

    at: float
    slots: int
    back_ms: int


@dataclass
class Run:
    """What was seen of a run. Times are in seconds from its start."""

    title: str
    shared: bool
    started: float = 0
    wall: float = 0
    stats: Stats = field(default_factory=Stats)
    history: History = field(default_factory=History)
    outcomes: Counter[str] = field(default_factory=Counter)
    slots: list[tuple[float, int]] = field(default_factory=list)
    kill: Kill | None = None

    def clock(self) -> float:
        """Tell the time since the start."""
        return time.monotonic() - self.started


class Worker:
    """A worker process, with the tokens of every slot that it said it had."""

    def __init__(self, run: Run) -> None:
        self.tokens: set[str] = set()
        self._outcomes = run.outcomes
        self.process: Child

    def note(self, event: Event) -> None:
        """Keep what it says."""
        if event["event"] == "held":
            self.tokens.add(event["token"])
        else:
            self._outcomes[event["event"]] += 1


async def drive(stage: Stage, run: Run) -> Run:
    """Start the workers, watch them to their end, and read the provider's books."""
    await stage.http.post("/reset")
    async with AsyncExitStack() as stack:
        workers = [await _start(stack, stage, run) for _ in range(WORKERS)]
        await asyncio.gather(*(worker.process.ready() for worker in workers))
        run.started = time.monotonic()
        for worker in workers:
            worker.process.go()
        await _watch(stage, run, workers)
        run.wall = run.clock()
    run.stats = await stats(stage.http)
    run.history = await _history(stage.http, run.started)
    stage.screen.show(run)
    return run


async def _start(stack: AsyncExitStack, stage: Stage, run: Run) -> Worker:
    options = ["--provider", str(stage.http.base_url), "--redis", stage.client.url]
    options += ["--seconds", str(stage.seconds), *(["--shared"] if run.shared else [])]
    worker = Worker(run)
    started = child("examples.demo.worker", *options, on_event=worker.note)
    worker.process = await stack.enter_async_context(started)
    return worker


async def _watch(stage: Stage, run: Run, workers: list[Worker]) -> None:
    async with asyncio.TaskGroup() as group:
        watching = [group.create_task(_show(stage, run))]
        if run.shared:
            watching.append(group.create_task(_count(stage, run)))
            group.create_task(_kill_one(stage, run, workers))
        await asyncio.gather(*(worker.process.done() for worker in workers))
        for task in watching:
            task.cancel()


async def _show(stage: Stage, run: Run) -> None:
    while True:
        run.stats = await stats(stage.http)
        stage.screen.show(run)
        await asyncio.sleep(SHOW_SECONDS)


async def _count(stage: Stage, run: Run) -> None:
    while True:
        held = await stage.client.query.slots.count(PROVIDER)
        run.slots.append((run.clock(), held))
        await asyncio.sleep(LOOK_SECONDS)


async def _kill_one(stage: Stage, run: Run, workers: list[Worker]) -> None:
    """Halfway, kill the worker that holds the most slots, and see when they are free again."""
    await asyncio.sleep(stage.seconds / 2)
    holders = await _holders(stage)
    victim = max(workers, key=lambda worker: len(worker.tokens & holders.keys()))
    at, now = run.clock(), await _now(stage)
    await victim.process.kill()
    orphans = {t: end for t, end in (await _holders(stage)).items() if t in victim.tokens}
    stage.screen.say(f"killed worker {victim.process.pid}, which held {len(orphans)} slots")
    while orphans.keys() & (await _holders(stage)).keys():
        await asyncio.sleep(LOOK_SECONDS)
    run.kill = Kill(at, len(orphans), max(orphans.values(), default=now) - now)
    stage.screen.say(f"its slots were free again {run.kill.back_ms} ms after the kill")


async def _holders(stage: Stage) -> dict[str, int]:
    """Read the tokens of the live holders and the ends of their leases, as Redis has them."""
    pool, alive = stage.client.query.slots.key(PROVIDER), f"({await _now(stage)}"
    members = await stage.client.client.zrangebyscore(pool, alive, "+inf", withscores=True)
    return {token.decode(): int(end) for token, end in members}


async def _now(stage: Stage) -> int:
    """Read the server's clock, which is the one that leases go by, in milliseconds."""
    seconds, micros = await stage.client.client.time()
    return int(seconds) * 1000 + int(micros) // 1000


async def stats(http: httpx.AsyncClient) -> Stats:
    """Ask the provider for its counts."""
    return Stats(**(await http.get("/stats")).json())


async def _history(http: httpx.AsyncClient, started: float) -> History:
    """Ask the provider for all it saw, on the run's own clock."""
    seen = (await http.get("/history")).json()
    return History(
        in_flight=[(at - started, value) for at, value in seen["in_flight"]],
        refusals=[at - started for at in seen["refusals"]],
    )

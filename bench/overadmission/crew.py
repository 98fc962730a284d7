"""The workers as the parent sees them: started, killed by their ids, replaced, and joined."""

from __future__ import annotations

import asyncio
from multiprocessing import get_context
from typing import TYPE_CHECKING

from bench.overadmission.settings import KILL_SECONDS, WORKERS
from bench.overadmission.worker import work

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from bench.overadmission.settings import Place

PATIENCE_SECONDS = 10
fork = get_context("forkserver")
"""A server that has imported all of this forks a new worker in milliseconds."""
fork.set_forkserver_preload(["bench.overadmission.worker", "bench.overadmission.monitor"])


class Crew:
    """Always `WORKERS` processes; every other one made of threads."""

    def __init__(self, place: Place) -> None:
        self.kills = 0
        self.crashes = 0
        self._place = place
        self._workers = [self._start(n) for n in range(WORKERS)]

    def _start(self, n: int) -> BaseProcess:
        worker = fork.Process(
            target=work, args=(self._place,), kwargs={"threads": n % 2 == 0}, daemon=True
        )
        worker.start()
        return worker

    async def keep_killing(self) -> None:
        """Kill one after the other, and have the next in its place at once."""
        while True:
            for n, worker in enumerate(self._workers):
                await asyncio.sleep(KILL_SECONDS)
                self.kills += self._kill(worker)
                self._workers[n] = self._start(n)

    def _kill(self, worker: BaseProcess) -> bool:
        """End it with SIGKILL; false if it had ended by itself, which it should not."""
        alive = worker.is_alive()
        self.crashes += not alive
        worker.kill()
        worker.join()
        return alive

    async def join(self) -> None:
        """Wait for the workers to find the door closed."""
        for worker in self._workers:
            await asyncio.to_thread(worker.join, PATIENCE_SECONDS)
            self.crashes += worker.exitcode != 0

    def end(self) -> None:
        """End what is left."""
        for worker in self._workers:
            if worker.is_alive():
                worker.kill()
            worker.join()

"""A batch of blocking calls in 20 threads, of which 5 at a time are let through.

    python examples/batch_threads.py [redis://...]

A batch would rather wait a little than fail: each call tries again every 20 ms, and gives up after
ten seconds. Whether the limit held is measured by a gauge of its own, which knows nothing of benni.
"""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benni import SemaphoreNotAcquiredError, SyncBenni
from benni.schema import semaphore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

URL = sys.argv[1] if len(sys.argv) > 1 else "embedded://"
THREADS = 20
DOCUMENTS = 60

slots = semaphore("provider", limit=5, lease_ms=10_000)


class Gauge:
    """Counts who is inside, and remembers the most there ever were."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self.peak = 0

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Be inside for a while."""
        with self._lock:
            self._inside += 1
            self.peak = max(self.peak, self._inside)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1


def translator(client: SyncBenni, gauge: Gauge) -> Callable[[int], str]:
    """Make the function that each thread runs."""

    @client[slots].limited("openai", retries=500, retry_delay_ms=20)
    def translate(document: int) -> str:
        with gauge.passing():
            time.sleep(0.05)  # the provider works
            return f"document {document}, translated"

    return translate


def main() -> None:
    """Run the batch and tell how it went."""
    gauge = Gauge()
    done, given_up = 0, 0
    with (
        SyncBenni.from_url(URL, schema={"slots": slots}) as client,
        ThreadPoolExecutor(THREADS) as threads,
    ):
        translate = translator(client, gauge)
        for job in [threads.submit(translate, number) for number in range(DOCUMENTS)]:
            try:
                job.result()
                done += 1
            except SemaphoreNotAcquiredError:
                given_up += 1
    print(f"{done} documents done by {THREADS} threads, {given_up} given up")
    print(f"peak: {gauge.peak} at once, limit: {slots.limit}")


if __name__ == "__main__":
    main()

"""The keeper: one daemon thread for each client that looks after what is held through it.

It renews the leases of running bodies, notices when one has lapsed, and gives back slots whose
owner could not. It starts with the first such task and sleeps until one is due, so entering and
leaving a short body touches a heap and nothing else. It depends on no event loop of the user's,
and on no other client's server.
"""

from __future__ import annotations

import atexit
import heapq
import logging
import sys
import threading
import weakref
from itertools import count
from typing import TYPE_CHECKING, Final

from benni._core.effects import Reply
from benni._core.lease import flag
from benni._io.clients import is_answer
from benni._io.process import monotonic, process
from benni._io.tasks import Kept, Return, Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from benni._core.effects import Call
    from benni._io.links import Links, Outcome

log = logging.getLogger("benni")

IDLE: Final = 30.0
"""Seconds without a task after which the thread ends and its connection is closed."""
TOGETHER: Final = 0.01
"""Seconds by which a task may be done early to share a round trip."""
PATIENCE: Final = 5.0
"""Seconds that the longest wait for an answer takes, however long the leases are."""
COMPACT: Final = 64
"""Entries that have been left before the heap is cleared of them."""


class Keeper:
    """Looks after the leases that are held through one client."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._numbers = count()
        self._reset()
        process.forkables.add(self)
        _keepers.add(self)

    def _reset(self) -> None:
        # Entering and leaving may happen in a signal handler or a finaliser that interrupts this
        # very thread, hence a lock that its owner can take again.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._heap: list[tuple[float, int, Watch | Return]] = []
        self._left = 0
        self._shortest: dict[float, int] = {}
        self._thread: threading.Thread | None = None
        self._wakes_at = 0.0
        self._stopping = False
        self._exiting = False

    def after_fork(self) -> None:
        """Forget everything: what was held belongs to the parent."""
        self._links.abandon()
        self._reset()

    def watch(self, kept: Kept, heartbeat: float) -> Watch:
        """Renew the lease of `kept` every `heartbeat` seconds from now on."""
        watch = Watch(kept, heartbeat)
        with self._lock:
            self._shortest[watch.duration] = self._shortest.get(watch.duration, 0) + 1
            self._add(watch)
        return watch

    def hasten(self, watch: Watch, due: float) -> None:
        """Renew it at `due`, if that is before its turn."""
        with self._lock:
            if watch.live and due < watch.due:
                watch.due = due
                self._left += 1
                self._add(watch)

    def forget(self, watch: Watch) -> None:
        """Renew it no more."""
        with self._lock:
            if not watch.live:
                return
            watch.live = False
            self._discount(watch)
            self._left += 1
            if self._left > COMPACT and self._left * 2 > len(self._heap):
                self._heap = [entry for entry in self._heap if entry[2].live]
                heapq.heapify(self._heap)
                self._left = 0

    def give_back(self, call: Call, within: float) -> Future[None]:
        """Make `call` until the server has answered or `within` seconds have passed."""
        task = Return(call, within)
        with self._lock:
            self._add(task)
        return task.done

    def stop(self, *, exiting: bool = False) -> threading.Thread | None:
        """Let the thread end after one more try at what is due; return it if it will end now.

        While bodies run it goes on looking after them, unless the interpreter is `exiting`.
        """
        with self._lock:
            self._stopping = True
            self._exiting = exiting
            self._changed.notify()
            return self._thread if exiting or not self._shortest else None

    def _add(self, task: Watch | Return) -> None:
        if sys.is_finalizing():  # no thread can start any more; what is held lapses
            if isinstance(task, Return):
                task.done.set_result(None)
            return
        heapq.heappush(self._heap, (task.due, next(self._numbers), task))
        self._stopping = False
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="benni-keeper", daemon=True)
            try:
                self._thread.start()
            except BaseException:
                self._thread = None
                raise
        elif task.due < self._wakes_at:
            self._changed.notify()

    def _discount(self, watch: Watch) -> None:
        self._shortest[watch.duration] -= 1
        if not self._shortest[watch.duration]:
            del self._shortest[watch.duration]

    # What follows runs in the thread.

    def _keep(self) -> None:
        while (tasks := self._wait()) is not None:
            self._tend(tasks)
            del tasks  # or the last ones would live for as long as the thread sleeps

    def _wait(self) -> list[Watch | Return] | None:
        """Sleep until something is due and take it; None when the thread is to end."""
        with self._lock:
            while True:
                now = monotonic()
                if due := self._take_due(now):
                    return due
                if not self._stopping or (self._shortest and not self._exiting):
                    self._wakes_at = self._heap[0][0] if self._heap else now + IDLE
                    if self._changed.wait(self._wakes_at - now) or self._heap:
                        continue
                try:
                    self._links.close()
                except Exception:
                    log.exception("the keeper could not close its connections")
                self._thread = None
                return None

    def _take_due(self, now: float) -> list[Watch | Return]:
        due: list[Watch | Return] = []
        if not self._heap or self._heap[0][0] > now:
            return due
        while self._heap and self._heap[0][0] <= now + TOGETHER:
            at, _, task = heapq.heappop(self._heap)
            if task.live and at == task.due:  # else it was left, or hastened
                due.append(task)
            else:
                self._left -= 1
        return due

    def _tend(self, tasks: list[Watch | Return]) -> None:
        now = monotonic()
        calls: list[Call] = []
        todo: list[tuple[Watch | Return, Kept | None]] = []
        ends = [now + PATIENCE]
        for task in tasks:
            if isinstance(task, Return):
                todo.append((task, None))
                calls.append(task.call)
            elif (kept := self._still_kept(task, now)) is not None:
                lease = kept.lease
                todo.append((task, kept))
                calls.append(lease.kind.extend(lease, lease.duration_ms, at_least=True))
                ends.append(lease.deadline)
        if not calls:
            return
        outcomes = self._exchange(calls, self._patience(min(ends) - now))
        for (task, kept), outcome in zip(todo, outcomes, strict=True):
            if isinstance(task, Return):
                self._returned(task, outcome)
            elif kept is not None:
                self._renewed(task, kept, now, outcome)

    def _exchange(self, calls: list[Call], patience: float) -> list[Outcome]:
        try:
            return self._links.exchange(calls, patience)
        except Exception as error:
            log.exception("the keeper could not talk to the server")
            return [error] * len(calls)

    def _still_kept(self, watch: Watch, now: float) -> Kept | None:
        """Return the body of a watch, unless there is nothing left to renew for it."""
        kept = watch.kept()
        if kept is None or not kept.can_end():
            self._end(watch)
            return None
        if kept.lease.lapsed(now):
            self._end(watch)
            _tell(kept.lost)
            return None
        return kept

    def _patience(self, left: float) -> float:
        """Bound the wait so that one stuck answer loses nobody: not these, and not the rest."""
        with self._lock:
            shortest = min(self._shortest, default=PATIENCE)
        return max(0.001, min(shortest / 3, left))

    def _renewed(self, watch: Watch, kept: Kept, sent: float, outcome: Outcome) -> None:
        if not watch.live:
            return
        lease = kept.lease
        error = outcome if isinstance(outcome, Exception) else None
        if error is None:
            try:
                held = flag("extend", Reply(outcome, resent=False))
            except Exception as unexpected:  # noqa: BLE001
                error = unexpected
            else:
                if lease.renewed(sent, held):
                    self._end(watch)
                    _tell(kept.lost)
                    return
        if error is not None:
            log.debug("could not renew %s: %s", lease.key, type(error).__name__)
            _tell(kept.renewal_failed, error)
        self._again(watch, min(max(watch.due + watch.heartbeat, monotonic()), lease.deadline))

    def _returned(self, task: Return, outcome: Outcome) -> None:
        again = monotonic() + task.pause
        if isinstance(outcome, Exception) and not is_answer(outcome) and again < task.end:
            task.pause = min(task.pause * 2, 1.0)
            self._again(task, again)
        else:
            task.done.set_result(None)

    def _again(self, task: Watch | Return, due: float) -> None:
        with self._lock:
            if task.live:
                task.due = due
                heapq.heappush(self._heap, (due, next(self._numbers), task))

    def _end(self, watch: Watch) -> None:
        with self._lock:
            if watch.live:
                watch.live = False
                self._discount(watch)


def _tell(tell: Callable[..., object], *args: object) -> None:
    """Run code of the user's, which must not end the thread whatever it raises."""
    try:
        tell(*args)
    except BaseException:
        log.exception("a callback failed")


_keepers: weakref.WeakSet[Keeper] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Give back what can be given back, and close connections, before the interpreter ends."""
    threads = [keeper.stop(exiting=True) for keeper in list(_keepers)]
    for thread in threads:
        if thread is not None:
            thread.join(1.0)

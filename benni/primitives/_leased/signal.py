"""`held.signal`: how a body learns, from any thread, that its lease is lost."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from typing import TYPE_CHECKING, cast

from benni._core.body import takes_argument
from benni._io.aio import call_in
from benni._io.process import process

if TYPE_CHECKING:
    from collections.abc import Callable

    from benni._core.lease import Lease
    from benni.errors import LeaseLostError

log = logging.getLogger("benni")


class Signal:
    """Aborts, once and for good, at the moment at which the loss of a lease is known.

    Every method may be called from any thread. After the body has ended normally it never aborts.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._listeners: dict[object, Callable[[], object]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'aborted' if self.aborted else 'quiet'}>"

    @property
    def aborted(self) -> bool:
        """Whether the lease is known to be lost."""
        return self._lease.loss is not None

    @property
    def reason(self) -> LeaseLostError | None:
        """The error that says so, or None. It is what `run` raises."""
        return self._lease.loss

    def throw_if_aborted(self) -> None:
        """Raise `reason` if the lease is lost."""
        if self._lease.loss is not None:
            raise self._lease.loss

    def add_listener(
        self, fn: Callable[[LeaseLostError], object] | Callable[[], object]
    ) -> Callable[[], None]:
        """Have `fn` called once when the lease is lost, at once if it is already.

        `fn` is given the reason if it has one required parameter. It should be quick, and what it
        raises is logged and dropped. With a blocking client it runs in the thread that found out;
        with an asyncio client in the event loop that took the lease. Returns a function that
        removes it.
        """
        listener = cast("Callable[..., object]", fn)
        wants_reason = takes_argument("signal", "listener", listener, "the reason")

        def call() -> None:
            try:
                listener(self.reason) if wants_reason else listener()
            except Exception:
                log.exception("a listener of the signal of %s failed", self._lease.key)

        return self._subscribe(lambda: self._deliver(call))

    def _subscribe(self, tell: Callable[[], object]) -> Callable[[], None]:
        """Have `tell` called once, in whatever thread finds out."""
        ticket = object()
        with process.lock:
            late = self.aborted
            if not late:
                self._listeners[ticket] = tell
        if late:
            tell()
        return lambda: self._unsubscribe(ticket)

    def _unsubscribe(self, ticket: object) -> None:
        self._listeners.pop(ticket, None)

    def _deliver(self, call: Callable[[], object]) -> None:
        call()


def announce(signal: Signal) -> None:
    """Tell every listener that the lease is lost; whoever sees the loss first does."""
    with process.lock:
        listeners, signal._listeners = list(signal._listeners.values()), {}
    failure: BaseException | None = None
    for tell in listeners:
        try:
            tell()
        except BaseException as error:  # noqa: BLE001
            failure = error  # the others, a `wait` among them, have to know all the same
    if failure is not None:
        raise failure


class SyncSignal(Signal):
    """The signal of a lease that is held through a blocking client."""

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the lease is lost, `timeout` seconds at the most; say whether it is."""
        known = threading.Event()
        unsubscribe = self._subscribe(known.set)
        try:
            known.wait(timeout)
        finally:
            unsubscribe()
        return self.aborted


class AsyncSignal(Signal):
    """The signal of a lease that is held through an asyncio client."""

    def __init__(self, lease: Lease, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(lease)
        self._loop = loop

    async def wait(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109
        """Wait until the lease is lost, `timeout` seconds at the most; say whether it is."""
        loop = asyncio.get_running_loop()
        known = asyncio.Event()
        unsubscribe = self._subscribe(lambda: call_in(loop, known.set))
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await known.wait()
        finally:
            unsubscribe()
        return self.aborted

    def _deliver(self, call: Callable[[], object]) -> None:
        call_in(self._loop, call)

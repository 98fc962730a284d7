"""What the keeper knows of a body whose lease it renews.

The handle keeps it alive and the keeper does not, so the lease of a handle that nobody has any
more is not renewed for ever.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from benni._io.aio import call_in
from benni._io.process import monotonic
from benni.primitives._leased.signal import announce

if TYPE_CHECKING:
    import asyncio

    from benni._core.lease import Lease
    from benni._core.options import OnRenewError
    from benni._io.keeper import Keeper
    from benni.primitives._leased.signal import Signal

log = logging.getLogger("benni")


class Upkeep:
    """Renews a lease from `start` to `stop`, and tells the body what happens to it."""

    def __init__(
        self, keeper: Keeper, lease: Lease, signal: Signal, on_renew_error: OnRenewError | None
    ) -> None:
        self.lease = lease
        self._keeper = keeper
        self._signal = signal
        self._on_renew_error = on_renew_error
        self._telling = threading.RLock()

    def start(self, heartbeat: float) -> None:
        """Renew every `heartbeat` seconds."""
        self.lease.watched = True
        self._watch = self._keeper.watch(self, heartbeat)

    def hasten(self) -> None:
        """Renew early enough for a lease that its holder has made shorter."""
        left = self.lease.deadline - monotonic()
        self._keeper.hasten(self._watch, self.lease.deadline - left * 3 / 4)

    def stop(self) -> None:
        """Renew no more. When this returns, `on_renew_error` is not running, nor will it."""
        self._keeper.forget(self._watch)
        if self._on_renew_error is not None:
            with self._telling:
                self._on_renew_error = None

    def can_end(self) -> bool:
        """Whether the body can come to an end. A thread always can."""
        return True

    def renewal_failed(self, error: Exception) -> None:
        """Pass on the error of a round trip."""
        with self._telling:
            if self._on_renew_error is not None:
                try:
                    self._on_renew_error(error)
                except Exception:
                    log.debug("on_renew_error failed for %s", self.lease.key, exc_info=True)

    def lost(self) -> None:
        """Pass on that `lease.loss` is set."""
        announce(self._signal)


class AsyncUpkeep(Upkeep):
    """The upkeep of a body in an event loop: it is told things in that loop's thread."""

    def __init__(
        self,
        keeper: Keeper,
        lease: Lease,
        signal: Signal,
        on_renew_error: OnRenewError | None,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        super().__init__(keeper, lease, signal, on_renew_error)
        self._loop = loop

    def can_end(self) -> bool:
        """Whether the body can come to an end: not once its loop is closed."""
        return not self._loop.is_closed()

    def renewal_failed(self, error: Exception) -> None:
        """See `Upkeep`."""
        if self._on_renew_error is not None:
            tell = super().renewal_failed
            call_in(self._loop, lambda: tell(error))

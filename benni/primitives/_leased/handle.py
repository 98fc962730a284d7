"""What both colours of a handle share."""

from __future__ import annotations

import logging
import threading
import warnings
from typing import TYPE_CHECKING, Any

from benni._core.lease import State
from benni._io.process import process

if TYPE_CHECKING:
    from benni._core.lease import Lease
    from benni._core.options import OnRenewError, Watch
    from benni._io import keeper
    from benni._io.aio import AsyncDriver
    from benni._io.sync import SyncDriver

log = logging.getLogger("benni")


class Handle:
    """A lease that was granted.

    Invariant: `_watch` is set exactly while the keeper renews the lease.
    """

    def __init__(self, driver: SyncDriver | AsyncDriver, lease: Lease) -> None:
        self.lease = lease
        self._keeper = driver.keeper
        self._generation = process.generation
        self._watch: keeper.Watch | None = None
        self._on_renew_error: OnRenewError | None = None
        self._telling = threading.RLock()

    @property
    def key(self) -> str:
        """The key, `"<prefix>:<id>"`."""
        return self.lease.key

    @property
    def token(self) -> str:
        """What marks this acquisition on the server: unguessable, and never used again."""
        return self.lease.token

    @property
    def limit(self) -> int:
        """How many permits there are in all."""
        return self.lease.kind.limit

    @property
    def permits(self) -> int:
        """How many permits this handle holds."""
        return self.lease.permits

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key} {self.lease.state.value}>"

    def __del__(self, _warn: Any = warnings.warn) -> None:
        lease = getattr(self, "lease", None)
        if lease is not None and lease.state is State.HELD and self._is_ours():
            _warn(
                f"{self!r} was dropped without release: its slot is taken until the lease lapses",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )

    def _is_ours(self) -> bool:
        """Whether this process took the lease; the child of a fork has only a copy of it."""
        return self._generation == process.generation

    def _begin(self, watch: Watch) -> None:
        """Have the lease renewed from now on."""
        if watch.heartbeat is None:
            return
        self._on_renew_error = watch.on_renew_error
        self.lease.watched = True
        self._watch = self._keeper.watch(self, watch.heartbeat)

    def _end(self) -> None:
        """Have it renewed no more; afterwards `on_renew_error` is not called again."""
        watch, self._watch = self._watch, None
        if watch is not None:
            self._keeper.forget(watch)
        if self._on_renew_error is not None:
            with self._telling:
                self._on_renew_error = None

    def _tell_error(self, error: BaseException) -> None:
        with self._telling:
            if self._on_renew_error is not None:
                try:
                    self._on_renew_error(error)
                except Exception:
                    log.debug("on_renew_error failed for %s", self.key, exc_info=True)

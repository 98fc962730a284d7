"""What the keeper has to do: renew the lease of a body, or give back a slot."""

from __future__ import annotations

import weakref
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol

from benni._io.process import monotonic

if TYPE_CHECKING:
    from benni._core.effects import Call
    from benni._core.lease import Lease


class Kept(Protocol):
    """A body whose lease is renewed, as the keeper sees it."""

    lease: Lease

    def can_end(self) -> bool:
        """Whether its body can still come to an end by itself."""
        ...

    def renewal_failed(self, error: Exception) -> None:
        """Take note of a round trip that failed."""
        ...

    def lost(self) -> None:
        """Take note that `lease.loss` is set."""
        ...


class Watch:
    """One lease that is renewed until `Keeper.forget`."""

    __slots__ = ("due", "duration", "heartbeat", "kept", "live")

    def __init__(self, kept: Kept, heartbeat: float) -> None:
        # Nothing of the lease itself: this may stay in the keeper's heap for a while after the
        # body, and the loss of a lease has a traceback that keeps the client alive.
        self.kept = weakref.ref(kept)
        self.duration = kept.lease.duration
        self.heartbeat = heartbeat
        self.due = min(monotonic() + heartbeat, kept.lease.deadline)
        self.live = True


class Return:
    """One slot to be given back, until the server has answered or `end` has come."""

    __slots__ = ("call", "done", "due", "end", "live", "pause")

    def __init__(self, call: Call, within: float) -> None:
        self.call = call
        self.due = monotonic()
        self.end = self.due + within
        self.pause = 0.05
        self.done: Future[None] = Future()
        self.live = True

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

    __slots__ = ("due", "heartbeat", "kept", "lease", "live")

    def __init__(self, kept: Kept, heartbeat: float) -> None:
        self.kept = weakref.ref(kept)
        self.lease = kept.lease
        self.heartbeat = heartbeat
        self.due = min(monotonic() + heartbeat, self.lease.deadline)
        self.live = True

    @property
    def call(self) -> Call:
        """The renewal."""
        return self.lease.kind.extend(self.lease, self.lease.duration_ms, at_least=True)


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

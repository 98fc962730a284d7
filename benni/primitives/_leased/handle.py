"""What both colours of a handle share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from benni._core.lease import State
from benni._core.rules import DURATION
from benni._io.process import process

if TYPE_CHECKING:
    from benni._core.lease import Lease
    from benni.primitives._leased.upkeep import Upkeep


class Handle:
    """A lease that was granted."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._generation = process.generation
        self._upkeep: Upkeep | None = None
        """What renews the lease, if something does: alive for as long as this is."""

    @property
    def key(self) -> str:
        """The key, `"<prefix>:<id>"`."""
        return self._lease.key

    @property
    def token(self) -> str:
        """What marks this acquisition on the server: unguessable, and never used again."""
        return self._lease.token

    @property
    def limit(self) -> int:
        """How many permits there are in all."""
        return self._lease.kind.limit

    @property
    def permits(self) -> int:
        """How many permits this handle holds."""
        return self._lease.permits

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.key} {self._lease.state.value}>"

    def __del__(self, _warn: Any = warnings.warn) -> None:
        lease = getattr(self, "_lease", None)
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

    def _check_length(self, lease_ms: int | None) -> None:
        if lease_ms is not None:
            DURATION.check(self._lease.kind.name, "lease_ms", lease_ms)

"""The provider's books: who is being served, who was turned away, and when."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stats:
    """The provider's counts at one moment."""

    in_flight: int = 0
    peak: int = 0
    served: int = 0
    refused: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class History:
    """Each change of the number in flight, and the time of each 429 (monotonic seconds)."""

    in_flight: list[tuple[float, int]] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)


@dataclass
class Ledger:
    """Counts requests in and out. Invariant: `0 <= in_flight <= limit`."""

    limit: int
    in_flight: int = 0
    peak: int = 0
    served: int = 0
    dropped: int = 0
    changes: list[tuple[float, int]] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)

    def admit(self) -> bool:
        """Take a place; false, and one more 429, when all are taken."""
        if self.in_flight >= self.limit:
            self.refusals.append(time.monotonic())
            return False
        self._move(1)
        self.peak = max(self.peak, self.in_flight)
        return True

    def finish(self) -> None:
        """Free the place of a request that was served."""
        self.served += 1
        self._move(-1)

    def drop(self) -> None:
        """Free the place of a request whose client has gone."""
        self.dropped += 1
        self._move(-1)

    def stats(self) -> Stats:
        """Count up to now."""
        return Stats(self.in_flight, self.peak, self.served, len(self.refusals), self.dropped)

    def history(self) -> History:
        """Tell everything since the last reset."""
        return History(self.changes, self.refusals)

    def _move(self, by: int) -> None:
        self.in_flight += by
        self.changes.append((time.monotonic(), self.in_flight))

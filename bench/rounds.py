"""How two things are compared on a machine that does other work as well.

They take turns, and who is first changes with each round, so a slow spell hits both. The figure is
the median of the rounds' own ratios.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Side = Callable[[], object]
    """Does the whole of one side's work for a round."""


@dataclass(frozen=True)
class Compared:
    """The seconds that each side took, round by round."""

    first: list[float]
    second: list[float]

    @property
    def ratio(self) -> float:
        """How many times as long the first side took: the median of the rounds."""
        return median(self._ratios())

    @property
    def spread(self) -> str:
        """The quartiles of that ratio."""
        low, _, high = quantiles(self._ratios(), n=4)
        return f"{low:.2f}-{high:.2f}"

    def _ratios(self) -> list[float]:
        return [one / other for one, other in zip(self.first, self.second, strict=True)]


def compare(first: Side, second: Side, rounds: int) -> Compared:
    """Time both sides `rounds` times, after one round that does not count."""
    times: tuple[list[float], list[float]] = ([], [])
    sides = list(zip((first, second), times, strict=True))
    for side, _ in sides:
        side()
    for _ in range(max(2, rounds)):
        for side, kept in sides:
            kept.append(_timed(side))
        sides.reverse()
    return Compared(*times)


def _timed(side: Side) -> float:
    start = perf_counter()
    side()
    return perf_counter() - start

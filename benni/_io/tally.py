"""What has become of the commands of one operation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Tally:
    """How many commands went out, perhaps not whole, and how many answers reached the core."""

    sent: int = 0
    answered: int = 0

    @property
    def in_doubt(self) -> bool:
        """Whether the server may have done, or may yet do, what the core does not know of."""
        return self.sent > self.answered

"""The provider's own count of who is inside. It knows nothing of Redis or of leases."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Ledger:
    """Who is inside, by the connection that a caller came through.

    Invariant: `peak` is the most that were ever inside at once, and each moment at which that was
    more than the limit is in `excesses`.
    """

    limit: int
    wanted: int
    """How many pairs are to be completed before the doors close."""
    inside: dict[object, str] = field(default_factory=dict)
    peak: int = 0
    pairs: int = 0
    long: int = 0
    refused: int = 0
    lost: dict[str, str] = field(default_factory=dict)
    """Why, by token, as the callers were told."""
    orphans: list[str] = field(default_factory=list)
    excesses: list[frozenset[str]] = field(default_factory=list)
    closed: bool = False

    @property
    def unexplained(self) -> list[frozenset[str]]:
        """The moments over the limit that are not the doing of a caller told that it had lost."""
        return [tokens for tokens in self.excesses if len(tokens - self.lost.keys()) > self.limit]

    def enter(self, caller: object, token: str) -> bool:
        """Let a caller in; false when the doors have closed."""
        if self.closed or self.pairs >= self.wanted:
            return False
        self.inside[caller] = token
        self.peak = max(self.peak, len(self.inside))
        if len(self.inside) > self.limit:
            self.excesses.append(frozenset(self.inside.values()))
        return True

    def leave(self, caller: object) -> None:
        """Let a caller out."""
        del self.inside[caller]

    def drop(self, caller: object) -> None:
        """Take a caller that has died off the list."""
        if token := self.inside.pop(caller, None):
            self.orphans.append(token)

    def note(self, outcome: str) -> None:
        """Keep what a caller says became of an acquisition."""
        match outcome.split(maxsplit=2):
            case ["pair"]:
                self.pairs += 1
            case ["long"]:
                self.pairs += 1
                self.long += 1
            case ["refused"]:
                self.refused += 1
            case ["lost", token, why]:
                self.lost[token] = why
            case _:
                raise ValueError(f"a caller said {outcome!r}")

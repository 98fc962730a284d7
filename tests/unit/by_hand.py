"""The core driven by hand, step by step: a clock that stands still, a primitive without Redis."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benni._core.effects import GiveBack, Reply, Sleep
from benni._core.lease import Lease
from benni._core.leased import LeasedCore
from benni._core.scripts import parse
from benni.errors import LeaseLostError, NotAcquiredError

if TYPE_CHECKING:
    from collections.abc import Generator

    from benni._core.effects import Call, Effect

HEADER = "-- KEYS: holders\n-- ARGV: words...\n-- RETURNS: 1 yes, 0 no\n"
ACQUIRE, EXTEND, RELEASE = (
    parse(name, HEADER + f"return '{name}'", {}) for name in ("acquire", "extend", "release")
)

YES = Reply(1, resent=False)
NO = Reply(0, resent=False)
RESENT_YES = Reply(1, resent=True)
RESENT_NO = Reply(0, resent=True)
UNSEEN_YES = Reply(1, resent=None)


class CutError(Exception):
    """A connection that broke before the answer came."""


@dataclass
class Clock:
    """Time that passes only when a test says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


class Guard:
    """A lock of its own."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


class Primitive(LeasedCore):
    """A primitive whose commands spell out what was asked of it."""

    name = "primitive"

    def __init__(self, limit: int = 4, lease_ms: int = 10_000) -> None:
        tokens = (f"token-{n}" for n in range(1, 100))
        super().__init__("p", limit, lease_ms, lambda: next(tokens), Guard())

    def acquire(self, lease: Lease) -> Call:
        return ACQUIRE.call((lease.key.encode(),), (lease.token, lease.permits, lease.duration_ms))

    def extend(self, lease: Lease, lease_ms: int, *, at_least: bool) -> Call:
        return EXTEND.call((lease.key.encode(),), (lease.token, lease_ms, int(at_least)))

    def release(self, lease: Lease, *, remember: bool, brief: bool = False) -> Call:
        word = "remember" if remember else "forget"
        return RELEASE.call((lease.key.encode(),), (lease.token, word), brief=brief)

    def lost(self, key: str, why: str) -> LeaseLostError:
        return LeaseLostError(key, self.limit, why)

    def not_acquired(self, key: str) -> NotAcquiredError:
        return NotAcquiredError(key, self.limit)


def new_lease(**values: Any) -> Lease:
    """Make a lease of 10 s that was granted now and may be used for 10 s."""
    options = {"permits": 1, "duration_ms": 10_000, "deadline": 1010.0, **values}
    return Lease(Primitive(), "p:x", "token", **options)


@dataclass
class Play:
    """What a generator asked for, and what came of it."""

    asked: list[Effect] = field(default_factory=list)
    value: Any = None
    error: BaseException | None = None
    ended: bool = True

    def __getitem__(self, n: int) -> Any:
        return self.asked[n]

    @property
    def names(self) -> list[str]:
        """Name each thing asked for: a script, `sleep`, or `give back`."""
        return [_name(effect) for effect in self.asked]


def _name(effect: Effect) -> str:
    if isinstance(effect, Sleep):
        return "sleep"
    return "give back" if isinstance(effect, GiveBack) else effect.script.name


def play(steps: Generator[Any, Any, Any], *answers: Any) -> Play:
    """Run `steps`, answering what it asks with `answers` in turn.

    An exception is raised where it waits; a function is called for the answer, so that it can let
    time pass or change the lease meanwhile. It stays suspended when the answers have run out.
    """
    seen = Play()
    try:
        seen.asked.append(next(steps))
        for answer in answers:
            actual = answer() if callable(answer) else answer
            wait = steps.throw if isinstance(actual, BaseException) else steps.send
            seen.asked.append(wait(actual))
    except StopIteration as stop:
        seen.value = stop.value
    except BaseException as error:
        seen.error = error
    else:
        seen.ended = False
    return seen

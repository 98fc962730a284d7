"""How the options of one call become a plan, and a plan becomes a lease."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from benni._core.keys import key_of
from benni._core.lease import Guard, Lease
from benni._core.options import Attempt, Watch, read_attempt, read_watch
from benni._core.rules import ID

if TYPE_CHECKING:
    from benni._core.effects import Call
    from benni._core.options import AcquireOptions, RunOptions
    from benni.errors import LeaseLostError, NotAcquiredError

Tokens: TypeAlias = Callable[[], str]

VOID_MS = 60_000
"""How long the server remembers a token that must not come back. A copy of a command that is
still under way after a minute was not held up by a network: its connection was closed long ago."""


class Plan(NamedTuple):
    """One acquisition, checked."""

    key: str
    attempt: Attempt
    watch: Watch


_NO_WATCH = Watch(None, None, cancel=False)


class LeasedCore(ABC):
    """The decisions of a primitive that hands out leases."""

    name: str
    """The kind, as messages name it."""

    def __init__(
        self, prefix: str, limit: int, lease_ms: int, tokens: Tokens, guard: Guard
    ) -> None:
        self.guard = guard
        self.prefix = prefix
        self.limit = limit
        self.lease_ms = lease_ms
        self._tokens = tokens
        self._plain = read_attempt(self.name, limit, lease_ms, {})
        self._plain_watch = read_watch(self.name, lease_ms, {}, can_cancel=False)
        """How it goes without options, which is most of the time."""

    def key(self, id: str | int) -> str:
        """Check `id` and name its key."""
        ID.check(self.name, "id", id)
        return key_of(self.prefix, id)

    def plan(self, id: str | int, options: AcquireOptions) -> Plan:
        """Check an acquisition."""
        if not options:
            return Plan(self.key(id), self._plain, _NO_WATCH)
        attempt = read_attempt(self.name, self.limit, self.lease_ms, options)
        return Plan(self.key(id), attempt, _NO_WATCH)

    def plan_body(self, id: str | int, options: RunOptions, *, can_cancel: bool) -> Plan:
        """Check an acquisition whose lease is looked after while a body runs."""
        if not options:
            return Plan(self.key(id), self._plain, self._plain_watch)
        attempt = read_attempt(self.name, self.limit, self.lease_ms, options)
        watch = read_watch(self.name, attempt.lease_ms, options, can_cancel=can_cancel)
        return Plan(self.key(id), attempt, watch)

    def lease(self, plan: Plan) -> Lease:
        """Make the lease that is to be acquired, under a token of its own."""
        return Lease(self, plan.key, self._tokens(), plan.attempt.permits, plan.attempt.lease_ms)

    @abstractmethod
    def acquire(self, lease: Lease) -> Call:
        """Take it, or find that its token already holds."""

    @abstractmethod
    def extend(self, lease: Lease, lease_ms: int, *, at_least: bool) -> Call:
        """Hold on for `lease_ms` from now; with `at_least`, never for less than before."""

    @abstractmethod
    def release(self, lease: Lease, *, remember: bool, brief: bool = False) -> Call:
        """Let go; with `remember`, a late copy of any of its commands finds that it is over."""

    @abstractmethod
    def lost(self, key: str, why: str) -> LeaseLostError:
        """Make the error for a loss."""

    @abstractmethod
    def not_acquired(self, key: str) -> NotAcquiredError:
        """Make the error for no room."""

"""One lease: what can happen to it, and the loops that take it and end it.

The semaphore and its siblings differ in their scripts and their errors, which a `LeasedCore` gives.
What a lease is, when it is lost and who gets to know is decided here, once, for both colours.

Times are seconds of a monotonic clock that is passed in. A lease counts from the moment at which
the command that granted it was *sent*, so the holder's idea of it ends before the server's does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from benni._core.effects import GiveBack, Sleep
from benni.errors import ReplyError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from benni._core.effects import Reply, Steps
    from benni._core.leased import LeasedCore
    from benni._core.options import Attempt
    from benni.errors import LeaseLostError

Clock: TypeAlias = Callable[[], float]


class State(StrEnum):
    """Where a lease stands, as far as its holder knows."""

    HELD = "held"
    RELEASING = "releasing"
    UNANSWERED = "unanswered"
    RELEASED = "released"
    LOST = "lost"


class Event(StrEnum):
    """What a holder can learn, or do."""

    RENEWED = "renewed"
    """The server extended it."""
    REFUSED = "refused"
    """The server would not extend it: it is gone or expired."""
    LAPSED = "lapsed"
    """A full lease has passed since the last extension that succeeded was sent."""
    LEFT = "left"
    """The holder sends its release."""
    FREED = "freed"
    """The server confirms that it was held until now."""
    MISSING = "missing"
    """The server finds nothing to release, though it was renewed all along."""
    SILENCE = "silence"
    """The release was not answered; the keeper goes on trying."""


TRANSITIONS: Final[Mapping[tuple[State, Event], State]] = {
    (State.HELD, Event.RENEWED): State.HELD,
    (State.HELD, Event.REFUSED): State.LOST,
    (State.HELD, Event.LAPSED): State.LOST,
    (State.HELD, Event.LEFT): State.RELEASING,
    (State.RELEASING, Event.FREED): State.RELEASED,
    (State.RELEASING, Event.MISSING): State.LOST,
    (State.RELEASING, Event.SILENCE): State.UNANSWERED,
    (State.UNANSWERED, Event.LEFT): State.RELEASING,
}
"""Every step a lease can take. What is not here changes nothing: a renewal that is answered after
the release was sent, say, must not count as a loss, because the release came first."""


@dataclass(slots=True, eq=False)
class Lease:
    """A permit, or several, from the moment they were granted until they are gone.

    Invariant: `loss` is set exactly when `state` is LOST, in the same step.
    """

    kind: LeasedCore
    key: str
    token: str
    permits: int
    duration_ms: int
    deadline: float = 0.0
    """The lease has lapsed at this time unless it is extended before."""
    shortened: float = float("-inf")
    """When the holder last asked for a length of its own: older renewals do not outrank it."""
    promised_ms: int = 0
    """How long the last extension was for."""
    watched: bool = False
    """Renewed in the background, so that silence and a missing slot are losses."""
    in_doubt: bool = False
    """A copy of one of its commands may still be under way, so the release has to outlast it."""
    state: State = State.HELD
    loss: LeaseLostError | None = None

    @property
    def duration(self) -> float:
        """The length of the lease in seconds."""
        return self.duration_ms / 1000

    def apply(self, event: Event, why: str = "") -> bool:
        """Take the step that `event` asks for, if there is one; say whether there was."""
        with self.kind.guard.lock:
            after = TRANSITIONS.get((self.state, event))
            if after is None:
                return False
            if after is State.LOST:
                self.loss = self.kind.lost(self.key, why)
            self.state = after
            return True

    def granted(self, sent: float, reply: Reply) -> None:
        """Count the lease from when the copy of the acquire went out that was answered.

        It began the lease anew, if an earlier one had been carried out.
        """
        self.deadline = (sent if reply.sent is None else reply.sent) + self.duration
        self.promised_ms = self.duration_ms
        self.in_doubt = reply.resent is not False

    def renewed(self, sent: float, answer: bool) -> bool:  # noqa: FBT001
        """Take the answer to a renewal that went out at `sent`; say whether it is a loss."""
        if not answer:
            return self.apply(Event.REFUSED, "the server no longer has it")
        if self.apply(Event.RENEWED) and sent >= self.shortened:
            self.deadline = max(self.deadline, sent + self.duration)
            self.promised_ms = self.duration_ms
        return False

    def lapsed(self, now: float) -> bool:
        """Declare a watched lease lost if its time is over; say whether it was."""
        if not self.watched or now < self.deadline:
            return False
        length = self.promised_ms or self.duration_ms
        return self.apply(Event.LAPSED, f"no renewal has succeeded within the lease of {length} ms")


class Guard(Protocol):
    """Holds the lock that makes a step of a lease one step for every thread.

    Looked up each time, since the child of a fork needs a new one.
    """

    @property
    def lock(self) -> AbstractContextManager[object]:
        """The lock, which its owner can take again."""
        ...


def flag(script: str, reply: Reply | None) -> bool:
    """Read a reply that is 1 or 0."""
    if reply is None or type(reply.value) is not int or reply.value not in (0, 1):
        raise ReplyError(script, reply and reply.value)
    return reply.value == 1


def acquiring(lease: Lease, attempt: Attempt, clock: Clock) -> Steps[bool]:
    """Try to take `lease`, as often as `attempt` has it while there is no room.

    Every try carries the same token, so a command that is sent again cannot take a second slot.
    """
    call = lease.kind.acquire(lease)
    told = late = False
    left = attempt.retries
    try:
        while True:
            sent = clock()
            reply = yield call
            told = True  # from here on the answer may have been a yes
            if flag(call.script.name, reply):
                assert reply is not None  # noqa: S101
                lease.granted(sent, reply)
                if late or clock() < lease.deadline:
                    return True
                late = True  # read a lease too late, when others may have had it: ask once more
                continue
            told = False
            if not left:
                break
            left -= 1
            yield Sleep(attempt.pause)
    except BaseException:
        yield _undoing(lease, lease.duration, in_doubt=not told)
        raise
    yield _undoing(lease, lease.duration)
    return False


def _undoing(lease: Lease, within: float, *, in_doubt: bool = True) -> GiveBack:
    """Give back what a command took whose answer did not come, and stop copies on their way."""
    return GiveBack(lease.kind.release(lease, remember=True), within, in_doubt=in_doubt)


def extending(lease: Lease, lease_ms: int | None, clock: Clock) -> Steps[bool]:
    """Extend at the holder's own wish. False: it is gone, or was let go."""
    if lease.state is not State.HELD:
        return False
    length_ms = lease.duration_ms if lease_ms is None else lease_ms
    sent = clock()
    if lease_ms is not None:
        lease.shortened = sent
    call = lease.kind.extend(lease, length_ms, at_least=False)
    try:
        held = flag(call.script.name, (yield call))
    except BaseException:
        # It may have been carried out all the same, and may have made the lease shorter.
        lease.deadline = min(lease.deadline, sent + length_ms / 1000)
        raise
    if not held:
        lease.apply(Event.REFUSED, "the server no longer has it")
        if lease.permits > 1:  # one that is gone leaves the others without a holder
            release = lease.kind.release(lease, remember=True)
            yield GiveBack(release, lease.duration, wait=0, in_doubt=False)
        return False
    lease.deadline = sent + length_ms / 1000
    lease.promised_ms = length_ms
    return lease.apply(Event.RENEWED)


def releasing(lease: Lease, clock: Clock, *, brief: bool = False) -> Steps[bool]:
    """Let go of `lease`. True: it was held until now."""
    again = lease.state is State.UNANSWERED
    if not lease.apply(Event.LEFT):
        return False
    try:
        call = lease.kind.release(lease, remember=lease.in_doubt, brief=brief)
        reply = yield call
        freed = flag(call.script.name, reply)
    except BaseException:
        lease.in_doubt = True
        lease.apply(Event.SILENCE)
        yield _undoing(lease, max(0.0, lease.deadline - clock()), in_doubt=False)
        raise
    assert reply is not None  # noqa: S101
    if freed or ((again or reply.resent) and clock() < lease.deadline):
        # An earlier copy of this release may be what made the slot go: no proof of a loss.
        lease.apply(Event.FREED)
        return True
    lease.apply(Event.MISSING if lease.watched else Event.FREED, "it was gone at the release")
    return False


def finishing(lease: Lease, clock: Clock) -> Steps[None]:
    """End a lease because its body has ended. Afterwards `lease.loss` is the verdict."""
    lease.lapsed(clock())
    if lease.state is State.LOST:
        release = lease.kind.release(lease, remember=True)
        yield GiveBack(release, lease.duration, wait=0, in_doubt=False)
        return
    yield from releasing(lease, clock, brief=True)

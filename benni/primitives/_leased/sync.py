"""Leases with a blocking client: the handle, and the four ways to hold one."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    ParamSpec,
    Self,
    TypeVar,
    Unpack,
    overload,
)

from benni._core.body import refuse_body, takes_argument
from benni._core.lease import acquiring, extending, finishing, releasing
from benni._core.leased import LeasedCore
from benni._core.options import AcquireOptions, RunOptions, refuse_unknown
from benni._io.process import monotonic
from benni.errors import ValidationError
from benni.primitives._leased.handle import Handle
from benni.primitives._leased.signal import SyncSignal, announce
from benni.primitives._leased.upkeep import Upkeep
from benni.primitives._leased.verdict import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from benni._core.lease import Lease
    from benni._core.leased import Plan
    from benni._io.sync import SyncDriver

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=LeasedCore)


class SyncLease(Handle):
    """What `acquire` returns and a body is given. As a context manager it releases at the end.

    Not renewed by itself unless it comes from `run`, `hold` or `limited`.
    """

    def __init__(self, owner: SyncLeased[Any], lease: Lease) -> None:
        super().__init__(lease)
        self._owner = owner
        self.signal = SyncSignal(lease)
        """Aborts when the loss of the lease is known."""

    def release(self) -> bool:
        """Let go. One round trip.

        Returns True if the lease was held until now, False if it was lost, had lapsed or was
        released before. Raises what redis-py raises; the slot is then given back in the
        background, and it is safe to call this again.
        """
        return self._is_ours() and self._owner._driver.run(releasing(self._lease, monotonic))

    def extend(self, lease_ms: int | None = None) -> bool:
        """Hold on for `lease_ms` milliseconds from now (default: as acquired). One round trip.

        Returns False, and aborts the signal, if the lease is gone; False without a round trip if
        it was lost or released before. Raises what redis-py raises: then nothing is known.
        """
        self._check_length(lease_ms)
        if not self._is_ours():
            return False
        held = self._owner._driver.run(extending(self._lease, lease_ms, monotonic))
        if self.signal.aborted:
            announce(self.signal)
        elif held and self._upkeep is not None:
            self._upkeep.hasten()
        return held

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.release()


class SyncHold:
    """One use of `hold`: takes a slot on entry, renews it, and lets go of it on exit."""

    def __init__(self, owner: SyncLeased[Any], plan: Plan) -> None:
        self._owner = owner
        self._plan = plan
        self._held: SyncLease | None = None
        """Kept here as well, for a block that does not name it."""

    def __enter__(self) -> SyncLease:
        if self._held is not None:
            raise RuntimeError("this hold is in use; call hold() once for each block")
        lease = self._owner._acquire(self._plan)
        if lease is None:
            raise self._owner._core.not_acquired(self._plan.key)
        held = SyncLease(self._owner, lease)
        try:
            self._start(held, lease)
        except BaseException:
            held.release()
            raise
        self._held = held
        return held

    def _start(self, held: SyncLease, lease: Lease) -> None:
        watch = self._plan.watch
        if watch.heartbeat is not None:
            keeper = self._owner._driver.keeper
            held._upkeep = Upkeep(keeper, lease, held.signal, watch.on_renew_error)
            held._upkeep.start(watch.heartbeat)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        held, self._held = self._held, None
        if held is None or not held._is_ours():
            return False  # the child of a fork leaves a block that its parent has entered
        lease = held._lease
        lease.lapsed(monotonic())
        trouble: Exception | None = None
        try:
            if held._upkeep is not None:
                held._upkeep.stop()
        finally:  # an interrupt there must not keep the slot
            try:
                self._owner._driver.run(finishing(lease, monotonic))
            except Exception as error:  # noqa: BLE001
                trouble = error
        if lease.loss is not None:
            announce(held.signal)
        settle(lease, exc, trouble)
        return False


class SyncLeased(Generic[C]):
    """The four ways to take a lease, for any primitive that hands them out."""

    _core: C
    _driver: SyncDriver

    def acquire(self, id: str | int, **options: Unpack[AcquireOptions]) -> SyncLease | None:
        """Take a slot of `id`, or return None when there is no room. One round trip a try.

        Options: `permits`, `lease_ms`, `retries`, `retry_delay_ms`; see `AcquireOptions`. The
        handle is not renewed in the background. Raises `ValidationError` before anything is sent,
        and what redis-py raises; a slot that such a command may have taken is given back.
        """
        refuse_unknown("acquire", options, AcquireOptions)
        lease = self._acquire(self._core.plan(id, options))
        return None if lease is None else SyncLease(self, lease)

    @overload
    def run(
        self, id: str | int, fn: Callable[[SyncLease], R], **options: Unpack[RunOptions]
    ) -> R: ...
    @overload
    def run(self, id: str | int, fn: Callable[[], R], **options: Unpack[RunOptions]) -> R: ...
    def run(self, id: str | int, fn: Callable[..., R], **options: Unpack[RunOptions]) -> R:
        """Run `fn` while holding a slot of `id`, and return what it returned.

        `fn` is given the handle if it has one required parameter. The lease is renewed every
        `heartbeat_ms` while it runs. Two round trips if `fn` ends before the first renewal.

        Options: those of `acquire`, and `heartbeat_ms`, `on_renew_error`, `on_lost`; see
        `RunOptions`. Raises `NotAcquiredError` of the primitive's kind when there is no room,
        `LeaseLostError` of its kind when the lease was lost and `fn` did not raise (what `fn`
        raises goes first), `ValidationError` before anything is sent, and what redis-py raises on
        the way in. Trouble on the way out does not take the result away: it is logged, and the
        slot is given back in the background.
        """
        refuse_unknown("run", options, RunOptions)
        refuse_body(self._core.name, fn, blocking=True)
        wants_handle = takes_argument(self._core.name, "fn", fn)
        with self.hold(id, **options) as held:
            return _plain(self._core.name, fn(held) if wants_handle else fn())

    def hold(self, id: str | int, **options: Unpack[RunOptions]) -> SyncHold:
        """`run` as a `with` block that yields the handle; same options, errors and cost."""
        refuse_unknown("hold", options, RunOptions)
        plan = self._core.plan_body(id, options, can_cancel=False)
        return SyncHold(self, plan)

    @overload
    def limited(
        self, id: str | int, **options: Unpack[RunOptions]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    @overload
    def limited(
        self, id: Callable[P, str | int], **options: Unpack[RunOptions]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def limited(
        self, id: str | int | Callable[..., str | int], **options: Unpack[RunOptions]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Decorate a function so that each call of it runs inside `run`.

        `id` may be a function of the call's arguments. Options, errors and cost are those of
        `run`; options are checked here and now.
        """
        refuse_unknown("limited", options, RunOptions)
        self._core.plan_body("checked" if callable(id) else id, options, can_cancel=False)

        def decorate(fn: Callable[P, R]) -> Callable[P, R]:
            refuse_body(self._core.name, fn, blocking=True)

            @wraps(fn)
            def limited(*args: P.args, **kwargs: P.kwargs) -> R:
                actual = id(*args, **kwargs) if callable(id) else id
                with self.hold(actual, **options):
                    return _plain(self._core.name, fn(*args, **kwargs))

            return limited

        return decorate

    def _acquire(self, plan: Plan) -> Lease | None:
        lease = self._core.lease(plan)
        granted = self._driver.run(acquiring(lease, plan.attempt, monotonic))
        return lease if granted else None


def _plain(kind: str, result: R) -> R:
    """Refuse a coroutine: nobody would await it while the slot is held."""
    if inspect.iscoroutine(result):
        result.close()
        raise ValidationError(
            f"{kind} fn must return a plain value with a blocking client, received a coroutine"
        )
    return result

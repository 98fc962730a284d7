"""Leases with an asyncio client: the twin of `sync`, awaited, and able to cancel a body."""

from __future__ import annotations

import asyncio
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
    cast,
    overload,
)

from benni._core.body import refuse_body, takes_argument
from benni._core.lease import acquiring, extending, finishing, releasing
from benni._core.leased import LeasedCore
from benni._core.options import AcquireOptions, RunOptions, refuse_unknown
from benni._io.process import monotonic
from benni.primitives._leased.handle import Handle
from benni.primitives._leased.signal import AsyncSignal, announce
from benni.primitives._leased.upkeep import AsyncUpkeep
from benni.primitives._leased.verdict import settle

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from types import TracebackType

    from benni._core.lease import Lease
    from benni._core.leased import Plan
    from benni._io.aio import AsyncDriver

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=LeasedCore)


class AsyncLease(Handle):
    """Same as `SyncLease`, but awaited."""

    def __init__(self, owner: AsyncLeased[Any], lease: Lease) -> None:
        super().__init__(lease)
        self._owner = owner
        self.signal = AsyncSignal(lease, asyncio.get_running_loop())
        """Aborts when the loss of the lease is known."""

    async def release(self) -> bool:
        """Same as `SyncLease.release`, but awaited. A cancellation does not stop the release."""
        return self._is_ours() and await self._owner._driver.run(releasing(self._lease, monotonic))

    async def extend(self, lease_ms: int | None = None) -> bool:
        """Same as `SyncLease.extend`, but awaited."""
        self._check_length(lease_ms)
        if not self._is_ours():
            return False
        held = await self._owner._driver.run(extending(self._lease, lease_ms, monotonic))
        if self.signal.aborted:
            announce(self.signal)
        elif held and self._upkeep is not None:
            self._upkeep.hasten()
        return held

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.release()


class _Canceller:
    """Cancels the task of a body when its lease is lost, as `asyncio.timeout` does in time.

    Invariant: after `stop` the task is not cancelled from here, and a cancellation that was is no
    longer counted.
    """

    def __init__(self, signal: AsyncSignal) -> None:
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._before = self._task.cancelling()
        self._state: Literal["waiting", "cancelled", "stopped"] = "waiting"
        self._remove = signal.add_listener(self._cancel)

    def _cancel(self) -> None:
        if self._state == "waiting":
            self._state = "cancelled"
            self._task.cancel()

    def stop(self, error: BaseException | None) -> bool:
        """Stop; say whether `error` is the cancellation from here, and no other."""
        self._remove()
        before, self._state = self._state, "stopped"
        if before != "cancelled":
            return False
        alone = self._task.uncancel() <= self._before
        return alone and isinstance(error, asyncio.CancelledError)


class AsyncHold:
    """Same as `SyncHold`, but entered with `async with`."""

    def __init__(self, owner: AsyncLeased[Any], plan: Plan) -> None:
        self._owner = owner
        self._plan = plan
        self._held: AsyncLease | None = None
        """Kept here as well, for a block that does not name it."""

    async def __aenter__(self) -> AsyncLease:
        if self._held is not None:
            raise RuntimeError("this hold is in use; call hold() once for each block")
        lease = await self._owner._acquire(self._plan)
        if lease is None:
            raise self._owner._core.not_acquired(self._plan.key)
        held = AsyncLease(self._owner, lease)
        try:
            self._start(held, lease)
        except BaseException:
            await held.release()
            raise
        self._held = held
        return held

    def _start(self, held: AsyncLease, lease: Lease) -> None:
        watch = self._plan.watch
        if watch.heartbeat is not None:
            keeper = self._owner._driver.keeper
            loop = asyncio.get_running_loop()
            held._upkeep = AsyncUpkeep(keeper, lease, held.signal, watch.on_renew_error, loop)
            held._upkeep.start(watch.heartbeat)
        self._canceller = _Canceller(held.signal) if watch.cancel else None

    async def __aexit__(
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
        if held._upkeep is not None:
            held._upkeep.stop()
        ours = self._canceller is not None and self._canceller.stop(exc)
        trouble: Exception | None = None
        try:
            await self._owner._driver.run(finishing(lease, monotonic))
        except Exception as error:  # noqa: BLE001
            trouble = error
        if lease.loss is not None:
            announce(held.signal)
        settle(lease, None if ours else exc, trouble)
        return False


class AsyncLeased(Generic[C]):
    """Same as `SyncLeased`, but awaited."""

    _core: C
    _driver: AsyncDriver

    async def acquire(self, id: str | int, **options: Unpack[AcquireOptions]) -> AsyncLease | None:
        """Same as `SyncLeased.acquire`, but awaited.

        When it is cancelled, a slot that it may have taken is given back.
        """
        refuse_unknown("acquire", options, AcquireOptions)
        lease = await self._acquire(self._core.plan(id, options))
        return None if lease is None else AsyncLease(self, lease)

    @overload
    async def run(
        self,
        id: str | int,
        fn: Callable[[AsyncLease], Awaitable[R]],
        **options: Unpack[RunOptions],
    ) -> R: ...
    @overload
    async def run(
        self, id: str | int, fn: Callable[[], Awaitable[R]], **options: Unpack[RunOptions]
    ) -> R: ...
    @overload
    async def run(
        self, id: str | int, fn: Callable[[AsyncLease], R], **options: Unpack[RunOptions]
    ) -> R: ...
    @overload
    async def run(self, id: str | int, fn: Callable[[], R], **options: Unpack[RunOptions]) -> R: ...
    async def run(
        self, id: str | int, fn: Callable[..., Any], **options: Unpack[RunOptions]
    ) -> Any:
        """Same as `SyncLeased.run`, but awaited.

        `fn` may be a coroutine function or a plain one; an awaitable that it returns is awaited.
        With `on_lost="cancel"` the loss also cancels `fn` at its next await, and `run` raises the
        loss; a cancellation from outside stays one.
        """
        refuse_unknown("run", options, RunOptions)
        refuse_body(self._core.name, fn, blocking=False)
        wants_handle = takes_argument(self._core.name, "fn", fn)
        async with self.hold(id, **options) as held:
            result = fn(held) if wants_handle else fn()
            return await result if inspect.isawaitable(result) else result

    def hold(self, id: str | int, **options: Unpack[RunOptions]) -> AsyncHold:
        """Same as `SyncLeased.hold`, but for `async with`."""
        refuse_unknown("hold", options, RunOptions)
        plan = self._core.plan_body(id, options, can_cancel=True)
        return AsyncHold(self, plan)

    @overload
    def limited(
        self, id: str | int, **options: Unpack[RunOptions]
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]: ...
    @overload
    def limited(
        self, id: Callable[P, str | int], **options: Unpack[RunOptions]
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]: ...
    def limited(
        self, id: str | int | Callable[..., str | int], **options: Unpack[RunOptions]
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]:
        """Same as `SyncLeased.limited`, for coroutine functions."""
        refuse_unknown("limited", options, RunOptions)
        self._core.plan_body("checked" if callable(id) else id, options, can_cancel=True)

        def decorate(fn: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
            refuse_body(self._core.name, fn, blocking=False)

            @wraps(fn)
            async def limited(*args: P.args, **kwargs: P.kwargs) -> R:
                actual = id(*args, **kwargs) if callable(id) else id
                async with self.hold(actual, **options):
                    result = fn(*args, **kwargs)
                    return await result if inspect.isawaitable(result) else result

            return limited

        return decorate

    async def _acquire(self, plan: Plan) -> Lease | None:
        lease = self._core.lease(plan)
        granted = await self._driver.run(acquiring(lease, plan.attempt, monotonic))
        return lease if granted else None

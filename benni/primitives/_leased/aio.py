"""Leases with an asyncio client: the twin of `sync`, awaited, and able to cancel a body."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast, overload

from typing_extensions import Self, Unpack

from benni._core.body import refuse_generators, takes_argument
from benni._core.lease import acquiring, extending, finishing, releasing
from benni._core.options import AcquireOptions, RunOptions, refuse_unknown
from benni._core.rules import DURATION
from benni._io.process import monotonic
from benni.primitives._leased.handle import Handle
from benni.primitives._leased.signal import AsyncSignal, call_in
from benni.primitives._leased.verdict import passed_over, settle

if TYPE_CHECKING:
    from types import TracebackType

    from benni._core.lease import Lease
    from benni._core.leased import LeasedCore, Plan
    from benni._io.aio import AsyncDriver

P = ParamSpec("P")
R = TypeVar("R")


class AsyncLease(Handle):
    """Same as `SyncLease`, but awaited."""

    def __init__(self, driver: AsyncDriver, lease: Lease) -> None:
        super().__init__(driver, lease)
        self._driver = driver
        self._loop = asyncio.get_running_loop()
        self.signal = AsyncSignal(lease, self._loop)
        """Aborts when the loss of the lease is known."""

    async def release(self) -> bool:
        """Same as `SyncLease.release`, but awaited. A cancellation does not stop the release."""
        return self._is_ours() and await self._driver.run(releasing(self.lease, monotonic))

    async def extend(self, lease_ms: int | None = None) -> bool:
        """Same as `SyncLease.extend`, but awaited."""
        if lease_ms is not None:
            DURATION.check(self.lease.kind.name, "lease_ms", lease_ms)
        if not self._is_ours():
            return False
        held = await self._driver.run(extending(self.lease, lease_ms, monotonic))
        if self.lease.loss is not None:
            self.announce()
        return held

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.release()

    def can_end(self) -> bool:
        """Whether the body can come to an end: not if its event loop is closed."""
        return not self._loop.is_closed()

    def renewal_failed(self, error: BaseException) -> None:
        """For the keeper: a round trip failed."""
        if self._on_renew_error is not None:
            call_in(self._loop, lambda: self._tell_error(error))

    def announce(self) -> None:
        """For the keeper: the loss is known."""
        self.signal.announce()


class _Canceller:
    """Cancels the task of a body when its lease is lost, as `asyncio.timeout` does in time.

    Invariant: after `stop` the task is not cancelled from here, and a cancellation that was is no
    longer counted.
    """

    def __init__(self, held: AsyncLease) -> None:
        self._held = held
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._before = self._task.cancelling()
        self._cancelled = False
        self._remove = held.signal.add_listener(self._cancel)

    def _cancel(self) -> None:
        if not self._cancelled and self._held.lease.watched:
            self._cancelled = True
            self._task.cancel()

    def stop(self, error: BaseException | None) -> bool:
        """Stop; say whether `error` is the cancellation from here, and no other."""
        self._remove()
        if not self._cancelled:
            self._cancelled = True
            return False
        alone = self._task.uncancel() <= self._before
        return alone and isinstance(error, asyncio.CancelledError)


class AsyncHold:
    """Same as `SyncHold`, but entered with `async with`."""

    def __init__(self, driver: AsyncDriver, core: LeasedCore, plan: Plan) -> None:
        self._driver = driver
        self._core = core
        self._plan = plan
        self._held: AsyncLease | None = None
        self._canceller: _Canceller | None = None

    async def __aenter__(self) -> AsyncLease:
        if self._held is not None:
            raise RuntimeError("this hold is in use; call hold() once for each block")
        held = await _acquire(self._driver, self._core, self._plan)
        if held is None:
            raise self._core.not_acquired(self._plan.key)
        try:
            held._begin(self._plan.watch)  # noqa: SLF001
        except BaseException:
            await held.release()
            raise
        if self._plan.watch.cancel:
            self._canceller = _Canceller(held)
        self._held = held
        return held

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> Literal[False]:
        held, self._held = self._held, None
        assert held is not None  # noqa: S101
        if passed_over(held, exc):
            return False
        held.lease.lapsed(monotonic())
        held._end()  # noqa: SLF001
        canceller, self._canceller = self._canceller, None
        ours = canceller is not None and canceller.stop(exc)
        trouble: Exception | None = None
        try:
            await self._driver.run(finishing(held.lease, monotonic))
        except Exception as error:  # noqa: BLE001
            trouble = error
        if held.lease.loss is not None:
            held.announce()
        settle(held.lease, None if ours else exc, trouble)
        return False


class AsyncLeased:
    """Same as `SyncLeased`, but awaited."""

    _core: LeasedCore
    _driver: AsyncDriver

    async def acquire(
        self, id: str | int, **options: Unpack[AcquireOptions]
    ) -> AsyncLease | None:
        """Same as `SyncLeased.acquire`, but awaited.

        When it is cancelled, a slot that it may have taken is given back.
        """
        refuse_unknown("acquire", options, AcquireOptions)
        return await _acquire(self._driver, self._core, self._core.plan(id, options))

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
    async def run(
        self, id: str | int, fn: Callable[[], R], **options: Unpack[RunOptions]
    ) -> R: ...
    async def run(
        self, id: str | int, fn: Callable[..., Any], **options: Unpack[RunOptions]
    ) -> Any:
        """Same as `SyncLeased.run`, but awaited.

        `fn` may be a coroutine function or a plain one; an awaitable that it returns is awaited.
        With `on_lost="cancel"` the loss also cancels `fn` at its next await, and `run` raises the
        loss; a cancellation from outside stays one.
        """
        refuse_generators(self._core.name, "fn", fn)
        wants_handle = takes_argument(self._core.name, "fn", fn)
        async with self.hold(id, **options) as held:
            result = fn(held) if wants_handle else fn()
            return await result if inspect.isawaitable(result) else result

    def hold(self, id: str | int, **options: Unpack[RunOptions]) -> AsyncHold:
        """Same as `SyncLeased.hold`, but for `async with`."""
        refuse_unknown("hold", options, RunOptions)
        plan = self._core.plan_body(id, options, can_cancel=True)
        return AsyncHold(self._driver, self._core, plan)

    def limited(
        self, id: str | int | Callable[P, str | int], **options: Unpack[RunOptions]
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
        """Same as `SyncLeased.limited`, for coroutine functions."""
        refuse_unknown("limited", options, RunOptions)
        self._core.plan_body("checked" if callable(id) else id, options, can_cancel=True)

        def decorate(fn: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
            refuse_generators(self._core.name, "fn", fn)

            @wraps(fn)
            async def limited(*args: P.args, **kwargs: P.kwargs) -> R:
                actual = id(*args, **kwargs) if callable(id) else id
                async with self.hold(actual, **options):
                    result = fn(*args, **kwargs)
                    return await result if inspect.isawaitable(result) else result

            return limited

        return decorate


async def _acquire(driver: AsyncDriver, core: LeasedCore, plan: Plan) -> AsyncLease | None:
    lease = core.lease(plan)
    attempt = plan.attempt
    if await driver.run(acquiring(lease, attempt.retries, attempt.pause, monotonic)):
        return AsyncLease(driver, lease)
    return None

"""The asyncio colour: how a task runs the core. What `sync` says holds here as well, awaited."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from inspect import GEN_CLOSED, getgeneratorstate
from typing import TYPE_CHECKING, Any, TypeVar, cast

from benni._core.effects import Call, GiveBack, Reply, Sleep
from benni._io.clients import is_answer, is_missing_script, is_timeout, taker
from benni._io.keeper import Keeper
from benni._io.links import AsyncLinks
from benni._io.process import monotonic
from benni._io.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from benni._core.effects import Effect, Steps

T = TypeVar("T")


class _Unreachable(Exception):  # noqa: N818
    """Carries an error of connecting past the retry policy, which has been through it already."""


class AsyncDriver:
    """Runs calls and generators of the core on one pool, for all primitives that use it.

    It and the pool keep each other, so that a finaliser of either finds both, and end together.
    """

    def __init__(self, home: Any) -> None:
        self.home = home
        self.keeper = Keeper(AsyncLinks(weakref.ref(home)))
        self._take = taker(home)
        weakref.finalize(self, self.keeper.stop).atexit = False
        self._loop: weakref.ref[asyncio.AbstractEventLoop] | None = None

    async def run(self, steps: Steps[T]) -> T:
        """Run a generator of the core to its end; a cancellation is raised in it as well."""
        tally = Tally()
        answer: Reply | None = None
        trouble: BaseException | None = None
        closing = False
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        while True:
            try:
                if trouble is None:
                    effect = steps.send(answer)
                    tally.answered += answer is not None
                else:
                    error, trouble = trouble, None
                    effect = steps.throw(error)
                answer = await self._carry_out(effect, tally, closing=closing)
                if task is not None and task.cancelling() > before:
                    # Python 3.11's wait_for, which redis-py sends with, can swallow it.
                    before = task.cancelling()
                    raise asyncio.CancelledError  # noqa: TRY301
            except StopIteration as stop:
                return cast("T", stop.value)
            except BaseException as error:
                if getgeneratorstate(steps) == GEN_CLOSED:
                    raise
                closing = isinstance(error, GeneratorExit)
                trouble = error

    async def call(self, call: Call) -> Reply:
        """Make one round trip."""
        return await self._call(call, Tally())

    async def _carry_out(self, effect: Effect, tally: Tally, *, closing: bool) -> Reply | None:
        if type(effect) is Call:
            return await self._call(effect, tally)
        if type(effect) is Sleep:
            await asyncio.sleep(effect.seconds)
        elif type(effect) is GiveBack and (tally.in_doubt or not effect.in_doubt):
            done = self.keeper.give_back(effect.call, effect.within)
            if effect.wait and not closing:  # a coroutine that is closed must not wait
                await _wait(done, effect.wait)
        return None

    async def _call(self, call: Call, tally: Tally) -> Reply:
        try:
            return await self._command(call, tally, "EVALSHA", call.script.sha)
        except Exception as error:
            if not is_missing_script(error):
                raise
        tally.answered += 1
        return await self._command(call, tally, "EVAL", call.script.text)

    async def _command(self, call: Call, tally: Tally, name: str, body: str) -> Reply:
        command = (name, body, len(call.keys), *call.keys, *call.args)
        home = self.home
        if self._take is None:
            # A client, which may send it more than once and does not tell.
            tally.sent += 1
            return Reply(await home.execute_command(*command), None)
        self._settle_in(home)
        connection = await self._take(home)
        try:
            return await _exchange(connection, command, tally, brief=call.brief)
        finally:
            await home.release(connection)

    def _settle_in(self, pool: Any) -> None:
        """See to it that the pool's connections are of the running loop.

        Those of a loop that is closed are dropped, so a client can outlive an `asyncio.run`. Two
        loops at once cannot share a client: that is an error here, before a connection mixes them.
        """
        loop = asyncio.get_running_loop()
        before = self._loop() if self._loop is not None else loop
        if before is loop and self._loop is not None:
            return
        if before is not None and before is not loop and not before.is_closed():
            raise RuntimeError(
                "this client is in use by another event loop that still runs; "
                "an asyncio client belongs to one loop at a time"
            )
        if before is not loop:
            pool.reset()
        self._loop = weakref.ref(loop)


async def _wait(done: Future[None], seconds: float) -> None:
    """Wait for the keeper's thread, `seconds` at the most."""
    loop = asyncio.get_running_loop()
    reached = asyncio.Event()
    done.add_done_callback(lambda _: call_in(loop, reached.set))
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await reached.wait()


def call_in(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    """Call in the thread of `loop`: now if this is it, soon if not, never if it is closed."""
    try:
        here = asyncio.get_running_loop() is loop
    except RuntimeError:
        here = False
    if here:
        call()
        return
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


async def _exchange(
    connection: Any, command: tuple[Any, ...], tally: Tally, *, brief: bool
) -> Reply:
    """Send and read on `connection`, and again as the client's own retry policy has it."""
    before = tally.sent
    sent = None

    async def attempt() -> Any:
        nonlocal sent
        if sent is not None:  # the pool has connected it for the first time
            try:
                await connection.connect()
            except Exception as error:
                raise _Unreachable from error
        sent = monotonic()
        tally.sent += 1
        await connection.send_command(*command)
        return await connection.read_response()

    async def disconnect(_error: BaseException) -> None:
        await connection.disconnect(nowait=True)

    try:
        if brief:
            value = await _twice(attempt, disconnect)
        else:
            value = await connection.retry.call_with_retry(attempt, disconnect)
    except _Unreachable as error:
        raise cast("BaseException", error.__cause__) from None
    except BaseException as error:
        if not is_answer(error):
            await connection.disconnect(nowait=True)
        raise
    return Reply(value, tally.sent - before > 1, sent)


async def _twice(attempt: Any, disconnect: Any) -> Any:
    """Try again, at once and on a fresh connection, if the one at hand was found dead."""
    try:
        return await attempt()
    except Exception as error:
        if isinstance(error, _Unreachable) or is_answer(error) or is_timeout(error):
            raise
        await disconnect(error)
    return await attempt()

"""The blocking colour: how a thread runs the core."""

from __future__ import annotations

import time
import weakref
from concurrent.futures import wait
from inspect import GEN_CLOSED, getgeneratorstate
from typing import TYPE_CHECKING, Any, TypeVar, cast

from benni._core.effects import Call, GiveBack, Reply, Sleep
from benni._io.clients import is_answer, is_missing_script, is_timeout, taker
from benni._io.keeper import Keeper
from benni._io.links import BlockingLinks
from benni._io.process import monotonic
from benni._io.tally import Tally

if TYPE_CHECKING:
    from benni._core.effects import Effect, Steps

T = TypeVar("T")


class _Unreachable(Exception):  # noqa: N818
    """Carries an error of connecting past the retry policy, which has been through it already."""


class SyncDriver:
    """Runs calls and generators of the core on one pool, for all primitives that use it.

    It and the pool keep each other, so that a finaliser of either finds both, and end together.
    """

    def __init__(self, home: Any) -> None:
        self.home = home
        self.keeper = Keeper(BlockingLinks(weakref.ref(home)))
        self._take = taker(home)
        weakref.finalize(self, self.keeper.stop).atexit = False

    def run(self, steps: Steps[T]) -> T:
        """Run a generator of the core to its end.

        Whatever is raised here, by a call or by a signal handler, is raised in the generator, so
        that it can put things right.
        """
        tally = Tally()
        answer: Reply | None = None
        trouble: BaseException | None = None
        while True:
            try:
                if trouble is None:
                    effect = steps.send(answer)
                    tally.answered += answer is not None
                else:
                    error, trouble = trouble, None
                    effect = steps.throw(error)
                answer = self._carry_out(effect, tally)
            except StopIteration as stop:
                return cast("T", stop.value)
            except BaseException as error:
                if getgeneratorstate(steps) == GEN_CLOSED:
                    raise
                trouble = error

    def call(self, call: Call) -> Reply:
        """Make one round trip."""
        return self._call(call, Tally())

    def _carry_out(self, effect: Effect, tally: Tally) -> Reply | None:
        if type(effect) is Call:
            return self._call(effect, tally)
        if type(effect) is Sleep:
            time.sleep(effect.seconds)
        elif type(effect) is GiveBack and (tally.in_doubt or not effect.in_doubt):
            done = self.keeper.give_back(effect.call, effect.within)
            if effect.wait:
                wait([done], effect.wait)
        return None

    def _call(self, call: Call, tally: Tally) -> Reply:
        try:
            return self._command(call, tally, "EVALSHA", call.script.sha)
        except Exception as error:
            if not is_missing_script(error):
                raise
        tally.answered += 1
        return self._command(call, tally, "EVAL", call.script.text)

    def _command(self, call: Call, tally: Tally, name: str, body: str) -> Reply:
        command = (name, body, len(call.keys), *call.keys, *call.args)
        home = self.home
        if self._take is None:
            # A client, which may send it more than once and does not tell.
            tally.sent += 1
            return Reply(home.execute_command(*command), None)
        connection = self._take(home)
        try:
            return _exchange(connection, command, tally, brief=call.brief)
        finally:
            home.release(connection)


def _exchange(connection: Any, command: tuple[Any, ...], tally: Tally, *, brief: bool) -> Reply:
    """Send and read on `connection`, and again as the client's own retry policy has it."""
    before = tally.sent
    sent = None

    def attempt() -> Any:
        nonlocal sent
        if sent is not None:  # the pool has connected it for the first time
            try:
                connection.connect()
            except Exception as error:
                raise _Unreachable from error
        sent = monotonic()
        tally.sent += 1
        connection.send_command(*command)
        return connection.read_response()

    def disconnect(_error: BaseException) -> None:
        connection.disconnect()

    try:
        if brief:
            value = _twice(attempt, disconnect)
        else:
            value = connection.retry.call_with_retry(attempt, disconnect)
    except _Unreachable as error:
        raise cast("BaseException", error.__cause__) from None
    except BaseException as error:
        if not is_answer(error):
            connection.disconnect()
        raise
    return Reply(value, tally.sent - before > 1, sent)


def _twice(attempt: Any, disconnect: Any) -> Any:
    """Try again, at once and on a fresh connection, if the one at hand was found dead."""
    try:
        return attempt()
    except Exception as error:
        if isinstance(error, _Unreachable) or is_answer(error) or is_timeout(error):
            raise
        disconnect(error)
    return attempt()

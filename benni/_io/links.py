"""The keeper's own connections: made from the user's client, used by the keeper's thread alone.

The logic is written once, for both colours: a step of a driver is either done when it returns, or
is awaited. A blocking driver never suspends, so its coroutine runs through in one go.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from benni._io.clients import (
    is_answer,
    is_ask,
    is_cluster,
    is_missing_script,
    is_timeout,
    own_connection,
    redirect_of,
)
from benni._io.process import monotonic
from benni._io.sentinels import Sentinels

if TYPE_CHECKING:
    import weakref
    from collections.abc import Coroutine, Sequence

    from benni._core.effects import Call

Outcome: TypeAlias = Any
"""What came of one call: the server's answer, or the exception in its place."""

Place: TypeAlias = "tuple[str, int] | None"
"""A node of a Cluster; None where there is one server."""

ROUNDS = 4
"""Digest, text, and two redirections: no call needs to go out more often."""

Way: TypeAlias = "tuple[int, bool, bool]"
"""Which call, whether with the script's text, and whether to a node without the slot (`ASK`)."""


class Links:
    """One connection to each server that the keeper has had to talk to."""

    def __init__(self, home: weakref.ref[Any]) -> None:
        self._home = home
        self._cluster = is_cluster(home())
        self._open: dict[Place, Any] = {}
        self._key = ""
        """A key of the Cluster, to find a node whose connections to copy. The client's default node
        will not do: it is None from an error until the next command."""

    def exchange(self, calls: Sequence[Call], patience: float) -> list[Outcome]:
        """Make all `calls` in one pipelined round trip for each server, within `patience` seconds.

        Never raises on account of the wire: each call has its own outcome.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections; the next exchange opens new ones."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Forget the connections without touching them: in a fork they are the parent's."""
        raise NotImplementedError

    async def _exchange(
        self, calls: Sequence[Call], outcomes: list[Outcome], patience: float
    ) -> None:
        end = monotonic() + patience
        todo: dict[Place, list[Way]] = defaultdict(list)
        for n, call in enumerate(calls):
            try:
                todo[self._place_of(call)].append((n, False, False))
            except Exception as error:  # noqa: BLE001
                outcomes[n] = error  # a Cluster that does not know who has the slot
        for _ in range(ROUNDS):
            again: dict[Place, list[Way]] = defaultdict(list)
            for turn, (place, items) in enumerate(todo.items()):
                commands: list[tuple[Any, ...]] = []
                for n, whole, asking in items:
                    commands += [("ASKING",)] * asking
                    commands.append(_command(calls[n], whole=whole))
                # One that hangs takes no more than its share of the time.
                share = (end - monotonic()) / (len(todo) - turn)
                answers = iter(await self._ask(place, commands, monotonic() + share))
                for n, whole, asking in items:
                    if asking:
                        next(answers)
                    answer = outcomes[n] = next(answers)
                    if isinstance(answer, BaseException) and is_missing_script(answer):
                        again[place].append((n, True, asking))
                    elif moved := redirect_of(answer):
                        again[moved].append((n, whole, is_ask(answer)))
            todo = again

    async def _ask(
        self, place: Place, commands: list[tuple[Any, ...]], end: float
    ) -> list[Outcome]:
        """Pipeline `commands` to one server; once more if an idle connection was found dead."""
        reused = place in self._open
        try:
            return await self._pipeline(place, commands, end)
        except Exception as error:  # noqa: BLE001
            await self._drop(place)
            if not reused or is_timeout(error) or monotonic() >= end:
                return [error] * len(commands)
        try:
            return await self._pipeline(place, commands, end)
        except Exception as error:  # noqa: BLE001
            await self._drop(place)
            return [error] * len(commands)

    async def _pipeline(
        self, place: Place, commands: list[tuple[Any, ...]], end: float
    ) -> list[Outcome]:
        connection = self._open.get(place)
        if connection is None:
            connection = self._open[place] = self._make(place)
        self._limit(connection, end)
        await _done(connection.connect())
        await _done(connection.send_packed_command(connection.pack_commands(commands)))
        answers: list[Outcome] = []
        for _ in commands:
            self._limit(connection, end)
            try:
                answers.append(await _done(connection.read_response()))
            except Exception as error:
                if not is_answer(error):
                    raise
                answers.append(error)
        return answers

    async def _drop(self, place: Place) -> None:
        connection = self._open.pop(place, None)
        if connection is not None:
            await _done(connection.disconnect())

    def _limit(self, connection: Any, end: float) -> None:
        """Bound the next wait on `connection`."""

    def _kwargs(self, pool: Any) -> dict[str, Any]:
        """Return what the pool makes its connections of."""
        return pool.connection_kwargs  # type: ignore[no-any-return]

    def _place_of(self, call: Call) -> Place:
        if not self._cluster:
            return None
        self._key = call.keys[0].decode()
        node = self._alive().get_node_from_key(self._key)
        return (node.host, node.port)

    def _alive(self) -> Any:
        home = self._home()
        if home is None:
            raise RedisConnectionError("the client is gone")
        return home

    def _make(self, place: Place) -> Any:
        if place is None:
            home = self._alive()
            pool = getattr(home, "connection_pool", home)
            return own_connection(pool.connection_class, self._kwargs(pool))
        node = self._alive().get_node_from_key(self._key)
        pool = node
        if not hasattr(node, "connection_kwargs"):
            client = getattr(node, "redis_connection", None) or node.valkey_connection
            pool = client.connection_pool
        host, port = place
        kwargs = {**pool.connection_kwargs, "host": host or node.host, "port": port}
        kwargs.pop("redis_connect_func", None)  # a method of the client, which it would keep alive
        return own_connection(pool.connection_class, kwargs)


class BlockingLinks(Links):
    """Connections of a blocking client."""

    def exchange(self, calls: Sequence[Call], patience: float) -> list[Outcome]:
        """See `Links`."""
        outcomes: list[Outcome] = [None] * len(calls)
        _run_through(self._exchange(calls, outcomes, patience))
        return outcomes

    def close(self) -> None:
        """See `Links`."""
        for connection in self._open.values():
            connection.disconnect()
        self._open.clear()

    def abandon(self) -> None:
        """See `Links`."""
        self._open = {}

    def _limit(self, connection: Any, end: float) -> None:
        seconds = max(0.001, end - monotonic())
        connection.socket_timeout = connection.socket_connect_timeout = seconds
        sock: Any = getattr(connection, "_sock", None)
        if sock is not None and hasattr(sock, "settimeout"):  # a fake server has no real one
            sock.settimeout(seconds)


_orphans: list[object] = []
"""Event loops that a fork has left to the child. To close one there would take the parent's
sockets out of the parent's selector, which both share."""


class AsyncLinks(Links):
    """Connections of an asyncio client, in an event loop that only the keeper's thread runs."""

    def __init__(self, home: weakref.ref[Any]) -> None:
        super().__init__(home)
        self._loop: asyncio.AbstractEventLoop | None = None

    def _kwargs(self, pool: Any) -> dict[str, Any]:
        if not hasattr(pool, "sentinel_manager"):
            return super()._kwargs(pool)
        return {**pool.connection_kwargs, "connection_pool": Sentinels(pool)}

    async def _ask(
        self, place: Place, commands: list[tuple[Any, ...]], end: float
    ) -> list[Outcome]:
        try:
            async with asyncio.timeout(max(0.001, end - monotonic())):
                return await super()._ask(place, commands, end)
        except TimeoutError:
            await self._drop(place)
            return [RedisTimeoutError("no answer in time")] * len(commands)

    def exchange(self, calls: Sequence[Call], patience: float) -> list[Outcome]:
        """See `Links`."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        outcomes: list[Outcome] = [None] * len(calls)
        self._loop.run_until_complete(self._exchange_in_time(calls, outcomes, patience))
        return outcomes

    async def _exchange_in_time(
        self, calls: Sequence[Call], outcomes: list[Outcome], patience: float
    ) -> None:
        try:
            async with asyncio.timeout(patience):
                await self._exchange(calls, outcomes, patience)
        except TimeoutError:
            late = RedisTimeoutError(f"no answer within {patience:.3f} seconds")
            outcomes[:] = [late if outcome is None else outcome for outcome in outcomes]
            await self._disconnect_all()

    async def _disconnect_all(self) -> None:
        for connection in self._open.values():
            transport: Any = getattr(getattr(connection, "_writer", None), "transport", None)
            await connection.disconnect(nowait=True)
            if hasattr(transport, "abort"):  # over TLS it would wait for the other side's goodbye
                transport.abort()
        self._open.clear()

    def close(self) -> None:
        """See `Links`."""
        if self._loop is None:
            return
        self._loop.run_until_complete(self._disconnect_all())
        self._loop.run_until_complete(asyncio.sleep(0))  # transports close in their next step
        self._loop.close()
        self._loop = None

    def abandon(self) -> None:
        """See `Links`."""
        _orphans.extend([self._loop, self._open])
        self._loop, self._open = None, {}


def _command(call: Call, *, whole: bool) -> tuple[Any, ...]:
    head = ("EVAL", call.script.text) if whole else ("EVALSHA", call.script.sha)
    return (*head, len(call.keys), *call.keys, *call.args)


async def _done(step: Any) -> Any:
    return await step if inspect.isawaitable(step) else step


def _run_through(steps: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never suspends."""
    try:
        steps.send(None)
    except StopIteration:
        return
    raise AssertionError("a blocking driver was awaited")

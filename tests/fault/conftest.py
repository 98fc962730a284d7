"""A network that can be broken, between a `World` and its server.

These tests are about real servers: each module says on which with `pytest.mark.engines`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
from proxy import Proxy
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry
from support.world import World, leaving_nothing


class FarServer:
    """A server that clients reach through a proxy."""

    def __init__(self, server: Any, proxy: Proxy) -> None:
        self._server = server
        self._proxy = proxy

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    def client(
        self, colour: str = "sync", *, brisk: bool = True, near: bool = False, **options: Any
    ) -> Any:
        """Make a client; a `brisk` one has redis-py's own policy, but loses patience sooner.

        A `near` one is connected past the proxy.
        """
        if near:
            return self._server.client(colour, **options)
        cls, retry = (redis.Redis, Retry) if colour == "sync" else (redis.asyncio.Redis, AsyncRetry)
        if brisk:
            retries = options.pop("retries", 3)
            options = {"socket_timeout": 0.2, "retry": retry(NoBackoff(), retries), **options}
        return cls(host="127.0.0.1", port=self._proxy.port, **options)


@pytest.fixture
def proxy(server):
    """A network between the tests' clients and `server`."""
    proxy = Proxy(server.path)
    yield proxy
    proxy.close()


@pytest.fixture
async def far(server, proxy, colour, caplog):
    """Give a `World` whose clients reach the server through `proxy`, and lose patience soon."""
    async with leaving_nothing(server), World(FarServer(server, proxy), colour) as far:
        yield far
        caplog.get_records("call").clear()  # they keep errors alive, and with them the clients


PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def start():
    """Start a program of `programs/` in a process of its own, which ends with the test."""
    started = []

    def start(program: str, *args: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", PROGRAMS / f"{program}.py", *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()  # by its pid, and only if it has not ended yet
        process.communicate()

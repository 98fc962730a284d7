"""fakeredis behind the face of a `Server`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import fakeredis
from fakeredis._socket._base import BaseFakeSocket

from support.servers import is_handshake, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    import redis


CLIENTS = {
    ("redis", "sync"): fakeredis.FakeRedis,
    ("redis", "async"): fakeredis.FakeAsyncRedis,
    ("valkey", "sync"): fakeredis.FakeValkey,
    ("valkey", "async"): fakeredis.FakeAsyncValkey,
}


class _Listening(fakeredis.FakeServer):
    """A fake server that writes down what clients send to it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.seen: list[list[str]] = []


def _listen() -> None:
    process = BaseFakeSocket._process_command

    def _process_command(self: Any, fields: list[bytes]) -> None:
        if isinstance(self._server, _Listening) and fields:
            words = [field.decode("utf-8", "replace") for field in fields]
            self._server.seen.append([words[0].upper(), *words[1:]])
        process(self, fields)

    BaseFakeSocket._process_command = _process_command


_listen()


class FakeServer:
    """A server in this process. `url` and `pid` are None."""

    kind = "fake"
    name = "fake"
    url = pid = port = path = None

    def __init__(self) -> None:
        self._server = _Listening(version=(7,), server_type="redis")
        self._admin: redis.Redis | None = None

    def start(self) -> None:
        """Let clients connect."""
        self._server.connected = True

    def stop(self) -> None:
        """Drop the data, and let no client connect."""
        with self._server.lock:
            for db in self._server.dbs.values():
                db.clear()
            self._server.script_cache.clear()
        self._server.connected = False

    def restart_empty(self) -> None:
        """Come back without data and without scripts."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop for good."""
        if self._admin is not None:
            self._admin.close()
            self._admin = None

    def client(self, colour: str = "sync", driver: str = "redis", **options: Any) -> Any:
        """Make a client of `colour`: like redis-py's, or valkey-py's with `driver="valkey"`."""
        return CLIENTS[driver, colour](server=self._server, version=(7,), **options)

    @property
    def admin(self) -> redis.Redis:
        """A blocking client for looking at the server from outside; replies are text."""
        if self._admin is None:
            self._admin = self.client(decode_responses=True)
        return self._admin

    def connections_made(self) -> int:
        """Count the connections that were ever opened."""
        self.admin.ping()
        return self._server._next_client_id - 1

    @contextlib.contextmanager
    def listening(self) -> Iterator[list[list[str]]]:
        """See `Server.listening`."""
        seen: list[list[str]] = []
        self.admin.ping()
        start = len(self._server.seen)
        yield seen
        seen += [words for words in self._server.seen[start:] if not is_handshake(words)]


def fake_server() -> Any:
    """Make a fakeredis of one's own: a context manager, as for the real ones."""
    return running(FakeServer())

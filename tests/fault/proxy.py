"""A TCP proxy between a client and a server: a network that can be made to fail at will.

Script commands (EVALSHA and EVAL) meet the `fates` one by one, in the order in which they come, and
`otherwise` once those are used up; whatever else is sent, a handshake above all, only meets the
state of the network as a whole: `refuse()`, `cut()`, `deaf`, `mute` and the delays.

A connection that has lost a byte stays dead, as it would: TCP never skips one.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections import deque
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl
    from collections.abc import Coroutine, Iterable


HOST = "127.0.0.1"


class Fate(Enum):
    """What becomes of one script command, and of its answer."""

    PASS = "passes"
    CUT_BEFORE = "the connection is reset before the server gets it"
    CUT_AFTER = "the server carries it out, the connection is reset before the answer"
    TRUNCATE = "one byte of the answer arrives, then the connection is closed"
    SWALLOW = "the server carries it out, the answer and all later ones never arrive"
    LOSE = "neither it nor anything after it gets to the server; the connection stays open"
    HOLD = "the network keeps it until `let_go()`, even if the client is gone by then"


DEAD = (Fate.SWALLOW, Fate.LOSE)
"""A connection with such a fate never recovers."""


class _Link:
    """One connection of a client, and the one that it has to the server."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client = client
        self.server = server
        self.fate = Fate.PASS

    def reset(self) -> None:
        sock = self.client.get_extra_info("socket")
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.transport.abort()

    def close(self) -> None:
        self.client.transport.close()
        self.server.transport.close()


class Proxy:
    """See the module. Everything here may be used from any thread, while traffic flows."""

    def __init__(self, path: str, tls: ssl.SSLContext | None = None) -> None:
        self._path = path
        """The unix socket of the server."""
        self._tls = tls
        """How clients are spoken to, if not in the clear."""
        self.fates: deque[Fate] = deque()
        self.otherwise = Fate.PASS
        self.deaf = False
        """What clients send gets lost."""
        self.mute = False
        """What the server sends gets lost."""
        self.delay_up = 0.0
        """Seconds by which each command is late."""
        self.delay_down = 0.0
        """Seconds by which each piece of an answer is late."""
        self.scripts: list[tuple[bytes, ...]] = []
        """The script commands that clients have sent so far."""
        self.forwarded = 0
        """How many of them the server was sent."""
        self._links: set[_Link] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._gate = asyncio.Event()
        self._listener = self._do(self._listen(0))
        self.port: int = self._listener.sockets[0].getsockname()[1]

    def plan(self, *fates: Fate, otherwise: Fate = Fate.PASS) -> None:
        """Give the next script commands their fates; forget what was planned before."""
        self.otherwise = otherwise
        self.fates = deque(fates)

    def let_go(self) -> None:
        """Send on what is held, and hold nothing more."""
        self._loop.call_soon_threadsafe(self._gate.set)

    def cut(self) -> None:
        """Reset every connection that there is."""
        self._do(self._cut(list(self._links)))

    def refuse(self) -> None:
        """Refuse connections, as a machine does on whose port nobody listens."""
        self._do(self._stop_listening())

    def accept(self) -> None:
        """Take connections again."""
        self._listener = self._do(self._listen(self.port))

    def recover(self) -> None:
        """Take back what was done to the network as a whole."""
        self.deaf = self.mute = False
        self.delay_up = self.delay_down = 0.0
        if not self._listener.is_serving():
            self.accept()

    def fail(self) -> None:
        """Be a server that is down: no connections, and no new ones."""
        self.refuse()
        self.cut()

    def close(self) -> None:
        self.fail()
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def _do(self, what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(5)

    async def _cut(self, links: Iterable[_Link]) -> None:
        for link in links:
            link.reset()

    async def _listen(self, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._serve, HOST, port, ssl=self._tls)

    async def _stop_listening(self) -> None:
        self._listener.close()

    async def _end(self) -> None:
        self._gate.set()
        for link in self._links:
            link.close()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
        await asyncio.sleep(0)  # transports close in their next step

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, server = await asyncio.open_unix_connection(self._path)
        link = _Link(writer, server)
        self._links.add(link)
        pumps = (self._pump_commands(reader, link), self._pump_answers(answers, link))
        await asyncio.gather(*(self._until_closed(pump, link) for pump in pumps))
        self._links.discard(link)

    async def _until_closed(self, pump: Coroutine[Any, Any, None], link: _Link) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await pump
        link.close()

    async def _pump_commands(self, reader: asyncio.StreamReader, link: _Link) -> None:
        while command := await _read_command(reader):
            raw, parts = command
            is_script = parts[0] in (b"EVALSHA", b"EVAL")
            if is_script:
                self.scripts.append(parts)
            if is_script and link.fate not in DEAD:
                link.fate = self.fates.popleft() if self.fates else self.otherwise
            if self.delay_up:
                await asyncio.sleep(self.delay_up)
            if link.fate is Fate.CUT_BEFORE:
                link.reset()
                return
            if link.fate is Fate.HOLD:
                await self._gate.wait()
            if self.deaf or link.fate is Fate.LOSE:
                link.fate = Fate.LOSE
                continue
            link.server.write(raw)
            await link.server.drain()
            self.forwarded += is_script

    async def _pump_answers(self, answers: asyncio.StreamReader, link: _Link) -> None:
        while piece := await answers.read(65536):
            if self.delay_down:
                await asyncio.sleep(self.delay_down)
            if link.fate is Fate.CUT_AFTER:
                link.reset()
                return
            if link.fate is Fate.TRUNCATE:
                link.client.write(piece[:1])
                return
            if self.mute or link.fate is Fate.SWALLOW:
                link.fate = Fate.SWALLOW
                continue
            link.client.write(piece)


async def _read_command(reader: asyncio.StreamReader) -> tuple[bytes, tuple[bytes, ...]] | None:
    """Read one command as RESP has it, an array of strings; None at the end."""
    raw = await reader.readline()
    if not raw:
        return None
    parts = []
    for _ in range(int(raw[1:])):
        size = await reader.readline()
        body = await reader.readexactly(int(size[1:]) + 2)
        raw += size + body
        parts.append(body[:-2])
    return raw, tuple(parts)

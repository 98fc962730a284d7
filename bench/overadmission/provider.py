"""The provider's door: a Unix socket through which callers come in, one connection each.

`+<token>` asks to enter and is answered `ok` or `stop`; `-` leaves and is answered `ok`;
`=<outcome>` is not answered. A connection that closes takes its caller out at once.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bench.overadmission.ledger import Ledger


class Caller(asyncio.Protocol):
    """One connection."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Act on every whole line."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._act(line[:1], line[1:].decode())

    def _act(self, what: bytes, text: str) -> None:
        if what == b"=":
            self._ledger.note(text)
        elif what == b"-":
            self._ledger.leave(self)
            self._transport.write(b"ok\n")
        else:
            entered = self._ledger.enter(self, text)
            self._transport.write(b"ok\n" if entered else b"stop\n")

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the caller out."""
        del exc
        self._ledger.drop(self)


@asynccontextmanager
async def provider(ledger: Ledger, door: str) -> AsyncIterator[None]:
    """Keep the door open for the time of the block."""
    server = await asyncio.get_running_loop().create_unix_server(lambda: Caller(ledger), door)
    async with server:
        yield

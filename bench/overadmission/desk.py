"""A caller's side of the provider's door, in both colours.

Outcomes wait for the next word that has to be said anyway.
"""

from __future__ import annotations

import asyncio
import socket


class Desk:
    """What both colours do alike. A door that is gone counts as closed."""

    def __init__(self) -> None:
        self.open = True
        self.token = ""
        self._unsaid = b""

    def note(self, outcome: str) -> None:
        """Have the provider told with the next word."""
        self._unsaid += b"=%b\n" % outcome.encode()

    def _say(self, word: str) -> bytes:
        said, self._unsaid = self._unsaid + word.encode() + b"\n", b""
        return said

    def _hear(self, answer: bytes) -> bool:
        self.open = answer == b"ok\n"
        return self.open


class SyncDesk(Desk):
    """The desk of a thread."""

    def __init__(self, door: str) -> None:
        super().__init__()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(door)
        self._answers = self._socket.makefile("rb")

    def close(self) -> None:
        """Leave the door for good."""
        self._answers.close()
        self._socket.close()

    def enter(self, token: str) -> bool:
        """Ask to be let in, and wait for the answer."""
        self.token = token
        return self._ask(f"+{token}")

    def leave(self) -> None:
        """Leave, and wait until that is in the books."""
        self._ask("-")

    def _ask(self, word: str) -> bool:
        self._socket.sendall(self._say(word))
        return self._hear(self._answers.readline())


class AsyncDesk(Desk):
    """The desk of a task."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super().__init__()
        self._reader = reader
        self._writer = writer

    @classmethod
    async def at(cls, door: str) -> AsyncDesk:
        """Open one."""
        return cls(*await asyncio.open_unix_connection(door))

    def close(self) -> None:
        """Same as `SyncDesk.close`."""
        self._writer.close()

    async def enter(self, token: str) -> bool:
        """Same as `SyncDesk.enter`, but awaited."""
        self.token = token
        return await self._ask(f"+{token}")

    async def leave(self) -> None:
        """Same as `SyncDesk.leave`, but awaited."""
        await self._ask("-")

    async def _ask(self, word: str) -> bool:
        self._writer.write(self._say(word))
        return self._hear(await self._reader.readline())

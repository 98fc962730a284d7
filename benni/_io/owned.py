"""What `from_url` opens besides the client: an embedded server, where the URL asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benni._core.rules import invalid
from benni._io.process import process

if TYPE_CHECKING:
    from benni._io.clients import Colour
    from benni._io.embedded import EmbeddedServer

SCHEMES = ("redis://", "rediss://", "unix://")


class Owned:
    """A server's URL, and the server if it was started for it."""

    def __init__(self, url: str) -> None:
        self._generation = process.generation
        self._server: EmbeddedServer | None = None
        if isinstance(url, str) and url == "embedded://":
            from benni._io.embedded import EmbeddedServer  # noqa: PLC0415

            self._server = EmbeddedServer()
            self.url = self._server.url
        elif isinstance(url, str) and url.startswith(SCHEMES):
            self.url = url
        else:
            kinds = ", ".join((*SCHEMES, "embedded://"))
            raise invalid("client", "url", f"a string that starts with {kinds}", url)

    def connect(self, colour: Colour) -> Any:
        """Make a client of `colour`; it connects when it is first used."""
        import redis.asyncio  # noqa: PLC0415

        module: Any = redis if colour == "sync" else redis.asyncio
        return module.Redis.from_url(self.url)

    def close(self) -> None:
        """End the server. The child of a fork leaves its parent's alone."""
        server, self._server = self._server, None
        if server is not None and self._generation == process.generation:
            server.stop()

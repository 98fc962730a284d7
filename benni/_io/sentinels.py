"""How the keeper asks an asyncio client's sentinels where the primary is."""

from __future__ import annotations

import copy
from typing import Any


class Sentinels:
    """Tells a connection of the keeper's where the primary is, in the place of the client's pool.

    The pool would ask over connections that belong to the user's event loop.
    """

    def __init__(self, pool: Any) -> None:
        self.is_master = pool.is_master
        self.check_connection = pool.check_connection
        self._service = pool.service_name
        self._manager = copy.copy(pool.sentinel_manager)

    async def get_master_address(self) -> Any:
        """Ask the sentinels, each over a connection that is closed again."""
        manager = copy.copy(self._manager)
        manager.sentinels = [_twin(client) for client in manager.sentinels]
        clients = list(manager.sentinels)
        try:
            return await manager.discover_master(self._service)
        finally:
            for client in clients:
                await client.connection_pool.disconnect()


def _twin(client: Any) -> Any:
    """Make a client like `client`, with no connection yet."""
    pool = client.connection_pool
    twin = type(pool)(connection_class=pool.connection_class, **pool.connection_kwargs)
    return type(client)(connection_pool=twin)

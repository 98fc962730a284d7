"""valkey-py's clients have their colour too. Checked, never run."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

from benni import AsyncBenni, AsyncSemaphore, Benni, Semaphore, SyncBenni, SyncSemaphore

if TYPE_CHECKING:
    import valkey
    import valkey.asyncio


def blocking(client: valkey.Valkey, cluster: valkey.ValkeyCluster) -> None:
    """Blocking clients make blocking handles and primitives."""
    assert_type(Benni(client), SyncBenni)
    assert_type(Semaphore(client=client, limit=1), SyncSemaphore)
    assert_type(Semaphore(client=cluster, limit=1), SyncSemaphore)


def awaited(client: valkey.asyncio.Valkey, cluster: valkey.asyncio.ValkeyCluster) -> None:
    """Asyncio clients make awaited ones."""
    assert_type(Benni(client), AsyncBenni)
    assert_type(Semaphore(client=client, limit=1), AsyncSemaphore)
    assert_type(Semaphore(client=cluster, limit=1), AsyncSemaphore)

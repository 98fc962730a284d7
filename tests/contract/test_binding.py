"""`Benni`: a schema bound to a client, and the namespace that comes of it."""

from __future__ import annotations

import gc

import pytest

from benni import AsyncBenni, AsyncSemaphore, Benni, BenniError, SyncBenni, SyncSemaphore
from benni.primitives import Semaphore
from benni.schema import semaphore

pytestmark = pytest.mark.engines("fake")


class schema:  # noqa: N801
    """Declares two."""

    slots = semaphore("provider", limit=20, lease_ms=60_000)
    jobs = semaphore("jobs", limit=3)


@pytest.fixture
def client(server, colour):
    """Give a handle of either colour."""
    return Benni(server.client(colour), schema=schema)


def test_binding_sends_nothing(server, colour):
    """Neither binding nor naming a primitive costs a round trip."""
    with server.listening() as seen:
        client = Benni(server.client(colour), schema=schema)
        assert client.query.slots.key("x") == "provider:x"
        assert client[schema.jobs].limit == 3
    assert seen == []


def test_the_client_decides_the_colour(client, colour):
    """`Benni(...)` is a `SyncBenni` or an `AsyncBenni`, and so are its primitives."""
    assert type(client) is (SyncBenni if colour == "sync" else AsyncBenni)
    assert isinstance(client, Benni)
    wanted = SyncSemaphore if colour == "sync" else AsyncSemaphore
    assert type(client.query.slots) is wanted
    assert isinstance(client.query.slots, Semaphore)


def test_the_coloured_class_may_be_named(server, colour):
    """`SyncBenni(...)` and `SyncSemaphore(...)` take their own colour, and no other."""
    client = server.client(colour)
    right, wrong = (SyncBenni, AsyncBenni) if colour == "sync" else (AsyncBenni, SyncBenni)
    assert type(right(client, schema=schema)) is right
    with pytest.raises(TypeError, match="client"):
        wrong(client, schema=schema)
    pools = {"sync": SyncSemaphore, "async": AsyncSemaphore}
    assert type(pools.pop(colour)(client=client, limit=1)) is not None
    with pytest.raises(TypeError, match="client"):
        pools.popitem()[1](client=client, limit=1)


def test_a_primitive_has_the_options_of_its_declaration(client):
    """What was declared is what is bound."""
    pool = client.query.slots
    assert (pool.prefix, pool.limit, pool.lease_ms) == ("provider", 20, 60_000)
    assert pool.key(7) == "provider:7"
    assert "provider" in repr(pool)


def test_the_typed_way_gives_the_same_primitive(client):
    """`client[schema.slots]` and `client.query.slots` are one object, each time."""
    assert client[schema.slots] is client.query.slots
    assert client.query.slots is client.query.slots
    assert client.query.slots is not client.query.jobs


async def test_a_declaration_that_was_never_bound_works(client, server, colour):
    """`client[declaration]` needs no schema, and uses the declaration's keys."""
    elsewhere = semaphore("elsewhere", limit=1)
    pool = client[elsewhere]
    assert client[elsewhere] is pool
    assert "elsewhere" not in client.query
    held = pool.acquire("x") if colour == "sync" else await pool.acquire("x")
    assert server.admin.zcard("elsewhere:x") == 1
    assert (held.release() if colour == "sync" else await held.release()) is True


def test_a_handle_without_a_schema_is_empty(server, colour):
    """The schema may be left out."""
    client = Benni(server.client(colour))
    assert len(client.query) == 0
    assert client[schema.slots].limit == 20


def test_the_namespace_is_a_collection_of_names(client):
    """`dir()`, iteration, `in` and `len` tell what is declared."""
    assert list(client.query) == ["slots", "jobs"]
    assert {"slots", "jobs"} <= set(dir(client.query))
    assert "slots" in client.query
    assert "other" not in client.query
    assert 7 not in client.query
    assert len(client.query) == 2


def test_the_namespace_shows_each_declaration(client):
    """Its `repr` has the name, the prefix and the limit of each."""
    shown = repr(client.query)
    for part in ("slots", "provider", "20", "jobs", "3"):
        assert part in shown
    assert "slots" in repr(client)


@pytest.mark.parametrize(
    ("wrong", "near"), [("slot", "slots"), ("slotz", "slots"), ("job", "jobs")]
)
def test_a_wrong_name_lists_near_misses(client, wrong, near):
    """A typo is an `AttributeError` that says what was meant."""
    with pytest.raises(AttributeError) as refused:
        getattr(client.query, wrong)
    assert repr(near) in str(refused.value)
    assert "did you mean" in str(refused.value)
    assert (refused.value.name, refused.value.obj) == (wrong, client.query)
    assert getattr(client.query, wrong, None) is None


def test_a_wrong_name_without_a_near_miss_lists_all(client):
    """Where nothing is near, the message says what there is."""
    with pytest.raises(AttributeError) as refused:
        _ = client.query.zzz
    assert "did you mean" not in str(refused.value)
    assert "slots" in str(refused.value)
    assert "jobs" in str(refused.value)


async def test_client_takes_a_handle(client, server, colour):
    """`Semaphore(client=...)` takes a Benni handle: same client, same keys, same pool."""
    pool = Semaphore(client=client, prefix="provider", limit=20)
    assert type(pool) is type(client.query.slots)
    if colour == "sync":
        with pool.acquire("x"):
            assert client.query.slots.count("x") == 1
    else:
        async with await pool.acquire("x"):
            assert await client.query.slots.count("x") == 1


def test_a_handle_may_be_bound_again(client):
    """A handle is as good as its client: another schema may be bound to it."""
    more = Benni(client, schema={"more": semaphore("more", limit=1)})
    assert type(more) is type(client)
    assert list(more.query) == ["more"]
    assert more.client is client.client


async def test_a_client_that_was_passed_in_stays_open(client, server, colour):
    """Closing a handle leaves the user's client alone, and the handle is of no use after."""
    redis = client.client
    if colour == "sync":
        with client as entered:
            assert entered is client
        assert redis.ping() is True
        client.close()
    else:
        async with client as entered:
            assert entered is client
        assert await redis.ping() is True
        await client.aclose()
    with pytest.raises(BenniError, match="closed"):
        _ = client.query.slots
    with pytest.raises(BenniError, match="closed"):
        _ = client[schema.slots]
    assert Semaphore(client=redis, limit=1).key("x") == "semaphore:x"


def test_a_primitive_outlives_its_handle(server, colour):
    """A semaphore may be kept when the handle is not."""
    pool = Benni(server.client(colour), schema=schema).query.slots
    gc.collect()
    assert pool.key("x") == "provider:x"


def test_only_from_url_knows_a_url(client):
    """A handle made of a client cannot say where it is."""
    with pytest.raises(BenniError, match="from_url"):
        _ = client.url

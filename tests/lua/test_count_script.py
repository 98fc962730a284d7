"""`count.lua` alone, and what all scripts have in common."""

from __future__ import annotations

import pytest
import redis
from lua.pools import FAR, server_ms

from benni.primitives.semaphore.core import ACQUIRE, COUNT


def test_nobody(pool):
    """A key that is not there has no holders."""
    assert pool.count() == 0


@pytest.mark.parametrize(
    ("ends", "live"),
    [
        ({"a": 1000}, 1),
        ({"a": 1000, "b": 2000}, 2),
        ({"a": -1, "b": 1000}, 1),
        ({"a": 0}, 0),
        ({"a": 1}, 1),
    ],
)
def test_live_holders(pool, ends, live):
    """Holders whose lease has not ended are counted, and no others."""
    pool.put(**ends)
    assert pool.count() == live


def test_nothing_is_written(pool):
    """Expired holders stay where they are, and so does the expiry."""
    pool.put(a=-1000, b=1000)
    pool.count()
    assert (pool.holders, pool.expiry()) == ({"a": -1000, "b": 1000}, 1000)


def test_nothing_is_made(pool):
    """Counting where nothing is leaves nothing."""
    pool.count()
    assert pool.redis.keys() == []


@pytest.mark.engines("valkey", "redis")
def test_a_replica_could_run_it(pool):
    """It writes nothing in the eyes of the server either."""
    pool.put(a=1000)
    assert pool.redis.eval_ro(pool.text("count"), 1, pool.key) == 1


@pytest.mark.parametrize("call", ["acquire", "extend", "release", "count"])
def test_a_key_of_another_kind(pool, call):
    """A key that holds something else is left alone, with the server's own error."""
    pool.redis.set(pool.key, "a string", px=60_000)
    run = getattr(pool, call)
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        run() if call == "count" else run("a")
    assert pool.redis.get(pool.key) == "a string"


def test_the_clock_is_the_servers(pool):
    """Outside these tests a script reads the time of the server that runs it, in milliseconds."""
    before = server_ms(pool.redis)
    pool.redis.eval(ACQUIRE.text, 2, pool.key, pool.void, 1, FAR, "a")
    ends = pool.redis.zscore(pool.key, "a")
    assert before + FAR <= ends <= server_ms(pool.redis) + FAR
    assert ends == int(ends)
    assert pool.redis.eval(COUNT.text, 1, pool.key) == 1

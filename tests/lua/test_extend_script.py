"""`extend.lua` alone."""

from __future__ import annotations

import pytest

EITHER = pytest.mark.parametrize("at_least", [False, True])


@EITHER
def test_held(pool, at_least):
    """A lease that is held goes on until a length from now."""
    pool.put(a=1000)
    assert pool.extend("a", lease=5000, at_least=at_least) == 1
    assert pool.holders == {"a": 5000}


@EITHER
def test_gone(pool, at_least):
    """What is not there is not made (swarthy/redis-semaphore#175)."""
    pool.put(b=1000)
    assert pool.extend("a", at_least=at_least) == 0
    assert set(pool.holders) == {"b"}


@EITHER
def test_without_a_key(pool, at_least):
    """Nor is it made where nothing is."""
    assert pool.extend("a", at_least=at_least) == 0
    assert pool.redis.keys() == []


@EITHER
@pytest.mark.parametrize("ago", [-1, -1000])
def test_an_expired_lease_is_not_revived(pool, at_least, ago):
    """Being in the set is not holding: the slot may have been counted as free already."""
    pool.put(a=ago)
    assert pool.extend("a", at_least=at_least) == 0
    assert pool.holders == {"a": ago}


@EITHER
def test_a_lease_at_its_end_is_not_revived(pool, at_least):
    """The moment of the end is no longer part of the lease."""
    pool.put(a=0)
    assert pool.extend("a", at_least=at_least) == 0


@EITHER
def test_a_lease_before_its_end_goes_on(pool, at_least):
    """A millisecond before the end is in time."""
    pool.put(a=1)
    assert pool.extend("a", at_least=at_least) == 1


def test_a_wish_for_less(pool):
    """An extension says how long from now, which may be sooner."""
    pool.put(a=30_000)
    pool.extend("a", lease=1000)
    assert pool.holders == {"a": 1000}


def test_a_renewal_never_shortens(pool):
    """With `at_least` a later end stays: a renewal does not undo the holder's own extension."""
    pool.put(a=30_000)
    assert pool.extend("a", lease=1000, at_least=True) == 1
    assert pool.holders == {"a": 30_000}


def test_several_permits(pool):
    """All permits of a lease go on together."""
    pool.put(**{"a": 1000, "a:2": 1000})
    assert pool.extend("a", "a:2", lease=5000) == 1
    assert pool.holders == {"a": 5000, "a:2": 5000}


@pytest.mark.parametrize("ends", [{"a": 1000}, {"a": 1000, "a:2": -1}, {"a:2": 1000}])
def test_several_permits_or_none(pool, ends):
    """If one is gone or expired, none is extended."""
    pool.put(**ends)
    assert pool.extend("a", "a:2") == 0
    assert pool.holders == ends


@EITHER
def test_the_key_lives_as_long(pool, at_least):
    """The key's expiry moves with the lease that ends last."""
    pool.acquire("a", lease=1000)
    pool.extend("a", lease=9000, at_least=at_least)
    assert pool.expiry() == 9000


@EITHER
def test_the_key_outlives_the_others(pool, at_least):
    """A short extension does not shorten another's lease."""
    pool.acquire("a", lease=9000)
    pool.acquire("b", lease=1000)
    pool.extend("b", lease=2000, at_least=at_least)
    assert pool.expiry() == 9000


def test_nobody_is_dropped(pool):
    """Only an acquire drops expired holders."""
    pool.put(a=1000, b=-1000)
    pool.extend("a")
    assert set(pool.holders) == {"a", "b"}

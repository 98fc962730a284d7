"""`acquire.lua` alone."""

from __future__ import annotations

import pytest
from lua.pools import FAR


def test_room(pool):
    """A free slot is taken until a lease from now."""
    assert pool.acquire("a", lease=5000) == 1
    assert pool.holders == {"a": 5000}


def test_no_room(pool):
    """A full pool refuses, and nothing is written."""
    pool.put(a=1000, b=1000)
    assert pool.acquire("c") == 0
    assert (pool.holders, pool.expiry()) == ({"a": 1000, "b": 1000}, 1000)


def test_no_room_above_the_limit(pool):
    """A pool that holds more than the limit, because that was lowered, refuses as well."""
    pool.put(a=1000, b=1000, c=1000)
    assert pool.acquire("d", limit=2) == 0


def test_the_last_slot(pool):
    """The limit itself may be held."""
    pool.put(a=1000)
    assert pool.acquire("b", limit=2) == 1


@pytest.mark.parametrize("ago", [-1, -1000])
def test_an_expired_holder_is_dropped(pool, ago):
    """Its slot is free again, and its member is gone."""
    pool.put(a=ago, b=1000)
    assert pool.acquire("c") == 1
    assert set(pool.holders) == {"b", "c"}


def test_expired_holders_are_dropped_by_a_refusal(pool):
    """A refused acquire tidies up as well."""
    pool.put(a=1000, b=1000, c=-1)
    assert pool.acquire("d") == 0
    assert set(pool.holders) == {"a", "b"}


def test_a_lease_ends_at_its_end(pool):
    """The moment of the end is no longer part of the lease: a score at now is expired."""
    pool.put(a=0)
    assert pool.acquire("b", limit=1) == 1
    assert set(pool.holders) == {"b"}


def test_a_lease_is_held_until_its_end(pool):
    """A millisecond before the end it takes its slot still."""
    pool.put(a=1)
    assert pool.acquire("b", limit=1) == 0


def test_a_token_that_holds_is_success(pool):
    """A command that is sent again takes no second slot (pacman82/throttle#18)."""
    assert [pool.acquire("a"), pool.acquire("a")] == [1, 1]
    assert set(pool.holders) == {"a"}


def test_a_token_that_holds_is_success_in_a_full_pool(pool):
    """Room is for newcomers to need."""
    pool.put(a=1000, b=1000)
    assert pool.acquire("a", limit=2) == 1


def test_a_token_that_holds_is_refreshed(pool):
    """The lease counts from the copy that was answered."""
    pool.put(a=1000)
    pool.acquire("a", lease=30_000)
    assert pool.holders == {"a": 30_000}


def test_a_token_that_has_expired_needs_room(pool):
    """An expired holder is a newcomer."""
    pool.put(a=-1, b=1000, c=1000)
    assert pool.acquire("a") == 0
    assert "a" not in pool.holders


@pytest.mark.parametrize("members", [("a",), ("a", "a:2")])
def test_a_voided_token_is_refused(pool, members):
    """A copy that comes after its owner has given up takes nothing for nobody (sim#6864)."""
    pool.put_void(a=1000)
    assert pool.acquire(*members) == 0
    assert pool.holders == {}


def test_another_token_is_not_voided(pool):
    """Only the token that was given back is refused."""
    pool.put_void(a=1000)
    assert pool.acquire("b") == 1


def test_several_permits(pool):
    """Each permit is a member, all with the same end."""
    assert pool.acquire("a", "a:2", "a:3", limit=3) == 1
    assert pool.holders == {"a": FAR, "a:2": FAR, "a:3": FAR}


def test_several_permits_or_none(pool):
    """What does not fit whole is refused whole."""
    pool.put(x=1000)
    assert pool.acquire("a", "a:2", "a:3", limit=3) == 0
    assert set(pool.holders) == {"x"}


def test_several_permits_that_are_held(pool):
    """Sent again, they are the same ones."""
    pool.acquire("a", "a:2", limit=2)
    assert pool.acquire("a", "a:2", limit=2) == 1
    assert set(pool.holders) == {"a", "a:2"}


def test_the_first_holder_sets_the_expiry(pool):
    """The key expires with its lease."""
    pool.acquire("a", lease=5000)
    assert pool.expiry() == 5000


def test_a_longer_lease_moves_the_expiry(pool):
    """The key lives as long as the lease that ends last."""
    pool.acquire("a", lease=5000)
    pool.acquire("b", lease=9000)
    assert pool.expiry() == 9000


def test_a_shorter_lease_does_not(pool):
    """A short lease never shortens another's."""
    pool.acquire("a", lease=9000)
    pool.acquire("b", lease=5000)
    assert pool.expiry() == 9000


def test_the_expiry_is_set_anew_after_the_last(pool):
    """When all that is left has expired, the key's old time does not matter."""
    pool.put(a=-1000)
    pool.redis.persist(pool.key)
    pool.acquire("b", lease=5000)
    assert pool.expiry() == 5000


def test_a_refusal_makes_no_key(pool):
    """Asking for what cannot be had leaves nothing behind."""
    assert pool.acquire("a", "a:2", "a:3", limit=2) == 0
    assert pool.redis.keys() == []


def test_a_foreign_holder_counts(pool):
    """A member that another implementation wrote takes a slot like any other."""
    pool.put(**{"1b4e28ba-2fa1-11d2-883f-0016d3cca427": 1000})
    assert pool.acquire("a", limit=1) == 0


@pytest.mark.engines("valkey", "redis")
def test_many_permits(pool):
    """A heavy request is one call, up to what Lua can unpack at once."""
    permits = 7900
    members = ["a", *(f"a:{n}" for n in range(2, permits + 1))]
    assert pool.acquire(*members, limit=permits) == 1
    assert pool.redis.zcard(pool.key) == permits
    assert pool.extend(*members) == 1
    assert pool.release(*members) == 1

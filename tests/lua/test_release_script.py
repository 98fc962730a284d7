"""`release.lua` alone."""

from __future__ import annotations

import pytest
from lua.pools import FAR

EITHER = pytest.mark.parametrize("remember", [0, FAR])


@EITHER
def test_held(pool, remember):
    """A lease that is held is let go; others stay."""
    pool.put(a=1000, b=1000)
    assert pool.release("a", remember=remember) == 1
    assert set(pool.holders) == {"b"}


@EITHER
def test_the_last_one(pool, remember):
    """The key goes with its last holder."""
    pool.put(a=1000)
    pool.release("a", remember=remember)
    assert not pool.redis.exists(pool.key)


@EITHER
def test_held_until_its_end(pool, remember):
    """A millisecond before the end it is held still."""
    pool.put(a=1)
    assert pool.release("a", remember=remember) == 1


@EITHER
@pytest.mark.parametrize("ago", [0, -1, -1000])
def test_expired(pool, remember, ago):
    """What has expired was not held until now, and is removed all the same."""
    pool.put(a=ago)
    assert pool.release("a", remember=remember) == 0
    assert pool.holders == {}


@EITHER
def test_unknown(pool, remember):
    """What is not there was not held."""
    pool.put(b=1000)
    assert pool.release("a", remember=remember) == 0
    assert set(pool.holders) == {"b"}


def test_again(pool):
    """A second release finds nothing."""
    pool.put(a=1000)
    assert [pool.release("a"), pool.release("a")] == [1, 0]


@EITHER
def test_several_permits(pool, remember):
    """All permits go together."""
    pool.put(**{"a": 1000, "a:2": 1000, "b": 1000})
    assert pool.release("a", "a:2", remember=remember) == 1
    assert set(pool.holders) == {"b"}


@EITHER
@pytest.mark.parametrize("ends", [{"a": 1000}, {"a": 1000, "a:2": -1}, {"a:2": 1000}])
def test_several_permits_of_which_one_is_gone(pool, remember, ends):
    """The lease was whole or it was not held; what is left of it is let go."""
    pool.put(**ends)
    assert pool.release("a", "a:2", remember=remember) == 0
    assert pool.holders == {}


def test_nothing_is_remembered_unasked(pool):
    """The usual release leaves nothing behind."""
    pool.put(a=1000)
    pool.release("a")
    assert pool.redis.keys() == []


@pytest.mark.parametrize("held", [True, False])
def test_a_copy_gets_the_same_answer(pool, held):
    """The answer of the first copy may have been lost, so that of the second is the same."""
    pool.put(a=1000 if held else -1)
    answers = [pool.release("a", remember=FAR) for _ in range(3)]
    assert answers == [int(held)] * 3


@pytest.mark.parametrize("held", [True, False])
def test_a_copy_of_several_permits_gets_the_same_answer(pool, held):
    """So it is with several permits."""
    pool.put(**{"a": 1000, "a:2": 1000 if held else -1})
    answers = [pool.release("a", "a:2", remember=FAR) for _ in range(2)]
    assert answers == [int(held)] * 2


@pytest.mark.parametrize("held", [True, False])
def test_a_late_acquire_is_refused(pool, held):
    """What was given back does not come back, whether it had been taken or not."""
    if held:
        pool.acquire("a")
    pool.release("a", remember=FAR)
    assert pool.acquire("a") == 0
    assert pool.holders == {}


def test_a_release_that_comes_first_takes_what_is_there(pool):
    """A token in the void that holds in spite of it is removed."""
    pool.put_void(a=1000)
    pool.put(a=1000)
    assert pool.release("a", remember=FAR) == 1
    assert pool.holders == {}


def test_what_is_remembered_is_forgotten(pool):
    """Each release that remembers drops what is older than its time."""
    pool.put_void(**{"old": -1, "old:0": 0, "new": 1})
    pool.release("a", remember=FAR)
    assert set(pool.voided) == {"a", "a:0", "new"}


@pytest.mark.parametrize("held", [True, False])
def test_the_void_expires(pool, held):
    """It lives as long as the last token in it has to be remembered."""
    pool.put(a=1000 if held else -1)
    pool.release("a", remember=5000)
    assert pool.expiry(pool.void) == 5000


def test_a_token_is_remembered_for_its_time(pool):
    """Each token's time is its own, counted from when it was let go."""
    pool.put_void(b=1000)
    pool.release("a", remember=5000)
    assert pool.voided == {"b": 1000, "a": 5000, "a:0": 5000}


def test_the_expiry_of_the_holders_is_left_alone(pool):
    """Letting go moves nobody's end."""
    pool.acquire("a", lease=9000)
    pool.acquire("b", lease=1000)
    pool.release("b", remember=FAR)
    assert pool.expiry() == 9000

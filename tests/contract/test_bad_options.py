"""Bad options: one style of message, raised where they are written, and nothing is sent.

The client's port is closed, so that a command would end in a connection error.
"""

from __future__ import annotations

import math

import pytest
import redis
import redis.asyncio

from benni import BenniError, Semaphore, ValidationError
from benni.schema import semaphore

NOBODY = {"port": 1, "socket_connect_timeout": 0.2}
SURROGATE = "\ud800"

DECLARATION = [
    ({"limit": 0}, "limit must be a positive integer, received 0"),
    ({"limit": -1}, "limit must be a positive integer, received -1"),
    ({"limit": True}, "limit must be a positive integer, received True"),
    ({"limit": 20.0}, "limit must be a positive integer, received 20.0"),
    ({"limit": "20"}, "limit must be a positive integer, received '20'"),
    ({"limit": None}, "limit must be a positive integer, received None"),
    ({"limit": math.nan}, "limit must be a positive integer, received nan"),
    ({"lease_ms": 0}, "lease_ms must be a positive integer, received 0"),
    ({"lease_ms": -5}, "lease_ms must be a positive integer, received -5"),
    ({"lease_ms": False}, "lease_ms must be a positive integer, received False"),
    ({"lease_ms": 1e3}, "lease_ms must be a positive integer, received 1000.0"),
    ({"lease_ms": "1000"}, "lease_ms must be a positive integer, received '1000'"),
    ({"prefix": ""}, "prefix must be a non-empty string, received ''"),
    ({"prefix": None}, "prefix must be a non-empty string, received None"),
    ({"prefix": 7}, "prefix must be a non-empty string, received 7"),
    ({"prefix": b"p"}, "prefix must be a non-empty string, received b'p'"),
    ({"prefix": SURROGATE}, "prefix must be a non-empty string, received '\\ud800'"),
]

ID = "id must be a non-empty string or an integer"
IDS = [
    ("", f"{ID}, received ''"),
    (None, f"{ID}, received None"),
    (True, f"{ID}, received True"),
    (1.5, f"{ID}, received 1.5"),
    (b"x", f"{ID}, received b'x'"),
    (("x",), f"{ID}, received ('x',)"),
    (SURROGATE, f"{ID}, received '\\ud800'"),
]

ACQUIRE = [
    ({"permits": 0}, "permits must be an integer from 1 to limit (20), received 0"),
    ({"permits": 21}, "permits must be an integer from 1 to limit (20), received 21"),
    ({"permits": -1}, "permits must be an integer from 1 to limit (20), received -1"),
    ({"permits": True}, "permits must be an integer from 1 to limit (20), received True"),
    ({"permits": 1.0}, "permits must be an integer from 1 to limit (20), received 1.0"),
    ({"lease_ms": 0}, "lease_ms must be a positive integer, received 0"),
    ({"lease_ms": True}, "lease_ms must be a positive integer, received True"),
    ({"lease_ms": "1000"}, "lease_ms must be a positive integer, received '1000'"),
    ({"retries": -1}, "retries must be a non-negative integer, received -1"),
    ({"retries": True}, "retries must be a non-negative integer, received True"),
    ({"retries": 1.5}, "retries must be a non-negative integer, received 1.5"),
    ({"retries": None}, "retries must be a non-negative integer, received None"),
    ({"retry_delay_ms": -1}, "retry_delay_ms must be a non-negative integer, received -1"),
    ({"retry_delay_ms": 0.5}, "retry_delay_ms must be a non-negative integer, received 0.5"),
]

RUN = [
    *ACQUIRE,
    (
        {"lease_ms": 1000, "heartbeat_ms": 2000},
        "heartbeat_ms must be at most half of lease_ms (1000), received 2000",
    ),
    (
        {"lease_ms": 1000, "heartbeat_ms": 501},
        "heartbeat_ms must be at most half of lease_ms (1000), received 501",
    ),
    (
        {"heartbeat_ms": 60_000},
        "heartbeat_ms must be at most half of lease_ms (60000), received 60000",
    ),
    ({"heartbeat_ms": 0}, "heartbeat_ms must be a positive integer or False, received 0"),
    ({"heartbeat_ms": -1}, "heartbeat_ms must be a positive integer or False, received -1"),
    ({"heartbeat_ms": True}, "heartbeat_ms must be a positive integer or False, received True"),
    ({"heartbeat_ms": 1.5}, "heartbeat_ms must be a positive integer or False, received 1.5"),
    ({"on_lost": "abort"}, 'on_lost must be "signal" or "cancel", received \'abort\''),
    ({"on_lost": None}, 'on_lost must be "signal" or "cancel", received None'),
    ({"on_renew_error": "log"}, "on_renew_error must be callable, received 'log'"),
]


@pytest.fixture
def client(colour):
    """Give a client that reaches nobody."""
    return redis.Redis(**NOBODY) if colour == "sync" else redis.asyncio.Redis(**NOBODY)


@pytest.fixture
def slots(client):
    """Give a semaphore on it, with its default lease of a minute."""
    return Semaphore(client=client, limit=20)


@pytest.fixture
def refuses(colour):
    """Give what checks that a call is refused with these words, before anything is sent."""

    async def refuses(words, call, *args, **options):
        with pytest.raises(ValidationError) as refused:
            result = call(*args, **options)
            if colour == "async":
                await result
        assert str(refused.value) == f"semaphore {words}"
        assert isinstance(refused.value, BenniError)
        assert isinstance(refused.value, ValueError)

    return refuses


def body():
    pytest.fail("the body ran")


@pytest.mark.parametrize(("options", "words"), DECLARATION)
def test_a_declaration_refuses(options, words):
    """`semaphore(...)` raises where the bad option is written."""
    with pytest.raises(ValidationError) as refused:
        semaphore(**{"prefix": "p", "limit": 1, **options})
    assert str(refused.value) == f"semaphore {words}"


@pytest.mark.parametrize(("options", "words"), DECLARATION)
def test_the_constructor_refuses(client, options, words):
    """`Semaphore(client=...)` has the same rules and the same words."""
    with pytest.raises(ValidationError) as refused:
        Semaphore(**{"client": client, "limit": 1, **options})
    assert str(refused.value) == f"semaphore {words}"


@pytest.mark.parametrize(("id", "words"), IDS)
async def test_every_call_refuses_a_bad_id(slots, refuses, id, words):
    """An id that could not name a key of its own is refused by each call that takes one."""
    await refuses(words, slots.acquire, id)
    await refuses(words, slots.run, id, body)
    await refuses(words, slots.count, id)
    for call in (slots.key, slots.hold, slots.limited):
        with pytest.raises(ValidationError) as refused:
            call(id)
        assert str(refused.value) == f"semaphore {words}"


@pytest.mark.parametrize(("options", "words"), ACQUIRE)
async def test_acquire_refuses(slots, refuses, options, words):
    """`acquire` checks its options first."""
    await refuses(words, slots.acquire, "x", **options)


@pytest.mark.parametrize(("options", "words"), RUN)
async def test_run_hold_and_limited_refuse(slots, refuses, options, words):
    """`run` checks its options before a slot is taken; `hold` and `limited` when called."""
    await refuses(words, slots.run, "x", body, **options)
    for call in (slots.hold, slots.limited):
        with pytest.raises(ValidationError) as refused:
            call("x", **options)
        assert str(refused.value) == f"semaphore {words}"


@pytest.mark.parametrize("good", [1, 500, False])
async def test_a_heartbeat_of_up_to_half_the_lease_is_fine(world, good):
    """The longest interval that leaves room for a second try is half of the lease."""
    slots = world.semaphore(limit=1)

    async def body():
        return "done"

    assert await slots.run("x", body, lease_ms=1000, heartbeat_ms=good) == "done"


@pytest.mark.colours("sync")
async def test_a_blocking_client_cannot_cancel(slots, refuses):
    """A thread cannot be cancelled, so `on_lost="cancel"` is refused with a blocking client."""
    words = "on_lost must be \"signal\" with a blocking client, received 'cancel'"
    await refuses(words, slots.run, "x", body, on_lost="cancel")


async def test_a_misspelt_option_is_a_type_error(slots, colour):
    """A name that no call knows is refused as Python refuses a misspelt parameter."""
    for call, args, name in (
        (slots.acquire, ("x",), "retry"),
        (slots.acquire, ("x",), "heartbeat_ms"),
        (slots.run, ("x", body), "lease"),
        (slots.hold, ("x",), "onlost"),
        (slots.limited, ("x",), "permit"),
    ):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            result = call(*args, **{name: 1})
            if colour == "async" and hasattr(result, "__await__"):
                await result


@pytest.mark.parametrize("missing", ["prefix", "limit"])
def test_a_declaration_without_its_options_is_a_type_error(missing):
    """What is required is asked for, and what is unknown is refused, by name."""
    options = {"prefix": "p", "limit": 1}
    del options[missing]
    with pytest.raises(TypeError, match=missing):
        semaphore(**options)
    with pytest.raises(TypeError, match="lease"):
        semaphore("p", limit=1, lease=5)


async def test_the_longest_lease_is_some_thirty_years(slots, refuses):
    """A duration that would not be exact on the server is refused, and says what is allowed."""
    words = f"lease_ms must be at most {10**12}, received {10**12 + 1}"
    await refuses(words, slots.acquire, "x", lease_ms=10**12 + 1)

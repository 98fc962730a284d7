"""A release whose answer is lost is no loss, takes no result away, and lets the slot go."""

from __future__ import annotations

import time

import pytest
import redis
from proxy import Fate
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError

pytestmark = pytest.mark.engines("valkey")
either = pytest.mark.engines("valkey", "redis")

LEASE_MS = 60_000
"""Far longer than a test: nothing here comes right because a lease lapses."""

LOST = [Fate.SWALLOW, Fate.CUT_AFTER, Fate.TRUNCATE, Fate.CUT_BEFORE]


async def pool(far, client=None, **options):
    """Make a pool of one slot beyond the proxy, on a server that knows the scripts."""
    slots = far.semaphore(client, limit=1, **{"lease_ms": LEASE_MS, **options})
    await (await slots.acquire("warm")).release()
    return slots


@either
@pytest.mark.parametrize("fate", LOST)
async def test_a_release_that_is_sent_again_returns_true(far, proxy, fate):
    """`release()` whose answer was lost, and which redis-py sends again, was no loss: True."""
    slots = await pool(far)
    held = await slots.acquire("x")
    proxy.plan(fate)
    assert await held.release() is True
    assert not held.signal.aborted
    assert far.members(held.key) == {}
    assert await held.release() is False


@either
@pytest.mark.parametrize("fate", LOST)
async def test_a_run_whose_release_is_lost_returns_its_result(far, proxy, caplog, fate):
    """`run` takes a lost answer to its release for no loss, and the slot is free soon after."""
    slots = await pool(far)
    signals = []

    async def body(held):
        signals.append(held.signal)
        return "result"

    proxy.plan(Fate.PASS, fate)
    assert await slots.run("x", body) == "result"
    await wait_until(lambda: far.members(slots.key("x")) == {})
    assert not signals[0].aborted


@either
@pytest.mark.parametrize("fate", [Fate.SWALLOW, Fate.LOSE, Fate.CUT_AFTER, Fate.TRUNCATE])
async def test_a_release_that_is_not_answered_can_be_repeated(far, proxy, fate):
    """`release()` raises when no answer arrives at all; called again, it says how it ended."""
    slots = await pool(far)
    held = await slots.acquire("x")
    proxy.plan(*[fate] * 4)
    with pytest.raises((redis.TimeoutError, redis.ConnectionError)):
        await held.release()
    assert await held.release() is True
    assert far.members(held.key) == {}


async def test_a_release_that_is_never_answered_leaves_no_slot(far, proxy):
    """While the server is gone `run` still returns its result; the slot is free once it is back."""
    slots = await pool(far)

    async def body():
        proxy.fail()
        return "result"

    assert await slots.run("x", body) == "result"
    assert far.members(slots.key("x")), "not the accident that this test is about"
    proxy.accept()
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)


async def test_a_release_that_could_not_be_sent_leaves_no_slot(far, proxy):
    """The same where not even a connection could be had to send the release on."""
    client = far.client()
    slots = await pool(far, client)

    async def body():
        await far.do(client.connection_pool.disconnect)
        proxy.fail()
        return "result"

    assert await slots.run("x", body) == "result"
    proxy.accept()
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)


async def test_an_explicit_release_that_could_not_be_sent_leaves_no_slot(far, proxy):
    """`release()` raises where no connection can be had; the slot is given back all the same."""
    client = far.client()
    slots = await pool(far, client)
    held = await slots.acquire("x")
    await far.do(client.connection_pool.disconnect)
    proxy.fail()
    with pytest.raises(redis.ConnectionError):
        await held.release()
    proxy.accept()
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)


async def test_a_server_that_does_not_answer_holds_nobody_up(far, proxy):
    """`run` does not wait out the client's retries on its way out: its slot is the keeper's now."""
    slots = await pool(far, far.client(retries=10, socket_timeout=0.3))

    async def body():
        proxy.plan(otherwise=Fate.LOSE)
        return time.monotonic()

    ended = await slots.run("x", body)
    assert time.monotonic() - ended < 2.5, "11 tries of 0.3 s each, or more"
    proxy.plan()
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)


async def test_a_server_that_cannot_be_reached_holds_nobody_up(far, proxy):
    """The same when no connection is to be had: no longer than the client's own policy has it."""
    slots = await pool(far, far.client(retries=1, socket_timeout=0.3))

    async def body():
        proxy.cut()
        proxy.deaf = True
        return time.monotonic()

    ended = await slots.run("x", body)
    assert time.monotonic() - ended < 2.5
    proxy.deaf = False
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)


@pytest.mark.parametrize("fate", [Fate.SWALLOW, Fate.CUT_AFTER])
async def test_the_error_of_the_body_wins(far, proxy, fate):
    """What the body raised comes out, not the trouble with the release, which is a note on it.

    Guards against redis/redis-py#3531 and redis/redis-py#3532.
    """
    slots = await pool(far)

    async def body():
        proxy.plan(otherwise=fate)
        raise KeyError("of the body")

    with pytest.raises(KeyError, match="of the body") as caught:
        await slots.run("x", body)
    assert any(slots.key("x") in note for note in caught.value.__notes__)
    assert not isinstance(caught.value.__context__, redis.RedisError)
    proxy.plan()
    await wait_until(lambda: far.members(slots.key("x")) == {}, 2.5)


async def test_a_slot_that_is_gone_is_a_loss_also_when_the_release_is_slow(far, proxy):
    """A release that is answered late, but once, tells the truth: the slot had been taken away."""
    slots = await pool(far)

    async def body(held):
        far.redis.zrem(held.key, held.token)
        proxy.delay_down = 0.1

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body)


async def test_a_late_copy_of_a_release_frees_nobody_elses_slot(far, proxy):
    """A copy of a release that arrives after someone else took the slot takes it from none."""
    slots = await pool(far)
    first = await slots.acquire("x")
    proxy.plan(Fate.HOLD)
    assert await first.release() is True
    second = await slots.acquire("x")
    sent = proxy.forwarded
    proxy.let_go()
    await wait_until(lambda: proxy.forwarded > sent)
    assert await second.extend() is True
    assert list(far.members(second.key)) == [second.token]
    assert await second.release() is True

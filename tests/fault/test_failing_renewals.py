"""Renewals that fail: how long that is nobody's loss, when it is one, and who is told."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
import redis
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError

pytestmark = pytest.mark.engines("valkey")


async def pool(far, lease_ms, client=None):
    """Make a pool of one slot beyond the proxy, on a server that knows the scripts."""
    slots = far.semaphore(client, limit=1, lease_ms=lease_ms)
    await (await slots.acquire("warm")).release()
    return slots


def go_down(proxy):
    proxy.fail()


def go_deaf(proxy):
    proxy.deaf = True


def go_mute(proxy):
    proxy.mute = True


OUTAGES = pytest.mark.parametrize("go_wrong", [go_down, go_deaf, go_mute])


@OUTAGES
async def test_an_outage_that_is_shorter_than_the_lease(far, proxy, go_wrong):
    """Renewals that fail for a while, and recover within the lease, are reported and are no loss.

    Guards against fighthealthinsurance/fighthealthinsurance#978 and nextlyhq/nextly#777.
    """
    slots = await pool(far, 2000)
    errors = []

    async def body(held):
        go_wrong(proxy)
        await wait_until(lambda: errors)
        proxy.recover()
        expiry = far.members(held.key)[held.token]
        await wait_until(lambda: far.members(held.key)[held.token] > expiry)
        return held.signal.aborted

    assert await slots.run("x", body, on_renew_error=errors.append) is False
    assert all(isinstance(error, redis.RedisError) for error in errors)


@OUTAGES
async def test_an_outage_that_is_longer_than_the_lease(far, proxy, go_wrong):
    """A lease after the last renewal that succeeded was sent the slot is lost, without any answer.

    Guards against ionelmc/python-redis-lock#85, CERT-Polska/Artemis#2371,
    Lyellr88/marm-memory#128.
    """
    slots = await pool(far, 600)
    aborted = []

    async def body(held):
        last = far.members(held.key)[held.token]
        go_wrong(proxy)
        held.signal.add_listener(lambda: aborted.append(time.time() * 1000))
        await held.signal.wait(5)
        return last

    failed = []
    with pytest.raises(SemaphoreLeaseLostError, match="600 ms"):
        failed.append(await slots.run("x", body, on_renew_error=failed.append))
    ended = time.time() * 1000
    assert failed, "on_renew_error was not called"
    assert ended - aborted[0] < 500, "run was held up by a server that it can do without"
    proxy.recover()
    await wait_until(lambda: not far.members(slots.key("x")), 3)


async def test_a_lease_counts_from_when_its_renewal_was_sent(far, proxy):
    """The holder gives up before the server does, by as long as its renewals were under way."""
    slots = await pool(far, 1000, far.client(socket_timeout=5))
    under_way_ms = 200
    aborted = []

    async def body(held):
        await far.renewed(held.key, times=1)  # the keeper is connected by now
        proxy.delay_up = under_way_ms / 1000
        await far.renewed(held.key, times=2)
        proxy.cut()
        proxy.deaf = True
        held.signal.add_listener(lambda: aborted.append(time.time() * 1000))
        expiries.append(far.members(held.key)[held.token])
        await held.signal.wait(5)

    expiries = []
    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body)
    early = expiries[0] - aborted[0]
    assert early > 0, "the server could have given the slot to another before the holder knew"
    assert early < under_way_ms + 400, "it gave up a lease that it still had"
    proxy.recover()


async def test_on_renew_error_that_fails(far, proxy):
    """What `on_renew_error` raises is dropped, and the renewals go on."""
    slots = await pool(far, 1500)
    calls = []

    def on_renew_error(error):
        calls.append(error)
        raise KeyError("of the callback")

    async def body(held):
        proxy.fail()
        await wait_until(lambda: len(calls) > 1)
        proxy.accept()
        expiry = far.members(held.key)[held.token]
        await wait_until(lambda: far.members(held.key)[held.token] > expiry)
        return "result"

    result = await slots.run("x", body, on_renew_error=on_renew_error, heartbeat_ms=100)
    assert result == "result"


async def test_on_renew_error_after_the_end(far, proxy):
    """`on_renew_error` is never called once `run` has returned, however close a failure comes."""
    slots = await pool(far, 300)
    late = []
    for n in range(20):
        ended = threading.Event()

        def on_renew_error(_error, ended=ended):
            late.append(ended.is_set())

        async def body(n=n):
            (go_down, go_deaf)[n % 2](proxy)
            await asyncio.sleep(n / 1000)
            proxy.recover()

        await slots.run(str(n), body, on_renew_error=on_renew_error, heartbeat_ms=1)
        ended.set()
    await asyncio.sleep(0.2)
    assert late, "not the accident that this test is about"
    assert not any(late)


@pytest.mark.colours("async")
async def test_on_renew_error_is_called_in_the_loop(far, proxy):
    """In the asyncio colour `on_renew_error` runs in the thread of the loop, and so may use it."""
    slots = await pool(far, 2000)
    told = asyncio.Event()
    threads = set()

    def on_renew_error(_error):
        threads.add(threading.current_thread())
        asyncio.get_running_loop()
        told.set()

    async def body():
        proxy.fail()
        await told.wait()
        proxy.accept()

    await slots.run("x", body, on_renew_error=on_renew_error, heartbeat_ms=50)
    assert threads == {threading.current_thread()}


async def test_a_server_that_hangs_takes_no_slot_at_another(far, proxy):
    """While one client's server gives no answer, another client's renewals go on in time."""
    hung = await pool(far, 600)
    near = far.semaphore(far.client(near=True), limit=3, lease_ms=600)

    async def body(held):
        return await held.signal.wait(1.5)

    async def hang(held):
        proxy.deaf = True
        return await body(held)

    holders = [asyncio.ensure_future(near.run("x", body)) for _ in range(3)]
    with pytest.raises(SemaphoreLeaseLostError):
        await hung.run("x", hang)
    assert await asyncio.gather(*holders) == [False] * 3
    proxy.deaf = False

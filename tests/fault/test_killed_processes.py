"""Processes that die, stand still, or crowd: what the others see of it, and what they see."""

from __future__ import annotations

import os
import signal
import time

import pytest
from support.waiting import block_until

from benni import Semaphore

pytestmark = pytest.mark.engines("valkey")

LEASE = 0.6
LEASE_MS = 600


@pytest.fixture
def slots(server):
    """Give this process's view of the pool that the programs take slots of."""
    with server.client() as client:
        yield Semaphore(client=client, prefix="fault", limit=2, lease_ms=10_000)


def token_of(process):
    """Wait until a holder has its slot, and read its token."""
    word, token = process.stdout.readline().split()
    assert word == "held"
    return token


def tokens(server):
    """Read who is in the pool, dead ones included."""
    return set(server.admin.zrange("fault:x", 0, -1))


def is_free(slots):
    """Take a slot, if one is free, and give it back."""
    held = slots.acquire("x")
    return held is not None and held.release()


def test_the_slot_of_a_killed_process_comes_back(server, slots, colour, start):
    """A killed process's slot is free within its lease, and nobody else's is touched.

    Guards against redisson/redisson#4462 and otovo/redis-rate-limiters#7.
    """
    victim = start("holder", colour, server.url, "fault", 2, LEASE_MS)
    other = start("holder", colour, server.url, "fault", 2, LEASE_MS)
    dead, alive = token_of(victim), token_of(other)
    assert not is_free(slots)
    os.kill(victim.pid, signal.SIGKILL)
    killed = time.monotonic()
    block_until(lambda: is_free(slots))
    assert time.monotonic() - killed < LEASE + 1.0
    assert tokens(server) == {alive}
    assert dead not in tokens(server)
    stdout, stderr = other.communicate("stop")
    assert stdout.split() == ["stopped"]
    assert stderr == ""
    assert tokens(server) == set()


def test_a_process_that_stood_still_finds_out(server, slots, colour, start):
    """A process that stood still for longer than its lease is told that its slot is another's."""
    stopped = start("holder", colour, server.url, "fault", 2, LEASE_MS)
    token_of(stopped)
    os.kill(stopped.pid, signal.SIGSTOP)
    block_until(lambda: tokens(server) and is_free(slots) and not tokens(server))
    taken = [slots.acquire("x"), slots.acquire("x")]
    os.kill(stopped.pid, signal.SIGCONT)
    stdout, stderr = stopped.communicate()
    assert sorted(stdout.split()) == ["SemaphoreLeaseLostError", "aborted"]
    assert stderr == ""
    assert tokens(server) == {held.token for held in taken}
    assert all([held.release() for held in taken])


def test_a_process_that_stood_still_for_a_moment_goes_on(server, colour, start):
    """Standing still for less than a lease is no loss."""
    process = start("holder", colour, server.url, "fault", 2, 2000)
    token = token_of(process)
    expiry = server.admin.zscore("fault:x", token)
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(0.6)  # longer than a heartbeat
    os.kill(process.pid, signal.SIGCONT)
    block_until(lambda: server.admin.zscore("fault:x", token) > expiry)
    stdout, stderr = process.communicate("stop")
    assert stdout.split() == ["stopped"]
    assert stderr == ""


def test_processes_never_exceed_the_limit(server, start):
    """Four processes that crowd into one id are never inside in greater number than the limit."""
    colours = ["sync", "async", "sync", "async"]
    processes = [start("hammer", colour, server.url, "crowd", 3, 1.5) for colour in colours]
    outcomes = [process.communicate() for process in processes]
    assert [stderr for _, stderr in outcomes] == [""] * 4
    entered, most = zip(*(map(int, stdout.split()) for stdout, _ in outcomes), strict=True)
    assert max(most) <= 3
    assert all(entered)
    assert sum(entered) > 50, "not the crowd that this test is about"
    assert not server.admin.exists("crowd:x")

"""`held.signal`: how a body learns that its slot is lost."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from support.waiting import wait_until

from benni import SemaphoreLeaseLostError

QUICK = {"lease_ms": 30_000, "heartbeat_ms": 20}


async def lose(world, held):
    """Take the slot away, and let the handle find out."""
    world.redis.zrem(held.key, held.token)
    assert await held.extend() is False


async def test_a_signal_is_quiet_while_the_slot_is_held(world):
    """`aborted` is False, `reason` None, and `throw_if_aborted` does nothing."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x") as held:
        assert held.signal.aborted is False
        assert held.signal.reason is None
        assert held.signal.throw_if_aborted() is None


async def test_a_signal_carries_its_reason(world):
    """After a loss `reason` is one `SemaphoreLeaseLostError`, which `throw_if_aborted` raises."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    await lose(world, held)
    assert held.signal.aborted is True
    assert isinstance(held.signal.reason, SemaphoreLeaseLostError)
    with pytest.raises(SemaphoreLeaseLostError) as lost:
        held.signal.throw_if_aborted()
    assert lost.value is held.signal.reason


async def test_a_signal_aborts_while_the_body_runs(world):
    """The renewal that finds the slot gone tells the body, long before the lease is over."""
    slots = world.semaphore(limit=1)
    start = time.monotonic()

    async def body(held):
        world.redis.delete(held.key)
        await wait_until(lambda: held.signal.aborted)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, lease_ms=60_000, heartbeat_ms=20)
    assert time.monotonic() - start < 10


async def test_a_listener_is_called_once(world):
    """A listener without parameters is called when the slot is lost, and never again."""
    slots = world.semaphore(limit=1)
    calls = []

    async def body(held):
        held.signal.add_listener(lambda: calls.append("told"))
        world.redis.delete(held.key)
        await wait_until(lambda: calls)
        assert await held.extend() is False
        await asyncio.sleep(0.05)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **QUICK)
    assert calls == ["told"]


async def test_a_listener_may_take_the_reason(world):
    """A listener with one required parameter, a builtin say, is given the reason."""
    slots = world.semaphore(limit=1)
    calls = []
    held = await slots.acquire("x")
    held.signal.add_listener(calls.append)
    await lose(world, held)
    await wait_until(lambda: calls)
    assert calls == [held.signal.reason]


async def test_a_late_listener_is_called_at_once(world):
    """A listener that is added after the loss is called before `add_listener` returns."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    await lose(world, held)
    calls = []
    held.signal.add_listener(calls.append)
    assert calls == [held.signal.reason]


async def test_what_a_listener_raises_is_swallowed(world):
    """A broken listener keeps nobody else from being told."""
    slots = world.semaphore(limit=1)
    calls = []

    def broken():
        raise LookupError

    held = await slots.acquire("x")
    held.signal.add_listener(broken)
    held.signal.add_listener(lambda: calls.append("told"))
    await lose(world, held)
    await wait_until(lambda: calls)
    held.signal.add_listener(broken)
    assert calls == ["told"]


async def test_a_removed_listener_is_not_called(world):
    """`add_listener` returns what removes the listener; removing twice is fine."""
    slots = world.semaphore(limit=1)
    calls = []
    held = await slots.acquire("x")
    remove = held.signal.add_listener(lambda: calls.append("removed"))
    held.signal.add_listener(lambda: calls.append("kept"))
    remove()
    remove()
    await lose(world, held)
    await wait_until(lambda: calls)
    assert calls == ["kept"]


async def test_one_function_may_listen_twice(world):
    """Each registration is its own, and is removed by its own function."""
    slots = world.semaphore(limit=1)
    calls = []

    def told():
        calls.append("told")

    held = await slots.acquire("x")
    remove = held.signal.add_listener(told)
    held.signal.add_listener(told)
    remove()
    await lose(world, held)
    await wait_until(lambda: calls)
    assert calls == ["told"]


@pytest.mark.colours("async")
async def test_listeners_run_in_the_loops_thread(world):
    """With an asyncio client a listener may touch the loop's things: it runs in its thread."""
    slots = world.semaphore(limit=1)
    threads = []

    async def body(held):
        held.signal.add_listener(lambda: threads.append(threading.current_thread()))
        world.redis.delete(held.key)
        await wait_until(lambda: threads)

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **QUICK)
    assert threads == [threading.current_thread()]


async def test_wait_returns_true_when_the_slot_is_lost(world):
    """`wait` ends with the loss."""
    slots = world.semaphore(limit=1)

    async def body(held):
        waiting = asyncio.ensure_future(held.signal.wait())
        await asyncio.sleep(0.02)
        assert not waiting.done()
        world.redis.delete(held.key)
        assert await waiting is True

    with pytest.raises(SemaphoreLeaseLostError):
        await slots.run("x", body, **QUICK)


async def test_wait_returns_false_when_its_time_is_over(world):
    """`wait(timeout)` gives up after so many seconds and says that nothing was lost."""
    slots = world.semaphore(limit=1)
    async with await slots.acquire("x") as held:
        start = time.monotonic()
        assert await held.signal.wait(0.1) is False
        assert time.monotonic() - start >= 0.099
        assert await held.signal.wait(0) is False
        assert await held.signal.wait(timeout=0.001) is False


async def test_wait_returns_at_once_after_the_loss(world):
    """A loss that is known already is not waited for, not even with a timeout of nothing."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    await lose(world, held)
    assert await held.signal.wait() is True
    assert await held.signal.wait(0) is True


async def test_many_can_wait(world):
    """Every waiter and every listener of one signal is told."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    waiting = [asyncio.ensure_future(held.signal.wait()) for _ in range(5)]
    await asyncio.sleep(0.02)
    await lose(world, held)
    assert await asyncio.gather(*waiting) == [True] * 5


@pytest.mark.colours("async")
async def test_a_cancelled_wait_is_over(world):
    """Waiting can be given up by cancelling it; the signal goes on for others."""
    slots = world.semaphore(limit=1)
    held = await slots.acquire("x")
    waiting = asyncio.ensure_future(held.signal.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await lose(world, held)
    assert held.signal.aborted


async def test_a_signal_may_be_asked_from_any_thread(world):
    """`aborted`, `reason` and `add_listener` are safe to use from a thread of the body's own."""
    slots = world.semaphore(limit=1)
    seen = []

    async def body(held):
        def watch():
            while not held.signal.aborted:
                time.sleep(0.005)
            seen.append(held.signal.reason)

        watcher = threading.Thread(target=watch)
        watcher.start()
        held.signal.add_listener(lambda: seen.append("told"))
        world.redis.delete(held.key)
        await wait_until(lambda: len(seen) == 2)
        watcher.join()

    with pytest.raises(SemaphoreLeaseLostError) as lost:
        await slots.run("x", body, **QUICK)
    assert set(seen) == {"told", lost.value}


async def test_a_signal_never_aborts_after_a_normal_end(world):
    """A slot that was let go is nobody's loss, whatever becomes of the key."""
    slots = world.semaphore(limit=1)
    signals = []

    async def body(held):
        signals.append(held.signal)

    await slots.run("x", body, **QUICK)
    world.redis.flushall()
    await asyncio.sleep(0.06)
    assert signals[0].aborted is False

"""Forks while it holds a slot, and says what became of that.

python fork.py SCENARIO URL LEASE_MS
"""

import asyncio
import gc
import os
import signal
import sys
import time

import redis
import redis.asyncio

from benni import Semaphore

scenario, url, lease_ms = sys.argv[1], sys.argv[2], int(sys.argv[3])
client = redis.Redis.from_url(url)
slots = Semaphore(client=client, prefix="fork", limit=1, lease_ms=lease_ms)
lease = lease_ms / 1000


def say(*words):
    print(*words, flush=True)


def hold(child):
    """Hold a slot, let `child` run in a fork meanwhile, and see whether the slot was touched."""
    parent = os.getpid()
    with slots.hold("x") as held:
        say("held", held.token)
        pid = os.fork()
        if pid == 0:
            child(held)
        else:
            _, status = os.waitpid(pid, 0)
            time.sleep(2 * lease)
            say("parent", status, held.signal.aborted, held.extend())
    if os.getpid() != parent:
        say("child left the block")
        sys.exit(0)


def leave(held):
    time.sleep(lease / 2)


def leave_by_exit(held):
    sys.exit(0)


def touch(held):
    """Use the parent's handle in every way."""
    say("child", held.extend(), held.release(), held.signal.aborted)


def outlive(held):
    """Stay in the block while the parent is killed."""
    os.kill(os.getppid(), signal.SIGKILL)
    say("child alone")
    sys.stdin.read()
    os._exit(0)


def work(held):
    """Take slots of its own, with the parent's client and with a new one, and have them renewed."""
    say("inherited", slots.run("y", lambda mine: mine.signal.wait(2 * lease)))
    with redis.Redis.from_url(url) as own:
        mine = Semaphore(client=own, prefix="fork", limit=1, lease_ms=lease_ms)
        say("own", mine.run("z", lambda mine: mine.signal.wait(2 * lease)))
    os._exit(0)


def work_in_a_loop(held):
    """The same in an event loop of the child's."""

    async def main():
        async with redis.asyncio.Redis.from_url(url) as own:
            mine = Semaphore(client=own, prefix="fork", limit=1, lease_ms=lease_ms)
            return await mine.run("z", lambda mine: mine.signal.wait(2 * lease))

    say("own", asyncio.run(main()))
    os._exit(0)


def fork_often():
    """Fork again and again while renewals are under way; each child takes a slot of its own."""
    with slots.hold("x", heartbeat_ms=1) as held:
        say("held", held.token)
        ended = []
        for n in range(20):
            pid = os.fork()
            if pid == 0:
                os._exit(slots.run(f"child{n}", lambda: 0))
            ended.append(os.waitpid(pid, 0)[1])
        time.sleep(2 * lease)
        say("parent", max(ended), held.signal.aborted, held.extend())


def drop():
    """Hold a slot by its handle alone, which the child drops."""
    handles = [slots.acquire("x", lease_ms=10_000)]
    pid = os.fork()
    if pid == 0:
        handles.clear()
        gc.collect()
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    say("parent", status, handles[0].signal.aborted, handles[0].extend())
    handles[0].release()


async def fork_in_a_loop():
    """Hold a slot with an asyncio client, and let a child come and go."""
    async with redis.asyncio.Redis.from_url(url) as aclient:
        aslots = Semaphore(client=aclient, prefix="fork", limit=1, lease_ms=lease_ms)
        async with aslots.hold("x") as held:
            say("held", held.token)
            pid = os.fork()
            if pid == 0:
                gc.collect()
                say("child", slots.run("y", lambda mine: mine.signal.wait(2 * lease)))
                os._exit(0)
            _, status = await asyncio.to_thread(os.waitpid, pid, 0)
            say("parent", status, held.signal.aborted, await held.extend())


if scenario == "fork_in_a_loop":
    asyncio.run(fork_in_a_loop())
elif scenario in ("drop", "fork_often"):
    globals()[scenario]()
else:
    hold(globals()[scenario])

"""Holds a slot until it is told to stop, or until the slot is lost.

    python holder.py COLOUR URL PREFIX LIMIT LEASE_MS

Says `held TOKEN`, then `aborted` if the signal says so, and at last how `run` ended.
"""

import asyncio
import sys
import threading

import redis
import redis.asyncio

from benni import Semaphore

colour, url, prefix, limit, lease_ms = sys.argv[1:]
options = {"prefix": prefix, "limit": int(limit), "lease_ms": int(lease_ms)}
stop = threading.Event()


def say(*words):
    print(*words, flush=True)


def wait_for_the_end():
    sys.stdin.read()
    stop.set()


def run():
    slots = Semaphore(client=redis.Redis.from_url(url), **options)

    def body(held):
        held.signal.add_listener(lambda: say("aborted"))
        say("held", held.token)
        while not stop.wait(0.01):
            held.signal.throw_if_aborted()
        return "stopped"

    return slots.run("x", body)


async def arun():
    client = redis.asyncio.Redis.from_url(url)
    slots = Semaphore(client=client, **options)

    async def body(held):
        held.signal.add_listener(lambda: say("aborted"))
        say("held", held.token)
        while not stop.is_set():
            await asyncio.sleep(0.01)
        return "stopped"

    try:
        return await slots.run("x", body, on_lost="cancel")
    finally:
        await client.aclose()


threading.Thread(target=wait_for_the_end, daemon=True).start()
try:
    say(run() if colour == "sync" else asyncio.run(arun()))
except Exception as error:
    say(type(error).__name__)

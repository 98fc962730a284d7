"""Comes to its end while it holds a slot in a `hold` that is never left.

    python exit.py HOW URL LEASE_MS [PAUSE]

Says `held` when it does, and ends PAUSE seconds later, without leaving the block.
"""

import asyncio
import sys
import threading
import time
import warnings

import redis
import redis.asyncio

from benni import Semaphore

warnings.simplefilter("ignore", ResourceWarning)  # handles and clients are left open on purpose
how, url, lease_ms = sys.argv[1], sys.argv[2], int(sys.argv[3])
pause = float(sys.argv[4]) if len(sys.argv) > 4 else 0
options = {"prefix": "exit", "limit": 1, "lease_ms": lease_ms}
kept = []


def main_thread():
    client = redis.Redis.from_url(url)
    hold = Semaphore(client=client, **options).hold("x")
    kept.extend([hold, hold.__enter__()])
    print("held", flush=True)
    time.sleep(pause)


def many_clients():
    for n in range(5):
        client = redis.Redis.from_url(url)
        slots = Semaphore(client=client, prefix=f"exit{n}", limit=1, lease_ms=lease_ms)
        hold = slots.hold("x")
        kept.extend([hold, hold.__enter__()])
    print("held", flush=True)
    time.sleep(pause)


def in_a_generator():
    def generator():
        with Semaphore(client=redis.Redis.from_url(url), **options).hold("x"):
            yield "held"

    kept.append(generator())
    print(next(kept[0]), flush=True)
    time.sleep(pause)


def daemon_thread():
    entered = threading.Event()

    def work():
        with Semaphore(client=redis.Redis.from_url(url), **options).hold("x"):
            entered.set()
            time.sleep(3600)

    threading.Thread(target=work, daemon=True).start()
    entered.wait()
    print("held", flush=True)
    time.sleep(pause)


async def in_a_loop():
    client = redis.asyncio.Redis.from_url(url)
    kept.append(client)
    hold = Semaphore(client=client, **options).hold("x")
    kept.extend([hold, await hold.__aenter__()])
    print("held", flush=True)
    await asyncio.sleep(pause)


async def in_a_task():
    """Leave a task behind in its body; `asyncio.run` cancels it."""
    client = redis.asyncio.Redis.from_url(url)
    kept.append(client)
    entered = asyncio.Event()

    async def body():
        entered.set()
        await asyncio.sleep(3600)

    kept.append(asyncio.create_task(Semaphore(client=client, **options).run("x", body)))
    await entered.wait()
    print("held", flush=True)
    await asyncio.sleep(pause)


def in_a_loop_that_is_dropped():
    """Close an event loop while a task is in its body."""
    loop = asyncio.new_event_loop()
    client = redis.asyncio.Redis.from_url(url)
    entered = asyncio.Event()

    async def body():
        entered.set()
        await asyncio.sleep(3600)

    kept.append(loop.create_task(Semaphore(client=client, **options).run("x", body)))
    loop.run_until_complete(entered.wait())
    print("held", flush=True)
    loop.close()
    time.sleep(pause)


if how in ("in_a_loop", "in_a_task"):
    asyncio.run(globals()[how]())
else:
    globals()[how]()
print("end", flush=True)

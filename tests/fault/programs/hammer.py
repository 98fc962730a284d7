"""Takes and leaves slots of one id for a while, and looks how many are inside at once.

    python hammer.py COLOUR URL PREFIX LIMIT SECONDS

Says how often it was inside, and the most that it has seen there.
"""

import asyncio
import random
import sys
import time

import redis
import redis.asyncio

from benni import Semaphore

colour, url, prefix, limit, seconds = sys.argv[1:]
end = time.monotonic() + float(seconds)
seen = []
COUNTER = f"{prefix}:inside"


def main():
    client = redis.Redis.from_url(url)
    slots = Semaphore(client=client, prefix=prefix, limit=int(limit), lease_ms=10_000)

    def inside():
        seen.append(client.incr(COUNTER))
        client.pexpire(COUNTER, 60_000)
        time.sleep(random.random() / 200)
        client.decr(COUNTER)

    while time.monotonic() < end:
        held = slots.acquire("x")
        if held is not None:
            with held:
                inside()


async def amain():
    client = redis.asyncio.Redis.from_url(url)
    slots = Semaphore(client=client, prefix=prefix, limit=int(limit), lease_ms=10_000)

    async def inside():
        seen.append(await client.incr(COUNTER))
        await client.pexpire(COUNTER, 60_000)
        await asyncio.sleep(random.random() / 200)
        await client.decr(COUNTER)

    async def one():
        while time.monotonic() < end:
            held = await slots.acquire("x")
            if held is not None:
                async with held:
                    await inside()
            await asyncio.sleep(0)

    await asyncio.gather(*(one() for _ in range(3)))
    await client.aclose()


main() if colour == "sync" else asyncio.run(amain())
print(len(seen), max(seen, default=0), flush=True)

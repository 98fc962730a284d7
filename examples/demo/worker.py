"""One worker process: 25 callers that keep the provider busy until time is up.

`python -m examples.demo.worker` says that it is ready, starts on the parent's word, and tells the
parent what became of each call. Calls under way when time is up are finished, not cut.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import TYPE_CHECKING

import httpx

from benni import AsyncBenni, SemaphoreLeaseLostError, SemaphoreNotAcquiredError
from examples.demo import schema
from examples.demo.lifeline import emit, parent_pipe, while_parent_lives
from examples.demo.settings import CALLERS, PROVIDER, RETRIES, RETRY_DELAY_MS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from benni import AsyncLease

    Turn = Callable[[], Awaitable[str]]
    """One caller's turn: gets a slot, calls, and tells what became of it."""


async def call(http: httpx.AsyncClient) -> bool:
    """Call the model and read its whole answer; false on a 429."""
    async with http.stream("GET", "/call") as response:
        async for _ in response.aiter_bytes():
            pass
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            return False
        response.raise_for_status()
        return True


def own_limit(http: httpx.AsyncClient) -> Turn:
    """Limit this process alone, and try again on a 429."""
    slots = asyncio.Semaphore(schema.slots.limit)

    async def turn() -> str:
        async with slots:
            for _ in range(1 + RETRIES):
                if await call(http):
                    return "served"
                await asyncio.sleep(RETRY_DELAY_MS / 1000)
        return "shed"

    return turn


def shared_limit(http: httpx.AsyncClient, client: AsyncBenni) -> Turn:
    """Limit all processes together."""

    async def body(held: AsyncLease) -> str:
        emit("held", token=held.token)
        return "served" if await call(http) else "refused"

    async def turn() -> str:
        try:
            outcome: str = await client.query.slots.run(
                PROVIDER, body, retries=RETRIES, retry_delay_ms=RETRY_DELAY_MS, on_lost="cancel"
            )
        except SemaphoreNotAcquiredError:
            return "shed"
        except SemaphoreLeaseLostError:
            return "lost"
        return outcome

    return turn


async def work(turn: Turn, seconds: float) -> None:
    """Let every caller take its turns until time is up."""
    until = time.monotonic() + seconds

    async def caller() -> None:
        while time.monotonic() < until:
            emit(await turn())

    async with asyncio.TaskGroup() as callers:
        for _ in range(CALLERS):
            callers.create_task(caller())


async def wait_and_work(args: argparse.Namespace) -> None:
    """Open what the callers share, and start them together with those of the other workers."""
    parent = await parent_pipe()
    async with (
        httpx.AsyncClient(base_url=args.provider, timeout=30) as http,
        AsyncBenni.from_url(args.redis, schema=schema) as client,
    ):
        turn = shared_limit(http, client) if args.shared else own_limit(http)
        await http.get("/stats")  # what is loaded at a first request is loaded now
        emit("ready")
        await parent.readline()
        await while_parent_lives(parent, work(turn, args.seconds))


def main() -> None:
    """Read the command line and work."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--provider", required=True, help="where the provider listens")
    parser.add_argument("--redis", required=True, help="where the slots are kept")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--shared", action="store_true", help="one limit for all processes")
    asyncio.run(wait_and_work(parser.parse_args()))


if __name__ == "__main__":
    main()

"""What a body sees when its slot is taken away under it.

    python examples/loss.py [redis://...]

Slots are lost when an operator deletes the key, when Redis fails over and forgets, or when no
renewal has come through for a whole lease. Here the key is deleted.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from benni import AsyncBenni, SemaphoreLeaseLostError
from benni.schema import semaphore

if TYPE_CHECKING:
    from benni import AsyncLease

URL = sys.argv[1] if len(sys.argv) > 1 else "embedded://"

slots = semaphore("provider", limit=3, lease_ms=1_000)


async def take_away(client: AsyncBenni, held: AsyncLease) -> None:
    """Do what an operator would do who wants all slots back."""
    await client.client.delete(held.key)


async def by_signal(client: AsyncBenni) -> None:
    """Let the body finish what it is at: it looks at the signal where it suits it."""

    async def body(held: AsyncLease) -> str:
        pieces = 0
        while not held.signal.aborted:
            if pieces == 3:
                await take_away(client, held)
            await asyncio.sleep(0.05)
            pieces += 1
        print(f"signal: aborted, because {held.signal.reason}")
        return f"{pieces} pieces"

    try:
        await client[slots].run("openai", body)
    except SemaphoreLeaseLostError as error:
        print(f"signal: run raised {type(error).__name__} for {error.key}, limit {error.limit}")


async def by_cancellation(client: AsyncBenni) -> None:
    """Stop the body at its next await: it may not look at anything for minutes."""

    async def body(held: AsyncLease) -> None:
        await take_away(client, held)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            print("cancel: the body was cancelled at its await, and cleans up")
            raise

    try:
        await client[slots].run("openai", body, on_lost="cancel")
    except SemaphoreLeaseLostError as error:
        print(f"cancel: run raised {type(error).__name__}, not CancelledError: {error}")


async def with_an_error_of_its_own(client: AsyncBenni) -> None:
    """Keep what the body raises: it comes out unchanged, and says that the slot was lost."""

    async def body(held: AsyncLease) -> None:
        await take_away(client, held)
        await held.signal.wait()
        raise ValueError("half an answer")

    try:
        await client[slots].run("openai", body)
    except ValueError as error:
        print(f"error: {error!r} came out, with the note: {error.__notes__[0]}")


async def main() -> None:
    """Lose a slot in three ways."""
    async with AsyncBenni.from_url(URL, schema={"slots": slots}) as client:
        await by_signal(client)
        await by_cancellation(client)
        await with_an_error_of_its_own(client)


if __name__ == "__main__":
    asyncio.run(main())

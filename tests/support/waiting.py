"""Waiting for facts."""

from __future__ import annotations

import asyncio
import inspect
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 10.0
"""Seconds after which a fact is not going to come. Never what a test is about."""


async def wait_until(fact: Callable[[], Any], timeout: float = PATIENCE) -> Any:
    """Wait until `fact()` is true, and return it; awaits it if it is awaitable."""
    end = time.monotonic() + timeout
    while True:
        seen = fact()
        if inspect.isawaitable(seen):
            seen = await seen
        if seen:
            return seen
        assert time.monotonic() < end, f"not within {timeout} s: {inspect.getsource(fact).strip()}"
        await asyncio.sleep(0.005)


def block_until(fact: Callable[[], Any], timeout: float = PATIENCE) -> Any:
    """Same as `wait_until`, for tests without an event loop."""
    end = time.monotonic() + timeout
    while not (seen := fact()):
        assert time.monotonic() < end, f"not within {timeout} s: {inspect.getsource(fact).strip()}"
        time.sleep(0.005)
    return seen

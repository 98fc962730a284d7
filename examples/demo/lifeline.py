"""What a child process has of its parent: a pipe each way.

Events go up as JSON lines. The pipe down carries the word to start, and its end says that the
parent has gone, so a demo that is killed leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Coroutine


def emit(event: str, **data: object) -> None:
    """Tell the parent, in one write that a SIGKILL cannot tear apart."""
    os.write(sys.stdout.fileno(), json.dumps({"event": event, **data}).encode() + b"\n")


async def parent_pipe() -> asyncio.StreamReader:
    """Open the pipe down: a line is the word to start, its end is the end of the parent."""
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    return reader


async def while_parent_lives(
    parent: asyncio.StreamReader, work: Coroutine[object, object, None]
) -> None:
    """Do the work, and leave it when the parent has gone."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(parent.read())
    both: set[asyncio.Future[Any]] = {task, gone}
    done, left = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    for future in left:
        future.cancel()
    for future in done:
        future.result()
    await asyncio.gather(*left, return_exceptions=True)

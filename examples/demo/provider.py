"""A model provider: serves 20 requests at once, answers 429 to the rest.

`python -m examples.demo.provider --limit 20` prints the port that it took as its first line and
serves until its standard input closes.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
from dataclasses import asdict
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from examples.demo.ledger import Ledger
from examples.demo.lifeline import emit, parent_pipe, while_parent_lives

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

SEED = 20
STREAMED = 0.3
CHUNK_SECONDS = 0.1
HEADERS = [(b"content-type", b"text/plain")]

MIX = [(60, 0.05, 0.3), (26, 0.3, 0.8), (9, 0.8, 1.5), (5, 1.5, 3.0)]
"""Weight, shortest and longest time to answer; about one in ten outlasts the lease of a second."""


class Provider:
    """The application: `/call` to be served, `/stats`, `/history` and `/reset` to watch it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.reset()

    def reset(self) -> None:
        """Open new books and deal the same response times again."""
        self.ledger = Ledger(self.limit)
        self.dice = random.Random(SEED)

    def app(self) -> Starlette:
        """Build the routes."""
        return Starlette(
            routes=[
                Route("/call", Call(self)),
                Route("/stats", self._stats),
                Route("/history", self._history),
                Route("/reset", self._reset, methods=["POST"]),
            ]
        )

    async def _stats(self, _: Request) -> Response:
        return JSONResponse(asdict(self.ledger.stats()))

    async def _history(self, _: Request) -> Response:
        return JSONResponse(asdict(self.ledger.history()))

    async def _reset(self, _: Request) -> Response:
        self.reset()
        return Response(status_code=204)


class Call:
    """One call of the model, as a bare ASGI endpoint: it must see its client go away."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, or refuse at once."""
        ledger, dice = self._provider.ledger, self._provider.dice
        if not ledger.admit():
            await PlainTextResponse("too many requests", 429)(scope, receive, send)
            return
        answer = _stream if dice.random() < STREAMED else _think
        if await _finished(answer(send, _duration(dice)), receive):
            # The place is free before the last byte leaves: whoever has read the whole answer
            # may give its slot away, and the next caller must find room.
            ledger.finish()
            await send({"type": "http.response.body", "body": b"the end\n"})
        else:
            ledger.drop()


async def _finished(answer: Coroutine[object, object, None], receive: Receive) -> bool:
    """Give the answer; false when its client went away first."""
    work, gone = asyncio.create_task(answer), asyncio.create_task(_gone(receive))
    done, _ = await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
    for task in (work, gone):
        task.cancel()
    return work in done


async def _think(send: Send, seconds: float) -> None:
    """Start the answer after `seconds`, all at once."""
    await asyncio.sleep(seconds)
    await _start(send)


async def _stream(send: Send, seconds: float) -> None:
    """Answer chunk by chunk for `seconds`, all but the last."""
    await _start(send)
    until = asyncio.get_running_loop().time() + seconds
    while (left := until - asyncio.get_running_loop().time()) > 0:
        await send({"type": "http.response.body", "body": b"a chunk\n", "more_body": True})
        await asyncio.sleep(min(CHUNK_SECONDS, left))


async def _start(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _duration(dice: random.Random) -> float:
    weights = [weight for weight, *_ in MIX]
    _, shortest, longest = dice.choices(MIX, weights)[0]
    return dice.uniform(shortest, longest)


async def serve(limit: int) -> None:
    """Listen on a free port of the loopback until the parent leaves."""
    config = uvicorn.Config(
        Provider(limit).app(),
        port=0,
        log_level="warning",
        access_log=False,
        backlog=2048,
        timeout_keep_alive=120,
        timeout_graceful_shutdown=1,
    )
    listener = config.bind_socket()
    # uvicorn's own socket leaves Nagle's algorithm on, which holds small writes back for 40 ms
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    parent = await parent_pipe()
    emit("ready", port=listener.getsockname()[1])
    await while_parent_lives(parent, uvicorn.Server(config).serve(sockets=[listener]))


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, required=True)
    asyncio.run(serve(parser.parse_args().limit))


if __name__ == "__main__":
    main()

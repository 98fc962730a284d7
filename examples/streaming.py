"""A streamed answer that keeps its slot to the last byte, or until its reader goes away.

    python examples/streaming.py [redis://...]

A handler returns before its stream has begun, so the slot is held inside the generator that makes
the stream. Here the stream takes three leases' time; the slot is renewed all along.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from benni import AsyncBenni
from benni.schema import semaphore

URL = sys.argv[1] if len(sys.argv) > 1 else "embedded://"
SENTENCE = "one slot is held from the first of these words to the very last one"

slots = semaphore("provider", limit=3, lease_ms=1_000)
provider, app = FastAPI(), FastAPI()
app.mount("/provider", provider)


@provider.post("/v1/chat/completions")
async def completions() -> StreamingResponse:
    """Answer as a language model does: server-sent events, a word each, then `[DONE]`."""

    async def events() -> AsyncIterator[str]:
        words = SENTENCE.split()
        for word in words:
            await asyncio.sleep(3.0 / len(words))
            yield f"data: {json.dumps({'choices': [{'delta': {'content': word}}]})}\n\n"
        yield "data: [DONE]\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


@app.get("/ask")
async def ask(request: Request) -> StreamingResponse:
    """Pass the provider's stream on, in a slot."""
    state = request.app.state

    async def events() -> AsyncIterator[str]:
        async with (
            state.client[slots].hold("openai") as held,
            state.http.stream("POST", "/provider/v1/chat/completions") as answer,
        ):
            async for line in answer.aiter_lines():
                held.signal.throw_if_aborted()
                yield f"{line}\n"

    return StreamingResponse(events(), media_type="text/event-stream")


@asynccontextmanager
async def serving(client: AsyncBenni) -> AsyncIterator[httpx.AsyncClient]:
    """Serve the application on a free port of this machine."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=30
    ) as http:
        app.state.client, app.state.http = client, http
        task = asyncio.create_task(server.serve(sockets=[listener]))
        yield http
        server.should_exit = True
        await task


async def main() -> None:
    """Read one stream to its end, and walk away from another."""
    async with AsyncBenni.from_url(URL, schema={"slots": slots}) as client, serving(client) as http:
        count = client[slots].count
        async with http.stream("GET", "/ask") as answer:
            events = [line async for line in answer.aiter_lines() if line]
            said = [
                json.loads(event[6:])["choices"][0]["delta"]["content"] for event in events[:-1]
            ]
        print(" ".join(said), f"({events[-1]})")
        print(f"in use after the last byte: {await count('openai')}")

        async with http.stream("GET", "/ask") as answer:
            await anext(answer.aiter_lines())
            print(f"in use during a stream: {await count('openai')}")
        while await count("openai"):
            await asyncio.sleep(0.01)
        print(f"in use after its reader went away: {await count('openai')}")


if __name__ == "__main__":
    asyncio.run(main())

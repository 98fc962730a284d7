"""A FastAPI handler that sheds load: 503 with `Retry-After` when every slot is taken.

    python examples/fastapi_shedding.py [redis://...]

The handle is bound once, in the lifespan. A handler that finds no room raises, and one exception
handler for the whole application turns that into the answer.
"""

import asyncio
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from benni import AsyncBenni, SemaphoreNotAcquiredError
from benni.schema import semaphore

URL = sys.argv[1] if len(sys.argv) > 1 else "embedded://"
CALLERS = 8

slots = semaphore("provider", limit=3, lease_ms=10_000)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the handle before the first request, and close it after the last."""
    async with AsyncBenni.from_url(URL, schema={"slots": slots}) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(SemaphoreNotAcquiredError)
async def shed(_: Request, error: SemaphoreNotAcquiredError) -> JSONResponse:
    """Tell the caller at once that there is no room, and when to come again."""
    return JSONResponse({"detail": str(error)}, 503, headers={"Retry-After": "1"})


@app.get("/answer")
async def answer(request: Request) -> dict[str, int]:
    """Ask the provider, in a slot."""
    client: AsyncBenni = request.app.state.client
    async with client[slots].hold("openai"):
        in_use = await client[slots].count("openai")
        await asyncio.sleep(1)  # the provider thinks
    return {"in_use": in_use}


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Serve the application on a free port of this machine."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not task.done():
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


async def main() -> None:
    """Send more callers at once than there are slots, and one more when they are done."""
    async with serving() as url, httpx.AsyncClient(base_url=url, timeout=30) as http:
        answers = await asyncio.gather(*(http.get("/answer") for _ in range(CALLERS)))
        for status, count in sorted(Counter(a.status_code for a in answers).items()):
            print(f"{count} of {CALLERS} callers got {status}")
        refused = next(a for a in answers if a.status_code == httpx.codes.SERVICE_UNAVAILABLE)
        print(f"Retry-After: {refused.headers['Retry-After']}")
        print(f"because: {refused.json()['detail']}")
        later = await http.get("/answer")
        print(f"later: {later.status_code}, slots in use: {later.json()['in_use']}")


if __name__ == "__main__":
    asyncio.run(main())

"""`python -m examples.demo`: the same load on a provider twice, without benni and with it."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from rich.console import Console
from rich.live import Live

from benni import AsyncBenni
from examples.demo import chart, report, schema
from examples.demo.children import child
from examples.demo.progress import Bars, Plain, Screen, Silent
from examples.demo.runs import Run, Stage, drive, stats
from examples.demo.settings import WORKERS

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = schema.slots.limit
READY_SECONDS = 20
INTERRUPTED = 130


async def demo(screen: Screen, seconds: float) -> list[Run]:
    """Start the slots' server and the provider, and drive it twice."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(AsyncBenni.from_url("embedded://", schema=schema))
        provider = await stack.enter_async_context(
            child("examples.demo.provider", "--limit", str(LIMIT))
        )
        port = (await provider.ready())["port"]
        http = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}")
        )
        await _answers(http)
        stage = Stage(http, client, screen, seconds)
        return [
            await drive(stage, Run(f"{WORKERS} x asyncio.Semaphore({LIMIT})", shared=False)),
            await drive(stage, Run("benni semaphore", shared=True)),
        ]


async def _answers(http: httpx.AsyncClient) -> None:
    """Wait until the provider answers."""
    async with asyncio.timeout(READY_SECONDS):
        while True:
            try:
                await stats(http)
            except httpx.TransportError:
                await asyncio.sleep(0.02)
            else:
                return


async def until_stopped(screen: Screen, seconds: float) -> list[Run]:
    """Run the demo so that a SIGTERM, too, unwinds it and ends its processes."""
    work = asyncio.ensure_future(demo(screen, seconds))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, work.cancel)
    return await work


@contextmanager
def progress(console: Console, *, quiet: bool) -> Iterator[Screen]:
    """Choose how to show progress."""
    if quiet:
        yield Silent()
    elif console.is_terminal:
        with Live(console=console, refresh_per_second=10) as live:
            yield Bars(live, LIMIT)
    else:
        yield Plain(console, LIMIT)


def main() -> int:
    """Run the demo; the exit code is 1 when the shared slots let the provider refuse a call."""
    options = arguments()
    console = Console()
    try:
        with progress(console, quiet=options.quiet) as screen:
            runs = asyncio.run(until_stopped(screen, options.seconds))
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print("stopped")
        return INTERRUPTED
    console.print(report.table(runs, LIMIT))
    chart.draw(options.png, runs, LIMIT, schema.slots.lease_ms / 1000)
    console.print(f"in flight over time: {options.png}", highlight=False)
    broken = report.failures(runs[-1], LIMIT)
    for failure in broken:
        console.print(f"[bold red]with benni {failure}[/]")
    return 1 if broken else 0


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument("--seconds", type=float, default=7, help="how long each run starts calls")
    parser.add_argument("--png", type=Path, default=Path("docs/images/in-flight.png"))
    parser.add_argument("--quiet", action="store_true", help="print only the result")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

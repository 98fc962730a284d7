"""`python -m bench`: runs the measures, prints them and writes `bench/results.json`.

The exit code is 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from rich.console import Console

from bench import results
from bench.imports import imports
from bench.overadmission import overadmission
from bench.overhead import overhead
from bench.servers import engines
from bench.stage import Stage
from bench.throughput import throughput

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.report import Report

MEASURES: dict[str, Callable[[Stage], Report]] = {
    "overhead": overhead,
    "import": imports,
    "overadmission": overadmission,
    "throughput": throughput,
}
INTERRUPTED = 130


def run(names: list[str], options: argparse.Namespace, console: Console) -> dict[str, Report]:
    """Make the measures, one after the other, on servers that end with them."""
    reports = {}
    with ExitStack() as servers:
        stage = Stage(engines(servers, console), options.rounds, options.pairs, console)
        for name in names:
            console.rule(name)
            reports[name] = MEASURES[name](stage)
            reports[name].show(console)
            results.write(name, reports[name], stage)
    return reports


def main() -> int:
    """Read the command line, measure, and tell whether every target was met."""
    options = arguments()
    console = Console()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that it unwinds as well
    try:
        reports = run([options.only] if options.only else list(MEASURES), options, console)
    except KeyboardInterrupt:
        console.print("stopped")
        return INTERRUPTED
    console.print(f"written to {results.PATH}", highlight=False)
    return 0 if all(report.met for report in reports.values()) else 1


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=MEASURES, help="make one measure; keep the others' rows")
    parser.add_argument("--rounds", type=_positive, default=21, help="interleaved rounds")
    parser.add_argument(
        "--pairs", type=_positive, default=200_000, help="pairs of the over-admission proof"
    )
    return parser.parse_args()


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be positive")
    return number


if __name__ == "__main__":
    sys.exit(main())

"""The two runs side by side, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from examples.demo.runs import Run


def _alarm(count: int) -> str:
    return f"[bold red]{count}[/]" if count else "[bold green]0[/]"


def _of_kill(run: Run, count: int) -> str:
    return str(count) if run.kill else "-"


def _reclaimed(run: Run) -> str:
    return f"{run.kill.slots} in {run.kill.back_ms} ms" if run.kill else "-"


ROWS: list[tuple[str, Callable[[Run], str]]] = [
    ("calls served", lambda run: str(run.stats.served)),
    ("429 answers", lambda run: _alarm(run.stats.refused)),
    ("peak in flight", lambda run: str(run.stats.peak)),
    ("shed after retries", lambda run: str(run.outcomes["shed"])),
    ("worker killed", lambda run: f"at {run.kill.at:.1f} s" if run.kill else "-"),
    ("its requests dropped", lambda run: _of_kill(run, run.stats.dropped)),
    ("its slots reclaimed", _reclaimed),
    ("lease losses reported", lambda run: str(run.outcomes["lost"]) if run.shared else "-"),
    ("wall time", lambda run: f"{run.wall:.1f} s"),
]


def table(runs: list[Run], limit: int) -> Table:
    """Lay the runs side by side."""
    grid = Table(title=f"A provider that serves {limit} requests at once", title_style="bold")
    grid.add_column()
    for run in runs:
        grid.add_column(run.title, justify="right")
    for name, cell in ROWS:
        grid.add_row(name, *(cell(run) for run in runs))
    return grid


def failures(run: Run, limit: int) -> list[str]:
    """Tell how the run with shared slots broke its promise; empty when it kept it."""
    broken = []
    if run.stats.refused:
        broken.append(f"the provider answered 429 {run.stats.refused} times")
    if run.stats.peak != limit:
        broken.append(f"the peak in flight was {run.stats.peak}, not {limit}")
    return broken

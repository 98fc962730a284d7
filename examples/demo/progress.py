"""What the demo shows while it runs: moving bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.live import Live

    from examples.demo.runs import Run

LINE_SECONDS = 2
HEADINGS = ("", "in flight", "", "served", "429s", "")


class Screen(Protocol):
    """Where progress goes."""

    def say(self, text: str) -> None:
        """Tell of something that happened."""

    def show(self, run: Run) -> None:
        """Tell how far a run is."""


class Silent:
    """No progress at all."""

    def say(self, text: str) -> None:
        """Say nothing."""

    def show(self, run: Run) -> None:
        """Show nothing."""


class Plain:
    """A line every two seconds, for a log."""

    def __init__(self, console: Console, limit: int) -> None:
        self._console = console
        self._limit = limit
        self._next = 0.0

    def say(self, text: str) -> None:
        """Print it."""
        self._console.print(text, highlight=False, soft_wrap=True)

    def show(self, run: Run) -> None:
        """Print the counts, unless that was done a moment ago."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_SECONDS
            seen = run.stats
            self.say(
                f"{run.title}: {seen.in_flight}/{self._limit} in flight, "
                f"{seen.served} served, {seen.refused} answered 429"
            )


class Bars:
    """A bar for each run, redrawn in place, with what happened above it."""

    def __init__(self, live: Live, limit: int) -> None:
        self._live = live
        self._limit = limit
        self._rows: dict[str, Run] = {}

    def say(self, text: str) -> None:
        """Print it above the bars."""
        self._live.console.print(f"[dim]{text}[/dim]", highlight=False)

    def show(self, run: Run) -> None:
        """Redraw the run's bar, below those of the runs before it."""
        self._rows[run.title] = run
        table = Table(*HEADINGS, box=None, header_style="dim")
        for row in self._rows.values():
            table.add_row(*self._row(row))
        self._live.update(Group(Text(), table, Text()))

    def _row(self, run: Run) -> tuple[Text | ProgressBar, ...]:
        seen = run.stats
        return (
            Text(run.title, style="bold"),
            ProgressBar(total=self._limit, completed=seen.in_flight, width=self._limit),
            Text(f"{seen.in_flight:>2}/{self._limit}"),
            Text(f"{seen.served:>6}"),
            Text(f"{seen.refused:>4}", style="bold red" if seen.refused else "bold green"),
            Text(f"{run.wall or run.clock():4.1f} s", style="dim"),
        )

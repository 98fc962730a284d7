"""What a measure hands back, and how it looks on the screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

Row: TypeAlias = "dict[str, str | int | float]"
WIDE = 7
"""Columns above which a table is turned on its side."""


@dataclass(frozen=True)
class Verdict:
    """Whether a target was met. `target` is an upper bound."""

    what: str
    value: float
    target: float

    @property
    def met(self) -> bool:
        """Whether the value stays within the target."""
        return self.value <= self.target

    def __str__(self) -> str:
        word = "[bold green]met[/]" if self.met else "[bold red]MISSED[/]"
        return f"{word}: {self.what} {_cell(self.value)}, target at most {_cell(self.target)}"


@dataclass
class Report:
    """The rows of one measure, all with the same columns, and its verdicts."""

    title: str
    rows: list[Row]
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """Whether every target was met."""
        return all(verdict.met for verdict in self.verdicts)

    def show(self, console: Console) -> None:
        """Print it."""
        console.print(_on_its_side(self) if len(self.rows[0]) > WIDE else _upright(self))
        for verdict in self.verdicts:
            console.print(str(verdict), highlight=False)
        for note in self.notes:
            console.print(note, style="yellow", markup=False)


def _upright(report: Report) -> Table:
    grid = Table(title=report.title, title_style="bold")
    for name, value in report.rows[0].items():
        grid.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in report.rows:
        grid.add_row(*map(_cell, row.values()))
    return grid


def _on_its_side(report: Report) -> Table:
    grid = Table(title=report.title, title_style="bold", show_header=False)
    for _ in range(1 + len(report.rows)):
        grid.add_column(justify="right" if grid.columns else "left")
    for name in report.rows[0]:
        grid.add_row(name, *(_cell(row[name]) for row in report.rows))
    return grid


def _cell(value: str | float) -> str:
    if isinstance(value, float) and abs(value) < 100:
        return f"{value:.2f}"
    return value if isinstance(value, str) else f"{value:,.0f}"

"""The picture: what each run asked of the provider, and a look at the kill from near."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from examples.demo.settings import RETRY_DELAY_MS

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from examples.demo.runs import Kill, Run

    Points = list[tuple[float, int]]

SERVED, REFUSED, SLOTS, INK = "#4a90cf", "#d9483b", "#111827", "#4b5563"
GRID_SECONDS = 0.01
BEFORE_KILL, AFTER_KILL = 1.0, 2.0

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "legend.edgecolor": "none",
    "legend.framealpha": 0.9,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw(path: Path, runs: list[Run], limit: int, lease: float) -> None:
    """Write the picture of both runs to `path`; `lease` is in seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 7.5), layout=ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08))
        grid = figure.add_gridspec(2, len(runs), height_ratios=[1.2, 1])
        first = figure.add_subplot(grid[0, 0])
        others = [figure.add_subplot(grid[0, at], sharey=first) for at in range(1, len(runs))]
        _all_runs([first, *others], runs, limit)
        if kill := runs[-1].kill:
            _near_the_kill(figure.add_subplot(grid[1, :]), runs[-1], kill, limit, lease)
        figure.savefig(path, dpi=150)


def _all_runs(panels: list[Axes], runs: list[Run], limit: int) -> None:
    for axes, run in zip(panels, runs, strict=True):
        _asked(axes, run)
        _limit_line(axes, limit)
        axes.set_title(f"{run.title}\n{run.stats.refused:,} answers were 429")
        axes.set_xlabel("seconds")
        axes.set_xlim(0, max(run.wall for run in runs))
        if run.kill:
            _kill_mark(axes, run.kill, limit * 1.1)
    panels[0].set_ylabel("asked of the provider at once")
    panels[0].set_ylim(0)
    panels[-1].legend(loc="upper right")


def _asked(axes: Axes, run: Run) -> None:
    """Stack on what is in flight those who were refused and wait to try again."""
    at = np.arange(0, run.wall, GRID_SECONDS)
    refusals = np.array(run.history.refusals)
    since = at - RETRY_DELAY_MS / 1000
    refused = np.searchsorted(refusals, at) - np.searchsorted(refusals, since)
    axes.stackplot(
        at,
        _steps(run.history.in_flight, at),
        refused,
        colors=[SERVED, REFUSED],
        labels=["in flight", f"answered 429 in the last {RETRY_DELAY_MS} ms"],
    )


def _near_the_kill(axes: Axes, run: Run, kill: Kill, limit: int, lease: float) -> None:
    """Show that the slots of the dead outlast its requests, so that the limit is never passed."""
    at = np.arange(max(0, kill.at - BEFORE_KILL), kill.at + AFTER_KILL, GRID_SECONDS)
    flying, held = _steps(run.history.in_flight, at), _steps(run.slots, at)
    axes.axvspan(kill.at, kill.at + lease, color=INK, alpha=0.1, lw=0)
    axes.fill_between(at, flying, step="post", color=SERVED, label="in flight at the provider")
    _limit_line(axes, limit)
    axes.step(at, held, where="post", color=SLOTS, lw=1.4, label="slots held in Redis")
    _kill_mark(axes, kill, limit * 1.13)
    axes.text(kill.at + lease, limit * 1.13, "one lease ", color=INK, ha="right")
    axes.set_title(
        f"The kill from near: its requests end at once, its {kill.slots} slots are free "
        f"again after {kill.back_ms} ms"
    )
    axes.set_xlabel("seconds")
    axes.set_ylabel("at once")
    axes.set_xlim(at[0], at[-1])
    axes.set_ylim(0, limit * 1.25)
    axes.legend(loc="lower right", ncols=3)


def _limit_line(axes: Axes, limit: int) -> None:
    axes.axhline(limit, color=REFUSED, ls="--", lw=1.2, label=f"limit of {limit}")


def _kill_mark(axes: Axes, kill: Kill, height: float) -> None:
    axes.axvline(kill.at, color=SLOTS, lw=1.2)
    axes.annotate(
        "SIGKILL", (kill.at, height), xytext=(4, 0), textcoords="offset points", color=SLOTS
    )


def _steps(points: Points, at: np.ndarray) -> np.ndarray:
    """Read a series of changes at given times; before its first it is 0."""
    times = np.array([time for time, _ in points])
    values = np.array([0, *(value for _, value in points)])
    return values[np.searchsorted(times, at, side="right")]

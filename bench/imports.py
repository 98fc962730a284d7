"""`import`: what `import benni` costs beyond the two packages that it stands on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from bench.report import Report, Verdict

if TYPE_CHECKING:
    from bench.stage import Stage

TARGET = 1.3
LEAST = 15
BARE = "pass"
BASE = "import redis, pydantic"
OURS = "import benni"


def imports(stage: Stage) -> Report:
    """Time fresh interpreters in turn, and take off what a bare one needs to start."""
    starts, bases, ours = _times(max(LEAST, stage.rounds))
    start, base, own = map(median, (starts, bases, ours))
    ratio = median((o - s) / (b - s) for s, b, o in zip(starts, bases, ours, strict=True))
    return Report(
        "import in a fresh interpreter, less a bare interpreter's start",
        [
            {"program": OURS, "ms": (own - start) * 1e3, "ratio": ratio},
            {"program": BASE, "ms": (base - start) * 1e3, "ratio": 1.0},
        ],
        [Verdict("import ratio", ratio, TARGET)],
    )


def _times(rounds: int) -> list[list[float]]:
    """Time each program in turn, all with compiled files, as an installed package has them."""
    programs = (BARE, BASE, OURS)
    with tempfile.TemporaryDirectory(prefix="bench-compiled-") as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for program in programs:
            _seconds(program, environment)
        rows = [[_seconds(each, environment) for each in programs] for _ in range(rounds)]
    return [list(times) for times in zip(*rows, strict=True)]


def _seconds(program: str, environment: dict[str, str]) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    return perf_counter() - start

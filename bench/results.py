"""`bench/results.json`: the last rows of each measure, and where and when they were made."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.report import Report
    from bench.stage import Stage

PATH = Path("bench/results.json")
PACKAGES = ("benni", "redis", "hiredis", "pydantic")


def write(name: str, report: Report, stage: Stage) -> None:
    """Put one measure in the place of its predecessor; the others stay as they are."""
    known = json.loads(PATH.read_text("utf-8")) if PATH.exists() else {}
    known[name] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": _machine(),
        "versions": _versions(stage),
        "commit": _commit(),
        "title": report.title,
        "rows": report.rows,
        "verdicts": [asdict(verdict) | {"met": verdict.met} for verdict in report.verdicts],
        "notes": report.notes,
    }
    PATH.write_text(json.dumps(known, indent=2) + "\n", "utf-8")


def _machine() -> dict[str, str | int | float]:
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count() or 0,
        "system": platform.platform(),
        "load": round(os.getloadavg()[0], 2),
    }


def _cpu() -> str:
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text("utf-8").splitlines() if cpus.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _versions(stage: Stage) -> dict[str, str]:
    servers = {engine.name: engine.version for engine in stage.engines}
    return {"python": platform.python_version(), **dict(map(_package, PACKAGES)), **servers}


def _commit() -> str:
    """Name the commit that was measured, where this is a checkout; `-dirty` says not quite."""
    command = ["git", "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def _package(name: str) -> tuple[str, str]:
    try:
        return name, version(name)
    except PackageNotFoundError:
        return name, "not installed"

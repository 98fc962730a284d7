"""What every measure is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from bench.servers import Engine


@dataclass(frozen=True)
class Stage:
    """The running servers, Valkey first, and how much to measure."""

    engines: list[Engine]
    rounds: int
    pairs: int
    console: Console

"""Draws the states of a lease from the table that the library goes by.

    python -m tests.docs.diagram

puts the drawing of the current table into `docs/leases.md`.
"""

from __future__ import annotations

import re
from collections import defaultdict

from benni._core.lease import TRANSITIONS, State
from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "leases.md"
BLOCK = re.compile(r"(?<=^```mermaid\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def drawing() -> str:
    """Draw `TRANSITIONS`: an arrow for each pair of states, labelled with its events."""
    arrows: defaultdict[tuple[State, State], list[str]] = defaultdict(list)
    for (before, event), after in TRANSITIONS.items():
        arrows[before, after].append(event.value)
    left = {before for before, _ in TRANSITIONS}
    lines = [
        "stateDiagram-v2",
        f"[*] --> {State.HELD.value}: granted",
        *(
            f"{before.value} --> {after.value}: {', '.join(events)}"
            for (before, after), events in arrows.items()
        ),
        *(f"{state.value} --> [*]" for state in State if state not in left),
    ]
    return "\n    ".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(drawing(), PAGE.read_text("utf-8"), count=1), "utf-8")

"""The documents: where they are, and what is in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    """Name a document as the tests do."""
    return str(path.relative_to(ROOT))


def prose(path: Path) -> str:
    """Read a document without its fenced blocks."""
    return _FENCED.sub("", path.read_text("utf-8"))


def anchors(path: Path) -> set[str]:
    """Name the anchors of a document as GitHub does: one for each heading."""
    titles = _HEADING.findall(prose(path))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(path: Path) -> list[str]:
    """List the targets of a document's links and images."""
    return _LINK.findall(prose(path))


def blocks(path: Path, language: str) -> list[str]:
    """List the fenced blocks of one language."""
    found = re.findall(
        rf"^```{language}\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return [str(block) for block in found]

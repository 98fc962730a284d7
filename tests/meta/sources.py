"""The repository as text and as modules, for the tests that hold it to its own rules."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import benni

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "benni"


@cache
def modules() -> list[ModuleType]:
    """Import every module of the package."""
    names = (found.name for found in pkgutil.walk_packages(benni.__path__, "benni."))
    return [benni, *(importlib.import_module(name) for name in sorted(names))]


@cache
def classes() -> dict[str, type]:
    """Find every class where it is defined, by name."""
    return {
        name: value
        for module in modules()
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }


@cache
def files(suffix: str = "") -> list[Path]:
    """List the repository's own files: what git tracks, or would."""
    return [path for path in _listed() if path.is_file() and path.name.endswith(suffix)]


@cache
def _listed() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # not a checkout
        made = re.compile(r"(?:^|/)(?:\.|__pycache__|build/|dist/)")
        every = sorted(ROOT.rglob("*"))
        return [path for path in every if not made.search(path.relative_to(ROOT).as_posix())]
    return [ROOT / name for name in listed.stdout.splitlines()]


def name_of(path: Path) -> str:
    """Name a file as messages do."""
    return path.relative_to(ROOT).as_posix()


def imports_of(path: Path) -> set[str]:
    """Name every module that a file imports when it runs, be it inside a function."""
    return set(_imports(ast.parse(path.read_text("utf-8"))))


def _imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If) and _names(node.test) == ["TYPE_CHECKING"]:
        for other in node.orelse:
            yield from _imports(other)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        assert node.module is not None
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def _names(node: ast.AST) -> list[str]:
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]


def of(names: set[str], package: str) -> set[str]:
    """Choose the modules of a package."""
    return {name for name in names if name == package or name.startswith(f"{package}.")}

"""The repository's own rules, each where a reader would look for it: in a test that fails."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest
from meta.sources import PACKAGE, ROOT, files, name_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
EXTRAS = set(PROJECT["project"]["optional-dependencies"])

PYTHON = files(".py")
TESTS = [p for p in PYTHON if p.is_relative_to(ROOT / "tests") and p.name.startswith("test_")]
BINARY = (".png", ".gif", ".ico")
TEXTS = [path for path in files() if not path.name.endswith(BINARY)]
PAGES = [path for path in files(".md") if path.stat().st_size]

MOST_LINES = 300
FOREIGN = [
    *(re.escape("/" + place) for place in ("work/", "root/", "opt/pypi", "opt/wheels")),
    r"(?i)\bpypi\.[a-z]+\b|//[a-z0-9.-]*py" + r"pi[a-z0-9.-]*[:/]|pythonho" + "sted",
]


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_a_file_fits_in_the_head(path):
    """Beyond 300 lines a file is two files."""
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("place", FOREIGN)
def test_nothing_of_this_machine(place):
    """No path of the machine that it was written on, and no host that it was installed from."""
    here = [name_of(path) for path in TEXTS if re.search(place, path.read_text("utf-8"))]
    assert here == []


def test_types_are_announced():
    """PEP 561: the marker that lets type checkers read the package."""
    assert (PACKAGE / "py.typed").read_bytes() == b""


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_what_a_page_makes_can_be_made(path):
    """Each `make x` that a page tells the reader to run is a target."""
    said = re.findall(r"(?:^|`)make ([a-z-]+)", path.read_text("utf-8"), re.MULTILINE)
    assert set(said) <= TARGETS


@pytest.mark.parametrize("path", [*PAGES, *PYTHON], ids=name_of)
def test_an_extra_that_is_named_exists(path):
    """Each extra of benni that a page or a message names can be installed."""
    said = re.findall(r"benni\[([a-z,]+)\](?=['\"`\s>)])", path.read_text("utf-8"))
    assert {extra for group in said for extra in group.split(",")} <= EXTRAS


def test_the_makefile_installs_what_exists():
    """Each set-up stamp is an extra's name."""
    assert set(re.findall(r"\$\(STAMP\)-([a-z]+)", MAKEFILE)) <= EXTRAS


def test_every_target_is_told():
    """`make help` shows each target that can be made, and each is declared."""
    told = set(re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == TARGETS
    assert TARGETS - told <= {"help"}


def test_the_check_runs_the_rules():
    """What matters is checked by `make check`: lint, format, types twice, and these tests."""
    recipe = MAKEFILE.split("\ncheck:")[1].split("\n\n")[0]
    for part in ("ruff check", "ruff format --check", "mypy", "pyright", "tests/meta"):
        assert part in recipe


def test_the_version_has_a_change_log():
    """What is released is written down."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if not text.strip():
        pytest.skip("nothing is written yet")
    assert PROJECT["project"]["version"] in text or "Unreleased" in text


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_every_test_states_its_behaviour(path):
    """A test states one behaviour in its docstring."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    tests = [fn for fn in functions if fn.name.startswith("test_")]
    assert [fn.name for fn in tests if not ast.get_docstring(fn)] == []


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_no_test_is_hidden_by_another(path):
    """Two tests of one name are one test."""
    body = ast.parse(path.read_text("utf-8")).body
    names = [n.name for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert len(names) == len(set(names))

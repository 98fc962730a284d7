"""What each layer may import, as the packages' own docstrings have it."""

from __future__ import annotations

import re

import pytest
from meta.sources import PACKAGE, files, imports_of, name_of, of

import benni._core
import benni._io

WORLD = {"redis", "asyncio", "threading", "time", "random"}
IO = {
    *{"os", "io", "pathlib", "socket", "ssl", "select", "selectors", "subprocess", "signal"},
    *{"logging", "concurrent", "multiprocessing", "datetime", "secrets", "uuid", "valkey"},
}
ABOVE = {"benni._io", "benni.primitives", "benni.client", "benni.schema"}

CORE = [path for path in files(".py") if path.is_relative_to(PACKAGE / "_core")]
OUTSIDE_IO = [
    path
    for path in files(".py")
    if path.is_relative_to(PACKAGE) and not path.is_relative_to(PACKAGE / "_io")
]
BELOW_PRIMITIVES = [*CORE, *(p for p in files(".py") if p.is_relative_to(PACKAGE / "_io"))]


def test_the_rule_of_the_core_says_what_is_tested():
    """The docstring names exactly what this test forbids."""
    rule = re.search(r"in this package imports ([\w\s,]+?),? or does I/O", benni._core.__doc__)
    assert rule is not None
    assert set(re.split(r",\s*|\s+or\s+", rule[1])) == WORLD


def test_the_rule_of_io_says_what_is_tested():
    """The docstring claims for the package what this test keeps from all others."""
    assert "The only place that waits or talks" in benni._io.__doc__


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_the_core_does_not_touch_the_world(path):
    """It imports nothing that waits, talks, counts time or throws dice."""
    roots = {name.partition(".")[0] for name in imports_of(path)}
    assert not roots & (WORLD | IO)


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_the_core_calls_nothing_that_does(path):
    """Nor does it open, print or read without an import."""
    assert not re.findall(r"\b(?:open|print|input|exec|eval|__import__)\(", path.read_text("utf-8"))


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_the_core_knows_only_itself(path):
    """Of benni it imports itself and the errors."""
    own = of(imports_of(path), "benni")
    assert own == of(own, "benni._core") | of(own, "benni.errors")


@pytest.mark.parametrize("path", BELOW_PRIMITIVES, ids=name_of)
def test_nothing_imports_upwards(path):
    """Drivers and decisions do not know what is built on them."""
    for package in ABOVE - {"benni._io"}:
        assert not of(imports_of(path), package)


@pytest.mark.parametrize("path", OUTSIDE_IO, ids=name_of)
def test_only_io_imports_a_driver(path):
    """redis-py is behind one door."""
    roots = {name.partition(".")[0] for name in imports_of(path)}
    assert not roots & {"redis", "valkey", "fakeredis", "hiredis"}


@pytest.mark.parametrize("path", [PACKAGE / "errors.py"], ids=name_of)
def test_errors_import_nothing(path):
    """Everything may import the errors."""
    assert imports_of(path) <= {"__future__", "__future__.annotations"}

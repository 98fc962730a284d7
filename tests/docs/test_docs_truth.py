"""What the documents say in words agrees with the library."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest

import benni
import benni.primitives
import benni.schema
from benni._core.keys import sibling
from benni._core.lease import Event, State
from benni._core.options import AcquireOptions, RunOptions
from tests.docs import diagram
from tests.docs.documents import DOCUMENTS, ROOT, anchors, links, name_of, prose

if TYPE_CHECKING:
    from pathlib import Path

PAGES = ROOT / "docs"
EVERYTHING = "\n".join(path.read_text("utf-8") for path in DOCUMENTS)
SCRIPTS = sorted((ROOT / "benni" / "primitives" / "semaphore").glob("*.lua"))


def test_the_diagram_shows_the_table() -> None:
    """The drawing in `leases.md` is what the table gives: `python -m tests.docs.diagram`."""
    match = diagram.BLOCK.search(diagram.PAGE.read_text("utf-8"))
    assert match is not None
    assert match[0] == diagram.drawing()


@pytest.mark.parametrize("word", [*Event, *State], ids=lambda word: word.value)
def test_every_word_of_the_diagram_is_explained(word: Event | State) -> None:
    """States and events stand in the text of `leases.md` as well."""
    assert f"`{word.value}`" in prose(diagram.PAGE)


PUBLIC = sorted({*benni.__all__, *benni.primitives.__all__, *benni.schema.__all__})


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name: str) -> None:
    """A name that can be imported is found in the documents."""
    assert re.search(rf"\b{name}\b", EVERYTHING)


@pytest.mark.parametrize(
    "option", sorted({*AcquireOptions.__annotations__, *RunOptions.__annotations__})
)
def test_every_option_has_a_row(option: str) -> None:
    """`semaphore.md` has each option of a call in its table."""
    assert re.search(rf"^\| `{option}` \|", prose(PAGES / "semaphore.md"), re.MULTILINE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_has_a_row(script: Path) -> None:
    """`wire.md` gives the keys and arguments of each script as its header does."""
    header = dict(re.findall(r"^-- (KEYS|ARGV): ?(.*)$", script.read_text("utf-8"), re.MULTILINE))
    keys = ", ".join(header["KEYS"].split())
    names = [word.replace(":int", "") for word in header["ARGV"].split()]
    row = f"| `{script.stem}` | {keys} | {', '.join(names) or 'none'} |"
    assert row in prose(PAGES / "wire.md")


def test_the_names_of_second_keys_are_right() -> None:
    """`wire.md` shows the key that is made for odd braces as well."""
    page = prose(PAGES / "wire.md")
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]*void[^`]*)` \|", page, re.MULTILINE)
    assert len(rows) == 4
    for key, second in rows:
        assert sibling(key, "void") == second


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(path: Path) -> None:
    """Links between the documents, and to files, name what exists."""
    for target in links(path):
        if target.startswith(("https://", "http://")):
            continue
        file, _, anchor = target.partition("#")
        other = (path.parent / file).resolve() if file else path
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


def test_every_page_is_on_the_map() -> None:
    """`index.md` links to every other page."""
    listed = set(links(PAGES / "index.md"))
    assert {path.name for path in PAGES.glob("*.md")} - {"index.md"} <= listed


def test_commands_of_the_repository_exist() -> None:
    """The targets of `make` and the extras that the documents name are there."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z]+)\b", EVERYTHING, re.MULTILINE)) <= targets
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = ",".join(re.findall(r"\bbenni\[([a-z,]+)\]", EVERYTHING))
    assert set(named.split(",")) <= set(project["optional-dependencies"])

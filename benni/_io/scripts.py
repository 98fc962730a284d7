"""Reads the `.lua` files that lie beside the code which calls them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from benni._core.scripts import Script, parse

SHARED = ("now",)
"""Functions that any script may use, each in a file of its name in `benni/primitives`."""


@cache
def _shared() -> dict[str, str]:
    folder = files("benni.primitives")
    return {name: folder.joinpath(f"{name}.lua").read_text("utf-8") for name in SHARED}


def load(primitive: str, name: str) -> Script:
    """Load `benni/primitives/<primitive>/<name>.lua`."""
    path = files("benni.primitives").joinpath(primitive, f"{name}.lua")
    return parse(f"{primitive}/{name}.lua", path.read_text("utf-8"), _shared())

"""A Lua script as a value, and the header that says how to call it.

The header is code: the locals that the body uses are made from it, so it cannot differ from what
the script does. It reads

    -- KEYS: holders void
    -- ARGV: limit:int lease:int token
    -- RETURNS: 1 taken, 0 no room

`:int` makes a number of an argument. A last argument written `names...` stands for one or more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha1
from math import inf
from typing import TYPE_CHECKING

from benni._core.effects import Call

if TYPE_CHECKING:
    from benni._core.effects import Argument

_HEADER = re.compile(r"^-- (KEYS|ARGV|RETURNS):[ ]?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A script: its name for messages, its full text, and how many keys and arguments it takes."""

    name: str
    text: str
    keys: tuple[str, ...]
    args: tuple[str, ...]
    sha: str = field(init=False)
    _fewest: int = field(init=False)
    _most: float = field(init=False)

    def __post_init__(self) -> None:
        digest = sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        variadic = bool(self.args) and self.args[-1].endswith("...")
        object.__setattr__(self, "sha", digest)
        object.__setattr__(self, "_fewest", len(self.args))
        object.__setattr__(self, "_most", inf if variadic else len(self.args))

    def call(
        self, keys: tuple[bytes, ...], args: tuple[Argument, ...], *, brief: bool = False
    ) -> Call:
        """Make a call of it; the numbers of keys and arguments must be those of the header."""
        if len(keys) != len(self.keys) or not self._fewest <= len(args) <= self._most:
            raise TypeError(f"{self.name} takes keys {self.keys} and arguments {self.args}")
        return Call(self, keys, args, brief)


def parse(name: str, source: str, includes: dict[str, str]) -> Script:
    """Make a `Script` of a file's text; `includes` are the functions it may use, by name."""
    header = dict(_HEADER.findall(source))
    if missing := {"KEYS", "ARGV", "RETURNS"} - header.keys():
        raise ValueError(f"{name}: no {', '.join(sorted(missing))} in the header")
    keys = tuple(header["KEYS"].split())
    args = tuple(header["ARGV"].split())
    body = "\n".join([*_included(source, includes), *_locals(keys, args), source])
    return Script(name, body, keys, args)


def _included(source: str, includes: dict[str, str]) -> list[str]:
    used = set(re.findall(r"\b([a-z_]+)\(", source))
    return [text.strip() for name, text in includes.items() if name in used]


def _locals(keys: tuple[str, ...], args: tuple[str, ...]) -> list[str]:
    lines = [f"local {key} = KEYS[{n}]" for n, key in enumerate(keys, 1)]
    for n, argument in enumerate(args, 1):
        if argument.endswith("..."):
            rest = argument[:-3]  # one by one: there may be more than fit on Lua's stack
            lines.append(f"local {rest} = {{}}")
            lines.append(f"for n = {n}, #ARGV do {rest}[n - {n - 1}] = ARGV[n] end")
            continue
        name, _, kind = argument.partition(":")
        value = f"tonumber(ARGV[{n}])" if kind == "int" else f"ARGV[{n}]"
        lines.append(f"local {name} = {value}")
    return lines

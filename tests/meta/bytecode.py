"""Reads what Lua 5.1 makes of a script, to see which globals it uses on any path."""

from __future__ import annotations

import struct
from typing import NamedTuple

from lupa.lua51 import LuaRuntime

GET, SET = 5, 7
"""The two instructions that touch a global."""


class Globals(NamedTuple):
    """The names of the globals that a script reads, and of those that it sets."""

    read: set[str]
    written: set[str]


def globals_of(text: str) -> Globals:
    """Compile `text` and list its globals; a `SyntaxError` if it is no Lua."""
    lua = LuaRuntime(encoding=None)
    compiled = lua.eval(b"function(text) local f, why = loadstring(text) return f, why end")
    function, why = compiled(text.encode())
    if function is None:
        raise SyntaxError(why.decode())
    found = Globals(set(), set())
    reader = _Reader(lua.globals().string.dump(function))
    reader.skip(12)  # the header
    reader.function(found)
    return found


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def skip(self, count: int) -> bytes:
        start, self._at = self._at, self._at + count
        return self._data[start : self._at]

    def number(self, kind: str) -> int:
        value = struct.unpack(kind, self.skip(struct.calcsize(kind)))[0]
        assert isinstance(value, int)
        return value

    def text(self) -> str:
        return self.skip(self.number("=Q")).rstrip(b"\0").decode()

    def function(self, found: Globals) -> None:
        self.text()
        self.skip(2 * 4 + 4)  # its lines, and four bytes about its variables
        code = [self.number("=I") for _ in range(self.number("=i"))]
        constants = [self.constant() for _ in range(self.number("=i"))]
        for _ in range(self.number("=i")):
            self.function(found)
        self.skip(4 * self.number("=i"))  # for each instruction its line
        for _ in range(self.number("=i")):
            self.text()
            self.skip(2 * 4)  # where a local begins and ends
        for _ in range(self.number("=i")):
            self.text()
        for instruction in code:
            name = constants[instruction >> 14] if instruction & 0x3F in (GET, SET) else None
            if name is not None:
                (found.read if instruction & 0x3F == GET else found.written).add(name)

    def constant(self) -> str | None:
        kind = self.number("=B")
        if kind == 4:
            return self.text()
        self.skip({0: 0, 1: 1, 3: 8}[kind])
        return None

"""Runs the examples of a document, in order, as a reader would.

A block of `python` is executed statement by statement, in a namespace that belongs to the document.
A statement may await, as in `python -m asyncio`. What a comment at its end says is checked::

    slots.count("openai")  # -> 0
    semaphore("provider", limit=0)  # raises ValidationError: semaphore limit must be ...

A block that begins with the comment `# worker.py` is a file: it is saved in the document's folder,
and something later must import or run it. A block of `console` is run, and what it prints is
checked.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import inspect
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Self

from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser

from benni import AsyncBenni, SyncBenni

if TYPE_CHECKING:
    from pathlib import Path
    from types import CodeType

    from sybil import Example

_FILE = re.compile(r"# (\w+\.py)\n")
_EXPECTATION = re.compile(r" +# (->|raises) (.+)$")
_AWAITING = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_SECONDS = 60


def file_of(block: str) -> str | None:
    """Tell which file a block of Python is, if it is one."""
    match = _FILE.match(block)
    return match[1] if match else None


class Reader:
    """Somebody who tries the examples of one document: a namespace, an event loop, a folder."""

    def __init__(self, folder: Path) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.unused: set[str] = set()
        """Files that nothing has run or imported yet."""
        self._folder = folder
        self._loop = asyncio.Runner()
        self._back = contextlib.ExitStack()

    def __enter__(self) -> Self:
        self._back.enter_context(contextlib.chdir(self._folder))
        sys.path.insert(0, str(self._folder))
        self._back.callback(sys.path.remove, str(self._folder))
        self._back.callback(self._forget_modules)
        self._back.enter_context(self._loop)
        self._back.callback(self._close_handles)
        return self

    def __exit__(self, *exc: object) -> None:
        self._back.close()

    def read(self, path: Path) -> None:
        """Evaluate every example of a document."""
        parsers = [
            CodeBlockParser("python", self._python),
            CodeBlockParser("console", self._console),
        ]
        for example in Sybil(parsers).parse(path):
            example.evaluate()

    def _python(self, example: Example) -> str | None:
        source = str(example.parsed)
        if name := file_of(source):
            (self._folder / name).write_text(source, "utf-8")
            self.unused.add(name)
            return None
        tree = ast.parse(source)
        lines = source.splitlines()
        shift = example.line + example.parsed.line_offset
        for statement in tree.body:
            last = lines[(statement.end_lineno or 0) - 1].encode()[statement.end_col_offset :]
            expected = _EXPECTATION.match(last.decode())
            ast.increment_lineno(statement, shift)
            failure = self._statement(statement, example.path, expected)
            if failure:
                return f"line {statement.lineno}: {failure}"
        self._note_use()
        return None

    def _statement(self, node: ast.stmt, path: str, expected: re.Match[str] | None) -> str | None:
        kind, wanted = expected.groups() if expected else ("", "")
        try:
            value = self._value(node, path)
        except Exception as error:
            if kind != "raises":
                raise
            return _difference(wanted, f"{type(error).__name__}: {error}")
        if kind == "raises":
            return f"nothing was raised, expected {wanted}"
        return _difference(wanted, repr(value)) if expected else None

    def _value(self, node: ast.stmt, path: str) -> object:
        if isinstance(node, ast.Expr):
            code = compile(ast.Expression(node.value), path, "eval", flags=_AWAITING)
        else:
            code = compile(ast.Module([node], []), path, "exec", flags=_AWAITING)
        return self._loop.run(self._step(code))

    async def _step(self, code: CodeType) -> object:
        value = eval(code, self.namespace)
        return await value if code.co_flags & inspect.CO_COROUTINE else value

    def _console(self, example: Example) -> str | None:
        for command, wanted in _commands(example.parsed):
            program, *arguments = command.split()
            if program != "python":
                return f"only python is run, not {command}"
            process = subprocess.run(
                [sys.executable, *arguments],
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
                env={**os.environ, "PYTHONPATH": str(self._folder)},
            )
            self.unused.difference_update(arguments)
            if process.returncode:
                return f"{command} ended with {process.returncode}\n{process.stderr}"
            failure = _difference(wanted, process.stdout.strip())
            if failure:
                return f"{command}: {failure}\n{process.stderr}"
        self._note_use()
        return None

    def _note_use(self) -> None:
        """Count a file as used if it is imported here, or if a file that was used names it."""
        used = [path for path in self._folder.glob("*.py") if path.name not in self.unused]
        text = "\n".join(path.read_text("utf-8") for path in used)
        for name in list(self.unused):
            module = name.removesuffix(".py")
            if module in sys.modules or f"import {module}\n" in text or f'"{name}"' in text:
                self.unused.discard(name)

    def _close_handles(self) -> None:
        for value in list(self.namespace.values()):
            if isinstance(value, SyncBenni):
                value.close()
            elif isinstance(value, AsyncBenni):
                self._loop.run(value.aclose())
        self.namespace.clear()

    def _forget_modules(self) -> None:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(f"{self._folder}{os.sep}"):
                del sys.modules[name]


def _commands(text: str) -> list[tuple[str, str]]:
    """Split a console block into commands and what they print."""
    parts = re.split(r"^\$ (.+)$", text, flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block begins with a command"
    return [
        (command, output.strip()) for command, output in zip(parts[1::2], parts[2::2], strict=True)
    ]


def _difference(wanted: str, got: str) -> str | None:
    same = doctest.OutputChecker().check_output(f"{wanted}\n", f"{got}\n", doctest.ELLIPSIS)
    return None if same else f"expected {wanted}, got {got}"

"""The rules for Lua: the header is the only place that names keys and arguments."""

from __future__ import annotations

import re

import pytest
from meta.bytecode import globals_of
from meta.sources import PACKAGE, files, modules

from benni._core.scripts import Script, parse
from benni._io.scripts import SHARED

FOLDER = PACKAGE / "primitives"
EVERY = [path for path in files(".lua") if path.is_relative_to(PACKAGE)]
INCLUDES = {path.stem: path.read_text("utf-8") for path in EVERY if path.parent == FOLDER}
FILES = [path for path in EVERY if path.parent != FOLDER]

OFFERED = {
    *{"redis", "KEYS", "ARGV", "cjson", "cmsgpack", "bit", "struct"},
    *{"tonumber", "tostring", "ipairs", "pairs", "next", "type", "unpack", "select", "error"},
    *{"pcall", "math", "string", "table"},
}
"""The globals that Redis offers to a script and that a script of ours may want."""

KEYLESS = {"TIME", "PUBLISH", "SPUBLISH"}
"""Commands whose first argument is no key."""


def name_of(path):
    return path.relative_to(FOLDER).as_posix()


def script_of(path):
    return parse(name_of(path), path.read_text("utf-8"), INCLUDES)


def body_of(path):
    """The script without its comments."""
    return re.sub(r"--.*", "", path.read_text("utf-8"))


def declared_in(path):
    script = script_of(path)
    return [*script.keys, *(re.sub(r":int$|\.\.\.$", "", arg) for arg in script.args)]


each = pytest.mark.parametrize("path", FILES, ids=name_of)


def test_the_files_are_found():
    """There is something to check."""
    assert {"semaphore/acquire.lua", "semaphore/release.lua"} <= set(map(name_of, FILES))


@each
def test_the_header_comes_first(path):
    """What it does, then what it takes and returns, before the first line of code."""
    head = path.read_text("utf-8").partition("\n\n")[0].splitlines()
    assert all(line.startswith("--") for line in head)
    assert re.fullmatch(r"-- \S.*\.", head[0])
    words = [line.split(":")[0] for line in head if re.match(r"-- [A-Z]+:", line)]
    assert words == ["-- KEYS", "-- ARGV", "-- RETURNS"]


@each
def test_the_header_says_what_is_returned(path):
    """A reader need not go through the code for it."""
    assert re.search(r"^-- RETURNS: \S", path.read_text("utf-8"), re.MULTILINE)


@each
def test_declarations_are_names(path):
    """Each key and argument has a name of its own that Lua can use."""
    names = declared_in(path)
    assert all(re.fullmatch(r"[a-z][a-z_]*", name) for name in names)
    assert len(set(names)) == len(names)


@each
def test_every_declaration_is_used(path):
    """A header does not ask for what the script does not need."""
    unused = [name for name in declared_in(path) if not re.search(rf"\b{name}\b", body_of(path))]
    assert not unused


@each
def test_keys_and_arguments_have_names(path):
    """No number of a key or an argument is in a body, where it could go wrong unseen."""
    assert not re.findall(r"\b(?:KEYS|ARGV)\b", body_of(path))


@each
def test_every_key_is_declared(path):
    """A Cluster, and whoever reads the header, knows every key that a script touches."""
    calls = re.findall(r"redis\.p?call\(\s*'(\w+)'(?:\s*,\s*([^,)]+))?", body_of(path))
    assert calls, "calls nothing"
    touched = {key for command, key in calls if command not in KEYLESS}
    assert touched <= set(script_of(path).keys)
    assert len(calls) == len(re.findall(r"\bredis\.p?call\b", body_of(path)))


@each
def test_no_global_is_set(path):
    """Redis would refuse it, but only on the path that does it."""
    assert globals_of(script_of(path).text).written == set()


@each
def test_only_what_redis_offers_is_read(path):
    """A misspelt local is a global that is not there."""
    assert globals_of(script_of(path).text).read <= OFFERED


@each
def test_server_time_comes_from_one_place(path):
    """Milliseconds are made of TIME in `now.lua`, and nowhere else."""
    assert "'TIME'" not in body_of(path)


def test_every_file_is_used():
    """A script that nobody calls is not shipped."""
    values = [value for module in modules() for value in vars(module).values()]
    assert {s.name for s in values if isinstance(s, Script)} == set(map(name_of, FILES))


def test_every_shared_function_is_used():
    """Each is announced, defines the function of its name, and is called by a script."""
    assert set(SHARED) == set(INCLUDES)
    for name, text in INCLUDES.items():
        assert text.startswith(f"local function {name}(")
        assert any(re.search(rf"\b{name}\(", body_of(path)) for path in FILES)


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("local a = 1 return a", set(), set()),
        ("a = 1", set(), {"a"}),
        ("if redis then local function f() b = c end end", {"redis", "c"}, {"b"}),
        ("function f() end return 'a', 1.5, true, nil, f", {"f"}, {"f"}),
    ],
)
def test_globals_are_seen(text, read, written):
    """The check would find one, in a function and behind a condition too."""
    assert globals_of(text) == (read, written)


def test_a_syntax_error_is_seen():
    """A script that is no Lua does not pass for one without globals."""
    with pytest.raises(SyntaxError, match="near"):
        globals_of("local = 1")

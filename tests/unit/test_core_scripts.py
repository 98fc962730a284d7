"""A script's header: what is made of it, and what is refused."""

from __future__ import annotations

from hashlib import sha1

import pytest

from benni._core.scripts import parse

NOW = "local function now()\n  return 7\nend\n"


def source(keys="holders", args="limit:int token", returns="1", body="return 1"):
    return f"-- KEYS: {keys}\n-- ARGV: {args}\n-- RETURNS: {returns}\n\n{body}\n"


def lines(script):
    return script.text.splitlines()


def test_keys_become_locals():
    """Each key has the name that the header gives it, in order."""
    script = parse("a.lua", source(keys="holders void"), {})
    assert script.keys == ("holders", "void")
    assert lines(script)[:2] == ["local holders = KEYS[1]", "local void = KEYS[2]"]


def test_arguments_become_locals():
    """`:int` makes a number; without it the argument is as it was sent."""
    script = parse("a.lua", source(), {})
    assert lines(script)[1:3] == ["local limit = tonumber(ARGV[1])", "local token = ARGV[2]"]


def test_the_last_argument_may_be_many():
    """`members...` is a table of everything from there on."""
    script = parse("a.lua", source(args="limit:int members..."), {})
    assert lines(script)[2:4] == [
        "local members = {}",
        "for n = 2, #ARGV do members[n - 1] = ARGV[n] end",
    ]


def test_a_script_without_arguments():
    """An empty declaration is one: there are none."""
    script = parse("a.lua", source(args=""), {})
    assert script.args == ()
    assert lines(script)[0] == "local holders = KEYS[1]"
    assert script.call((b"k",), ()).args == ()


def test_a_declaration_may_end_at_its_colon():
    """Editors strip trailing blanks; that declares nothing else."""
    text = "-- KEYS: holders\n-- ARGV:\n-- RETURNS: 1\nreturn 1\n"
    assert parse("a.lua", text, {}).args == ()


def test_the_source_is_kept():
    """What is sent ends with the file as it is, header and all."""
    assert parse("a.lua", source(), {}).text.endswith(source())


@pytest.mark.parametrize("line", ["KEYS", "ARGV", "RETURNS"])
def test_a_header_that_lacks_a_line(line):
    """Every script says what it takes and what it returns."""
    text = "\n".join(row for row in source().splitlines() if not row.startswith(f"-- {line}"))
    with pytest.raises(ValueError, match=rf"^a\.lua: no {line} in the header"):
        parse("a.lua", text, {})


def test_no_header_at_all():
    """All that is missing is named at once."""
    with pytest.raises(ValueError, match="no ARGV, KEYS, RETURNS"):
        parse("a.lua", "return 1", {})


@pytest.mark.parametrize("row", ["--KEYS: holders", "-- keys: holders", "  -- KEYS: holders"])
def test_a_line_that_only_looks_like_one(row):
    """A declaration is written in one way."""
    with pytest.raises(ValueError, match="no KEYS"):
        parse("a.lua", source().replace("-- KEYS: holders", row), {})


def test_a_function_that_is_used_is_included():
    """It stands before the script, once, however often it is called."""
    script = parse("a.lua", source(body="return now() + now()"), {"now": NOW})
    assert script.text.startswith("local function now()")
    assert script.text.count("local function now()") == 1


@pytest.mark.parametrize("body", ["return 1", "local now = 1", "return known()", "return now2()"])
def test_a_function_that_is_not_used_is_left_out(body):
    """A script carries nothing that it does not call."""
    assert "function now" not in parse("a.lua", source(body=body), {"now": NOW}).text


def test_the_digest():
    """It is the one that a server computes of the text, snowmen included."""
    script = parse("a.lua", source(body="return '\N{SNOWMAN}'"), {})
    assert script.sha == sha1(script.text.encode(), usedforsecurity=False).hexdigest()


def test_a_call():
    """A call carries its script, and may ask for brevity."""
    script = parse("a.lua", source(), {})
    call = script.call((b"k",), (1, "t"))
    assert (call.script, call.keys, call.args, call.brief) == (script, (b"k",), (1, "t"), False)
    assert script.call((b"k",), (1, "t"), brief=True).brief is True


@pytest.mark.parametrize(
    ("keys", "args"),
    [((), (1, "t")), ((b"k", b"l"), (1, "t")), ((b"k",), (1,)), ((b"k",), (1, "t", "u"))],
)
def test_a_call_that_does_not_fit(keys, args):
    """The numbers of keys and arguments are those of the header."""
    with pytest.raises(TypeError, match=r"a\.lua takes keys \('holders',\) and arguments"):
        parse("a.lua", source(), {}).call(keys, args)


def test_a_call_with_many():
    """One or more are taken for the last argument, and not none."""
    script = parse("a.lua", source(args="limit:int members..."), {})
    assert script.call((b"k",), (1, "a", "b", "c")).args == (1, "a", "b", "c")
    with pytest.raises(TypeError):
        script.call((b"k",), (1,))


def test_equal_sources_are_equal_scripts():
    """A script is a value."""
    assert parse("a.lua", source(), {}) == parse("a.lua", source(), {})

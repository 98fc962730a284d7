"""What a schema declares, and the conflicts in it."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import pytest

from benni._core.registry import Declared, collect
from benni.errors import ValidationError


class Thing(Declared):
    kind: ClassVar[str] = "thing"

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix


def module(name="schema_of_mine", **values):
    made = ModuleType(name)
    vars(made).update(values)
    return made


def refusal(schema):
    with pytest.raises(ValidationError) as raised:
        collect(schema)
    return str(raised.value)


def test_a_module():
    """Declarations are found under their names, and everything else is ignored."""
    slots = Thing("a")
    assert collect(module(slots=slots, sys=sys, number=1, Thing=Thing)) == {"slots": slots}


def test_a_mapping():
    """A mapping does as well as a module."""
    slots = Thing("a")
    assert collect({"slots": slots, "other": "value", 3: Thing("c")}) == {"slots": slots}


def test_a_class():
    """So does a class, with what it inherits."""

    class Base:
        slots = Thing("a")
        lock = Thing("b")

    class Schema(Base):
        lock = Thing("c")

        def method(self): ...

    assert collect(Schema) == {"slots": Base.slots, "lock": Schema.lock}


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_list(kind):
    """Several are one, lists in lists too."""
    one, two, three = Thing("a"), Thing("b"), Thing("c")
    schema = kind([{"one": one}, kind([module(two=two), {"three": three}])])
    assert collect(schema) == {"one": one, "two": two, "three": three}


@pytest.mark.parametrize("schema", [(), [], {}, module()])
def test_nothing(schema):
    """A handle may have no schema."""
    assert collect(schema) == {}


def test_what_begins_with_an_underscore_is_private():
    """A schema module may keep a declaration to itself."""
    assert collect(module(_slots=Thing("a"))) == {}


def test_names_keep_their_order():
    """They are listed as they were declared."""
    assert list(collect({"z": Thing("1"), "a": Thing("2"), "m": Thing("3")})) == ["z", "a", "m"]


@pytest.mark.parametrize("schema", ["slots", 3, None, SimpleNamespace(), Thing("a")], ids=repr)
def test_what_is_no_schema(schema):
    """It is told what it may be, and shown what it is."""
    seen = refusal(schema)
    assert seen.startswith("schema must be a module, a mapping, a class or a list of these")
    assert seen.endswith(f"received {schema!r}")


def test_what_is_no_schema_in_a_list():
    """It is told where."""
    assert refusal([{}, [module(), 3]]).startswith("schema[1][1] must be a module")


def test_one_prefix_twice():
    """Two declarations would share keys, so both places are named."""
    seen = refusal({"slots": Thing("a"), "lock": Thing("a")})
    assert seen == (
        "schema prefix 'a' is claimed twice: schema.slots (thing) and schema.lock (thing)"
    )


def test_one_prefix_in_two_modules():
    """A place in a module begins with the module's name."""
    seen = refusal([module("one", x=Thing("a")), {"y": Thing("a")}])
    assert "one.x (thing) and schema[1].y (thing)" in seen


def test_one_name_twice():
    """A name that means two things is refused, not overwritten."""
    seen = refusal([module("one", slots=Thing("a")), module("two", slots=Thing("b"))])
    assert seen == "schema name 'slots' is declared twice: one.slots and two.slots"


def test_one_object_under_two_names():
    """An alias claims nothing anew."""
    slots = Thing("a")
    assert collect({"slots": slots, "alias": slots}) == {"slots": slots, "alias": slots}


def test_one_object_in_two_modules():
    """A module may import what another declares."""
    slots = Thing("a")
    assert collect([module("one", slots=slots), module("two", slots=slots)]) == {"slots": slots}


def test_the_first_place_is_named():
    """An object that was seen twice is named where it was seen first."""
    slots = Thing("a")
    schema = [module("one", slots=slots), module("two", slots=slots), {"slots": Thing("b")}]
    assert "one.slots and schema[2].slots" in refusal(schema)


def test_equal_declarations_are_two():
    """Only the same object may appear twice: equal ones were written twice."""

    class Equal(Thing):
        def __eq__(self, other):
            return True

        __hash__ = None

    assert "claimed twice" in refusal({"one": Equal("a"), "two": Equal("a")})

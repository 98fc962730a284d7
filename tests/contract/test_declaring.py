"""Declarations are plain values, and a schema is a collection of them."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import types

import pydantic
import pytest
import redis

from benni import Benni, ValidationError
from benni.schema import Declaration, SemaphoreSchema, semaphore

slots = semaphore("provider", limit=20, lease_ms=60_000)
jobs = semaphore("jobs", limit=3)
_private = semaphore("private", limit=1)
not_one = "ignored"


def bind(schema):
    """Bind to a client that is never asked for anything."""
    return Benni(redis.Redis(port=1), schema=schema)


def module(name, **names):
    made = types.ModuleType(name)
    vars(made).update(names)
    return made


OPENS = """
import sys, threading
opened = []
watched = ("socket.__new__", "subprocess.Popen", "os.fork", "os.posix_spawn")
sys.addaudithook(lambda event, args: opened.append(event) if event in watched else None)
from benni.schema import semaphore
semaphore("p", limit=1)
assert (opened, threading.active_count()) == ([], 1), opened
"""


def test_importing_a_schema_opens_nothing():
    """A module that declares needs no server: no socket, no process and no thread comes of it."""
    ended = subprocess.run(
        [sys.executable, "-c", OPENS], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_declaration_has_its_options_and_defaults():
    """What was declared can be read back; the lease is a minute unless it is said."""
    assert (slots.prefix, slots.limit, slots.lease_ms) == ("provider", 20, 60_000)
    assert jobs.lease_ms == 60_000
    assert isinstance(slots, SemaphoreSchema)
    assert isinstance(slots, Declaration)
    assert isinstance(slots, pydantic.BaseModel)
    assert "provider" in repr(slots)
    assert "20" in repr(slots)


def test_a_declaration_is_frozen():
    """Nothing of a declaration can be changed after it was made."""
    for name in ("prefix", "limit", "lease_ms", "other"):
        with pytest.raises((AttributeError, pydantic.ValidationError)):
            setattr(slots, name, 1)


def test_declarations_compare_by_value():
    """Equal options make equal declarations, which hash alike."""
    same = semaphore("provider", limit=20)
    assert same == slots
    assert hash(same) == hash(slots)
    assert same != jobs
    assert same != semaphore("provider", limit=21)
    assert len({same, slots, jobs}) == 2


@pytest.mark.parametrize("again", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])
def test_a_declaration_can_be_pickled_and_copied(again):
    """Declarations can be sent to other processes (redis/redis-py#1029, #2241)."""
    assert again(slots) == slots


def test_a_schema_may_be_a_module():
    """The public names of a module that are bound to declarations are taken, and nothing else."""
    assert list(bind(sys.modules[__name__]).query) == ["slots", "jobs"]


def test_a_schema_may_be_a_mapping():
    """A mapping of names to declarations will do."""
    assert list(bind({"a": slots, "b": jobs, "c": 7, "_d": _private}).query) == ["a", "b"]
    assert list(bind(types.MappingProxyType({"a": slots})).query) == ["a"]


def test_a_schema_may_be_a_class():
    """A class will do, with what it inherits."""

    class Base:
        slots = slots

    class Mine(Base):
        jobs = jobs
        _private = _private

        def method(self):
            """Be ignored."""

    assert sorted(bind(Mine).query) == ["jobs", "slots"]


def test_a_schema_may_be_a_list_of_these():
    """Several modules, mappings and classes make one registry, in any nesting."""

    class Mine:
        more = jobs

    assert sorted(bind([{"a": slots}, Mine]).query) == ["a", "more"]
    assert sorted(bind(({"a": slots}, [Mine, module("m")])).query) == ["a", "more"]
    assert list(bind([]).query) == []


def test_two_declarations_of_one_prefix_are_refused_with_both_places():
    """Two declarations must not claim one family of keys, not even with the same options."""
    first = module("first", slots=semaphore("provider", limit=20))
    second = module("second", others=semaphore("provider", limit=20))
    with pytest.raises(ValidationError) as refused:
        bind([first, second])
    for part in ("'provider'", "first.slots", "second.others"):
        assert part in str(refused.value)


def test_one_name_declared_twice_is_refused_with_both_places():
    """Two modules must not bind one name to different declarations."""
    first = module("first", slots=semaphore("a", limit=1))
    second = module("second", slots=semaphore("b", limit=1))
    with pytest.raises(ValidationError) as refused:
        bind([first, second])
    for part in ("'slots'", "first.slots", "second.slots"):
        assert part in str(refused.value)


def test_places_in_mappings_are_named_as_well():
    """A conflict inside plain mappings says which of them."""
    with pytest.raises(ValidationError) as refused:
        bind([{"a": semaphore("p", limit=1)}, {"b": semaphore("p", limit=1)}])
    assert "[0].a" in str(refused.value)
    assert "[1].b" in str(refused.value)


def test_one_object_may_be_declared_in_several_places():
    """A declaration that two modules import from a third is one declaration, under each name."""
    again = module("again", slots=slots, alias=slots)
    client = bind([sys.modules[__name__], again])
    assert sorted(client.query) == ["alias", "jobs", "slots"]
    assert client.query.alias is client.query.slots


@pytest.mark.parametrize("schema", [7, "schema", None, slots, [slots], [[7]]])
def test_what_is_no_schema_is_refused(schema):
    """Anything else is refused, and the message says what a schema may be."""
    with pytest.raises(ValidationError, match="must be a module, a mapping, a class or a list"):
        bind(schema)

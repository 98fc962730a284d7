"""A declaration: a frozen, comparable, picklable value with errors in one style."""

from __future__ import annotations

import copy
import pickle

import pydantic
import pytest

from benni.errors import ValidationError
from benni.schema import Declaration, SemaphoreSchema, semaphore

SLOTS = semaphore("provider", limit=20, lease_ms=1000)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 0}, "semaphore limit must be a positive integer, received 0"),
        ({"limit": True}, "semaphore limit must be a positive integer, received True"),
        ({"limit": 20.0}, "semaphore limit must be a positive integer, received 20.0"),
        ({"limit": "20"}, "semaphore limit must be a positive integer, received '20'"),
        ({"limit": None}, "semaphore limit must be a positive integer, received None"),
        ({"limit": 1, "lease_ms": 0}, "semaphore lease_ms must be a positive integer, received 0"),
        ({"limit": 1, "prefix": ""}, "semaphore prefix must be a non-empty string, received ''"),
        ({"limit": 1, "prefix": 7}, "semaphore prefix must be a non-empty string, received 7"),
    ],
)
def test_a_broken_rule(options, message):
    """The sentence names the kind, the option, the rule and the value; nothing of pydantic's."""
    with pytest.raises(ValidationError) as raised:
        semaphore(**{"prefix": "p", **options})
    assert str(raised.value) == message
    assert raised.value.__suppress_context__


def test_the_first_broken_rule_is_named():
    """One error at a time, in the order of the options."""
    with pytest.raises(ValidationError, match="limit"):
        semaphore("p", limit=0, lease_ms=0)


def test_a_missing_option():
    """It is a `TypeError`, as for a function."""
    with pytest.raises(TypeError, match="semaphore is missing the option 'limit'"):
        SemaphoreSchema(prefix="p")


def test_an_unknown_option():
    """A misspelt option is not ignored."""
    with pytest.raises(TypeError, match="semaphore got an unexpected option 'limits'"):
        SemaphoreSchema(prefix="p", limit=1, limits=2)


def test_it_is_frozen():
    """A declaration is the same for its whole life."""
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        SLOTS.limit = 3


def test_it_is_comparable():
    """Equal options make equal declarations, with equal hashes."""
    same = semaphore("provider", limit=20, lease_ms=1000)
    assert same == SLOTS
    assert hash(SLOTS) == hash(same)
    assert semaphore("provider", limit=21, lease_ms=1000) != SLOTS


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_it_can_be_sent(copied):
    """It crosses to another process as it is (redis/redis-py#1029)."""
    assert copied(SLOTS) == SLOTS


def test_its_repr_is_how_it_is_written():
    """The repr names every option."""
    assert repr(SLOTS) == "SemaphoreSchema(prefix='provider', limit=20, lease_ms=1000)"


def test_it_is_a_declaration():
    """Every kind of declaration can be told by one class."""
    assert isinstance(SLOTS, Declaration)

"""What an option may be, and the sentence that says so."""

from __future__ import annotations

from decimal import Decimal
from enum import IntEnum

import pytest

from benni._core.rules import (
    CALLABLE,
    DURATION,
    ID,
    MAX_MS,
    NOT_NEGATIVE,
    POSITIVE,
    TEXT,
    invalid,
    is_integer,
    within,
)
from benni.errors import BenniError, ValidationError


class Two(IntEnum):
    TWO = 2


NO_INTEGERS = [True, False, 20.0, "20", b"20", None, Decimal(20), [], float("nan")]


def says(rule, value):
    with pytest.raises(ValidationError) as raised:
        rule.check("semaphore", "option", value)
    return str(raised.value)


def test_the_style():
    """Every message names the kind, the option, the rule and what was received."""
    error = invalid("semaphore", "limit", "a positive integer", 0)
    assert str(error) == "semaphore limit must be a positive integer, received 0"


def test_the_kind_of_error():
    """It can be caught as benni's and as Python's."""
    error = invalid("semaphore", "limit", "a positive integer", 0)
    assert isinstance(error, BenniError)
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("value", NO_INTEGERS, ids=repr)
def test_what_is_no_integer(value):
    """Booleans, whole floats and digits in a string are not integers."""
    assert not is_integer(value)
    assert repr(value) in says(POSITIVE, value)


@pytest.mark.parametrize("value", [0, -1, 2**64, Two.TWO])
def test_what_is_an_integer(value):
    """Of any size and sign, and a subclass too."""
    assert is_integer(value)


@pytest.mark.parametrize("value", [0, -1])
def test_positive(value):
    """Positive starts at 1."""
    POSITIVE.check("semaphore", "option", 1)
    expected = f"semaphore option must be a positive integer, received {value}"
    assert says(POSITIVE, value) == expected


def test_not_negative():
    """Non-negative starts at 0."""
    NOT_NEGATIVE.check("semaphore", "option", 0)
    assert says(NOT_NEGATIVE, -1) == (
        "semaphore option must be a non-negative integer, received -1"
    )


@pytest.mark.parametrize("value", [0, 4])
def test_within(value):
    """Both ends belong to a range, and nothing beyond them."""
    rule = within(1, 3, "an integer from 1 to 3")
    rule.check("semaphore", "permits", 1)
    rule.check("semaphore", "permits", 3)
    assert says(rule, value).endswith(f"must be an integer from 1 to 3, received {value}")


@pytest.mark.parametrize("value", [1, MAX_MS])
def test_durations(value):
    """A duration can be anything from a millisecond to some thirty years."""
    DURATION.check("semaphore", "lease_ms", value)


@pytest.mark.parametrize("value", [0, -5, True, 1.5])
def test_no_durations(value):
    """What is no positive integer is told so."""
    expected = f"semaphore option must be a positive integer, received {value!r}"
    assert says(DURATION, value) == expected


def test_a_duration_beyond_exact_times():
    """A time that a script could not add exactly is refused, with that as the reason."""
    assert says(DURATION, MAX_MS + 1).endswith(f"must be at most {MAX_MS}, received {MAX_MS + 1}")


@pytest.mark.parametrize("value", ["a", " ", "a:b", "{a}", "\x00", "\N{SNOWMAN}", "a" * 10_000])
def test_texts(value):
    """Any string with something in it is text."""
    TEXT.check("semaphore", "prefix", value)


@pytest.mark.parametrize("value", ["", b"a", 1, None, "\ud800", "a\udfff"], ids=ascii)
def test_no_texts(value):
    """Nothing, bytes, and what UTF-8 cannot write are not."""
    assert says(TEXT, value).startswith("semaphore option must be a non-empty string, received ")


@pytest.mark.parametrize("value", ["a", 0, -7, 2**70])
def test_ids(value):
    """An id is text or an integer."""
    ID.check("semaphore", "id", value)


@pytest.mark.parametrize("value", ["", True, 1.0, None, b"x", ("a",)], ids=repr)
def test_no_ids(value):
    """Nothing else is, so that 1 and True, or "1.0" and 1.0, cannot be mixed up."""
    assert "must be a non-empty string or an integer" in says(ID, value)


def test_callables():
    """A callback is something that can be called."""
    CALLABLE.check("semaphore", "on_renew_error", print)
    assert says(CALLABLE, 3) == "semaphore option must be callable, received 3"

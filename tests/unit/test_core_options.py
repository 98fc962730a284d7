"""The options of single calls: defaults, rules, and how they depend on each other."""

from __future__ import annotations

import pytest

from benni._core.options import (
    AcquireOptions,
    Attempt,
    RunOptions,
    Watch,
    read_attempt,
    read_watch,
    refuse_unknown,
)
from benni.errors import ValidationError


def attempt(**options):
    return read_attempt("semaphore", 4, 1000, options)


def watch(lease_ms=1000, *, can_cancel=True, **options):
    return read_watch("semaphore", lease_ms, options, can_cancel=can_cancel)


@pytest.mark.parametrize("options", [{}, {"permits": 1}, {"lease_ms": None}])
def test_defaults_of_an_attempt(options):
    """One permit, the declared lease, no retry, and 100 ms between tries."""
    expected = Attempt(permits=1, lease_ms=1000, retries=0, pause=0.1)
    assert attempt(**options) == expected


def test_an_attempt():
    """What is given is what counts."""
    seen = attempt(permits=4, lease_ms=7, retries=3, retry_delay_ms=0)
    assert seen == Attempt(permits=4, lease_ms=7, retries=3, pause=0)


@pytest.mark.parametrize(
    ("option", "value", "must_be"),
    [
        ("permits", 0, "an integer from 1 to limit (4)"),
        ("permits", 5, "an integer from 1 to limit (4)"),
        ("permits", True, "an integer from 1 to limit (4)"),
        ("permits", None, "an integer from 1 to limit (4)"),
        ("lease_ms", 0, "a positive integer"),
        ("lease_ms", "10", "a positive integer"),
        ("retries", -1, "a non-negative integer"),
        ("retries", None, "a non-negative integer"),
        ("retry_delay_ms", -1, "a non-negative integer"),
        ("retry_delay_ms", 0.5, "a non-negative integer"),
    ],
)
def test_an_attempt_that_breaks_a_rule(option, value, must_be):
    """Permits beyond the limit could never be had; the rest has no meaning."""
    with pytest.raises(ValidationError) as raised:
        attempt(**{option: value})
    assert str(raised.value) == f"semaphore {option} must be {must_be}, received {value!r}"


@pytest.mark.parametrize(
    ("lease_ms", "heartbeat"), [(1000, 0.25), (1003, 0.25), (4, 0.001), (3, 0.001), (1, 0.001)]
)
@pytest.mark.parametrize("options", [{}, {"heartbeat_ms": None}, {"on_lost": "signal"}])
def test_the_default_heartbeat(lease_ms, heartbeat, options):
    """A quarter of the lease in effect, a millisecond at the least."""
    expected = Watch(heartbeat=heartbeat, on_renew_error=None, cancel=False)
    assert watch(lease_ms, **options) == expected


@pytest.mark.parametrize(("heartbeat_ms", "heartbeat"), [(1, 0.001), (500, 0.5), (False, None)])
def test_a_heartbeat(heartbeat_ms, heartbeat):
    """Up to half of the lease, or none at all."""
    assert watch(heartbeat_ms=heartbeat_ms).heartbeat == heartbeat


@pytest.mark.parametrize("heartbeat_ms", [0, -1, True, 2.5, "10"])
def test_no_heartbeat(heartbeat_ms):
    """0 is not False, and True is not 1."""
    with pytest.raises(ValidationError) as raised:
        watch(heartbeat_ms=heartbeat_ms)
    assert str(raised.value) == (
        f"semaphore heartbeat_ms must be a positive integer or False, received {heartbeat_ms!r}"
    )


def test_a_heartbeat_that_is_too_slow():
    """More than half of the lease in effect leaves no room for one that fails."""
    with pytest.raises(ValidationError) as raised:
        watch(1000, heartbeat_ms=501)
    assert str(raised.value) == (
        "semaphore heartbeat_ms must be at most half of lease_ms (1000), received 501"
    )


def test_on_renew_error():
    """A callback is kept, and has to be one."""
    assert watch(on_renew_error=print).on_renew_error is print
    with pytest.raises(ValidationError, match="on_renew_error must be callable, received 3"):
        watch(on_renew_error=3)


def test_on_lost():
    """`"cancel"` is for bodies that can be cancelled."""
    assert watch(on_lost="cancel").cancel is True
    assert watch(on_lost="signal", can_cancel=False).cancel is False


@pytest.mark.parametrize("value", ["abort", None, True, ""])
def test_on_lost_is_one_of_two(value):
    """Anything else is told what it may be."""
    with pytest.raises(ValidationError, match=r'on_lost must be "signal" or "cancel", received'):
        watch(on_lost=value)


def test_a_thread_cannot_be_cancelled():
    """So the blocking colour refuses to promise it."""
    with pytest.raises(ValidationError, match='must be "signal" with a blocking client'):
        watch(on_lost="cancel", can_cancel=False)


def test_a_misspelt_option():
    """It is the error that Python has for a misspelt parameter."""
    with pytest.raises(TypeError, match=r"run\(\) got an unexpected keyword argument 'retry'"):
        refuse_unknown("run", {"retry": 3}, RunOptions)


def test_options_of_a_run_are_unknown_to_acquire():
    """A handle from `acquire` is not renewed, so it takes no heartbeat."""
    refuse_unknown("run", {"heartbeat_ms": 3, "permits": 1}, RunOptions)
    with pytest.raises(TypeError, match="'heartbeat_ms'"):
        refuse_unknown("acquire", {"heartbeat_ms": 3}, AcquireOptions)

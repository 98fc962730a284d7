"""The table of steps: what a lease can become, and what changes nothing."""

from __future__ import annotations

from itertools import product

import pytest
from by_hand import new_lease

from benni._core.lease import TRANSITIONS, Event, State

EVERY = list(product(State, Event))
STEPS = [pair for pair in EVERY if pair in TRANSITIONS]
OTHERS = [pair for pair in EVERY if pair not in TRANSITIONS]


@pytest.mark.parametrize(("state", "event"), STEPS)
def test_a_step_of_the_table_is_taken(state, event):
    """A lease goes where the table says."""
    lease = new_lease(state=state)
    assert lease.apply(event, "why") is True
    assert lease.state is TRANSITIONS[state, event]


@pytest.mark.parametrize(("state", "event"), STEPS)
def test_a_loss_is_known_exactly_when_it_is_lost(state, event):
    """`loss` is set in the step that ends in LOST, and in no other."""
    lease = new_lease(state=state)
    lease.apply(event, "why")
    assert (lease.loss is not None) == (lease.state is State.LOST)
    if lease.loss is not None:
        assert (lease.loss.key, lease.loss.limit, lease.loss.why) == ("p:x", 4, "why")


@pytest.mark.parametrize(("state", "event"), OTHERS)
def test_what_is_not_in_the_table_changes_nothing(state, event):
    """A late answer cannot move a lease, and makes no loss."""
    lease = new_lease(state=state)
    assert lease.apply(event, "why") is False
    assert (lease.state, lease.loss) == (state, None)


def test_every_state_is_reached_and_every_event_matters():
    """The table has no dead state and no dead event."""
    assert {State.HELD, *TRANSITIONS.values()} == set(State)
    assert {event for _, event in TRANSITIONS} == set(Event)


@pytest.mark.parametrize("state", [State.RELEASED, State.LOST])
def test_the_end_is_the_end(state):
    """A lease that is released or lost stays so."""
    assert not [pair for pair in TRANSITIONS if pair[0] is state]


def test_the_first_loss_is_the_one():
    """A second reason does not replace the first: it may have been raised already."""
    lease = new_lease()
    lease.apply(Event.REFUSED, "first")
    loss = lease.loss
    lease.apply(Event.LAPSED, "second")
    assert lease.loss is loss


def test_a_step_is_taken_under_the_lock():
    """Every step is one step for all threads, so two of them cannot both be the first."""
    lease = new_lease()
    seen = []

    class Lock:
        def __enter__(self):
            seen.append(lease.state)

        def __exit__(self, *exc):
            seen.append(lease.state)

    lease.kind.guard.lock = Lock()
    lease.apply(Event.LEFT)
    assert seen == [State.HELD, State.RELEASING]


@pytest.mark.parametrize(("now", "lost"), [(1009.999, False), (1010, True), (2000, True)])
def test_a_watched_lease_lapses_at_its_deadline(now, lost):
    """A full lease after the last success, and not before, a watched lease is lost."""
    lease = new_lease(watched=True)
    assert lease.lapsed(now) is lost
    assert (lease.state is State.LOST) is lost


def test_a_lease_lapses_once():
    """Only one caller is told that it is the one to make the loss known."""
    lease = new_lease(watched=True)
    assert [lease.lapsed(2000), lease.lapsed(2000)] == [True, False]


def test_an_unwatched_lease_does_not_lapse():
    """Without renewal, time alone is no loss."""
    assert new_lease().lapsed(2000) is False


def test_a_renewal_moves_the_deadline():
    """A lease that was renewed lasts a full length from when that was sent."""
    lease = new_lease(watched=True)
    assert lease.renewed(1005, answer=True) is False
    assert lease.deadline == 1015


def test_an_old_renewal_moves_nothing_back():
    """An answer that is read late does not shorten what a later one has granted."""
    lease = new_lease(watched=True)
    lease.renewed(1005, answer=True)
    lease.renewed(1002, answer=True)
    assert lease.deadline == 1015


def test_a_refused_renewal_is_a_loss():
    """The server's clear no ends it, whatever the clock says."""
    lease = new_lease(watched=True)
    assert lease.renewed(1001, answer=False) is True
    assert lease.state is State.LOST


def test_a_refused_renewal_after_the_release_is_no_loss():
    """The release came first: a renewal that crossed it finds nothing, rightly."""
    lease = new_lease(watched=True)
    lease.apply(Event.LEFT)
    assert lease.renewed(1001, answer=False) is False
    assert lease.loss is None


def test_a_renewal_after_the_release_moves_nothing():
    """The deadline of a lease that was let go stays where it is."""
    lease = new_lease(watched=True)
    lease.apply(Event.LEFT)
    lease.renewed(1005, answer=True)
    assert lease.deadline == 1010

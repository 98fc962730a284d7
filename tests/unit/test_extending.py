"""`extending`: a holder's own wish for more time, or for less."""

from __future__ import annotations

import asyncio

import pytest
from by_hand import NO, YES, Clock, CutError, new_lease, play

from benni._core.effects import Reply
from benni._core.lease import Event, State, extending
from benni.errors import ReplyError


def extend(*answers, lease, lease_ms=None, clock=None):
    return play(extending(lease, lease_ms, clock or Clock()), *answers)


def test_the_default_is_the_length_as_acquired():
    """Without a length, one more lease of the same length is asked for, exactly."""
    seen = extend(YES, lease=new_lease())
    assert seen.names == ["extend"]
    assert seen[0].args == ("token", 10_000, 0)
    assert seen.value is True


@pytest.mark.parametrize("lease_ms", [1, 60_000])
def test_a_length_of_its_own(lease_ms):
    """A length that is asked for is what is sent, be it longer or shorter."""
    assert extend(YES, lease=new_lease(), lease_ms=lease_ms)[0].args == ("token", lease_ms, 0)


@pytest.mark.parametrize(("lease_ms", "deadline"), [(None, 1010), (60_000, 1060), (500, 1000.5)])
def test_the_new_time_counts_from_the_send(lease_ms, deadline):
    """The deadline moves to one length after the send, also to an earlier time."""
    lease, clock = new_lease(deadline=1007.0), Clock()

    def late():
        clock.now += 3
        return YES

    extend(late, lease=lease, lease_ms=lease_ms, clock=clock)
    assert lease.deadline == deadline


def test_gone_is_a_loss():
    """A clear no from the server is the loss of the lease, watched or not."""
    lease = new_lease()
    seen = extend(NO, lease=lease)
    assert seen.value is False
    assert lease.state is State.LOST
    assert "no longer has it" in str(lease.loss)


@pytest.mark.parametrize(
    "state", [State.RELEASING, State.UNANSWERED, State.RELEASED, State.LOST], ids=str
)
def test_what_is_not_held_asks_nothing(state):
    """A lease that was let go or lost is not extended, and no command is sent."""
    seen = extend(lease=new_lease(state=state))
    assert seen.names == []
    assert seen.value is False


@pytest.mark.parametrize("error", [CutError(), asyncio.CancelledError()], ids=repr)
def test_a_lost_reply_is_no_loss(error):
    """Silence says nothing, so the lease is as it was (nextlyhq/nextly#777)."""
    lease = new_lease()
    seen = extend(error, lease=lease)
    assert seen.error is error
    assert lease.state is State.HELD


def test_a_lost_reply_does_not_lengthen():
    """Until the server has said so the holder may count on the old time only."""
    lease = new_lease()
    extend(CutError(), lease=lease, lease_ms=60_000)
    assert lease.deadline == 1010


def test_a_lost_reply_may_have_shortened():
    """A wish for less may have been carried out: the holder counts on the shorter time."""
    lease = new_lease()
    extend(CutError(), lease=lease, lease_ms=500)
    assert lease.deadline == 1000.5


def test_an_answer_of_another_shape_may_have_shortened():
    """The same holds for an answer that cannot be read."""
    lease = new_lease()
    seen = extend(Reply("OK", resent=False), lease=lease, lease_ms=500)
    assert isinstance(seen.error, ReplyError)
    assert lease.deadline == 1000.5


def test_an_older_renewal_does_not_outrank_a_shortening():
    """A renewal that was sent before the wish and answered after it moves nothing."""
    lease = new_lease()
    extend(YES, lease=lease, lease_ms=500)
    lease.renewed(999.9, answer=True)
    assert lease.deadline == 1000.5


def test_a_newer_renewal_lengthens_again():
    """A body that shortened its lease and goes on is renewed to the full length."""
    lease = new_lease()
    extend(YES, lease=lease, lease_ms=500)
    lease.renewed(1000.2, answer=True)
    assert lease.deadline == 1010.2


def test_a_release_meanwhile_wins():
    """A no to an extension that was overtaken by the holder's own release is no loss."""
    lease = new_lease()

    def released():
        lease.apply(Event.LEFT)
        lease.apply(Event.FREED)
        return NO

    assert extend(released, lease=lease).value is False
    assert lease.state is State.RELEASED
    assert lease.loss is None


def test_a_loss_meanwhile_stays():
    """A yes that comes after the loss was declared does not say that the lease is held."""
    lease = new_lease(watched=True)

    def lapsed():
        lease.lapsed(1010)
        return YES

    assert extend(lapsed, lease=lease).value is False
    assert lease.state is State.LOST

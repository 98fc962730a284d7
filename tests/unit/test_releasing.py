"""`releasing` and `finishing`: the end of a lease, step by step."""

from __future__ import annotations

import asyncio

import pytest
from by_hand import NO, RESENT_NO, RESENT_YES, YES, Clock, CutError, new_lease, play

from benni._core.effects import Reply
from benni._core.lease import State, finishing, releasing
from benni.errors import ReplyError

CANCEL = asyncio.CancelledError()


def release(*answers, lease, clock=None, **options):
    return play(releasing(lease, clock or Clock(), **options), *answers)


def finish(*answers, lease, clock=None):
    return play(finishing(lease, clock or Clock()), *answers)


def watched(**values):
    return new_lease(watched=True, **values)


def test_freed():
    """The server confirms that it was held until now: one call, and True."""
    lease = new_lease()
    seen = release(YES, lease=lease)
    assert (seen.names, seen.value, lease.state) == (["release"], True, State.RELEASED)


def test_a_second_release_asks_nothing():
    """Releasing again sends nothing and says False."""
    lease = new_lease()
    release(YES, lease=lease)
    seen = release(lease=lease)
    assert (seen.names, seen.value) == ([], False)


def test_a_release_of_a_lost_lease_asks_nothing():
    """What is lost cannot be let go."""
    assert release(lease=new_lease(state=State.LOST)).names == []


def test_missing_while_renewed_is_a_loss():
    """A slot that was renewed all along and is gone was taken away."""
    lease = watched()
    seen = release(NO, lease=lease)
    assert (seen.value, lease.state) == (False, State.LOST)
    assert "gone at the release" in str(lease.loss)


def test_missing_without_renewal_is_no_loss():
    """A handle that nobody renewed may well have lapsed: False, and no more."""
    lease = new_lease()
    seen = release(NO, lease=lease)
    assert (seen.value, lease.state, lease.loss) == (False, State.RELEASED, None)


@pytest.mark.parametrize("make", [new_lease, watched])
def test_missing_after_a_copy_within_the_lease_is_freed(make):
    """A copy of this release, whose reply was lost, is what made the slot go: no false alarm."""
    lease = make()
    seen = release(RESENT_NO, lease=lease)
    assert (seen.value, lease.state) == (True, State.RELEASED)


def test_missing_after_a_copy_beyond_the_lease_is_a_loss():
    """After the deadline the copy proves nothing: the lease was over by then in any case."""
    lease = watched()
    seen = release(RESENT_NO, lease=lease, clock=Clock(1010))
    assert (seen.value, lease.state) == (False, State.LOST)


def test_freed_by_a_copy():
    """A clear yes is a yes, however often the command went out."""
    lease = watched()
    assert release(RESENT_YES, lease=lease).value is True


@pytest.mark.parametrize("error", [CutError(), CANCEL, KeyboardInterrupt()], ids=repr)
def test_silence_hands_over_to_the_keeper(error):
    """A release that is not answered goes on in the background, and its error comes out."""
    lease = watched()
    seen = release(error, None, lease=lease)
    assert seen.names == ["release", "give back"]
    assert (seen.error, lease.state, lease.loss) == (error, State.UNANSWERED, None)


def test_what_the_keeper_sends_is_remembered():
    """Copies of this release may cross, so the token must not come back."""
    assert release(CutError(), lease=new_lease())[1].call.args == ("token", "remember")


@pytest.mark.parametrize(("now", "within"), [(1003, 7), (1010, 0), (1020, 0)])
def test_the_keeper_tries_for_what_is_left_of_the_lease(now, within):
    """After the deadline the slot is free by itself."""
    assert release(CutError(), lease=new_lease(), clock=Clock(now))[1].within == within


def test_the_keeper_tries_even_if_nothing_was_sent():
    """A release that found no connection, or was answered with an error, is still to be made."""
    assert release(CutError(), lease=new_lease())[1].in_doubt is False


def test_silence_then_again():
    """After silence the holder may release again, and may hear that it is done."""
    lease = watched()
    release(CutError(), None, lease=lease)
    seen = release(YES, lease=lease)
    assert (seen.names, seen.value, lease.state) == (["release"], True, State.RELEASED)


def test_silence_then_missing_within_the_lease_is_freed():
    """The first release, or the keeper's, did it: the second one's no is no loss."""
    lease = watched()
    release(CutError(), None, lease=lease)
    assert release(NO, lease=lease).value is True
    assert lease.loss is None


def test_silence_then_missing_beyond_the_lease_is_a_loss():
    """Nobody can tell any more whether the release came in time."""
    lease = watched()
    release(CutError(), None, lease=lease)
    assert release(NO, lease=lease, clock=Clock(1010)).value is False
    assert lease.state is State.LOST


def test_silence_twice():
    """Each failed release is handed over; the lease stays neither held nor lost."""
    lease = watched()
    release(CutError(), None, lease=lease)
    seen = release(CutError(), None, lease=lease)
    assert seen.names == ["release", "give back"]
    assert lease.state is State.UNANSWERED


def test_an_answer_of_another_shape_is_silence():
    """What cannot be read proves nothing."""
    lease = watched()
    seen = release(Reply([], resent=False), None, lease=lease)
    assert isinstance(seen.error, ReplyError)
    assert lease.state is State.UNANSWERED


def test_a_cancellation_while_it_is_handed_over_comes_out():
    """Whatever is raised in the last wait is not lost, and changes nothing."""
    lease = watched()
    seen = release(CutError(), CANCEL, lease=lease)
    assert (seen.error, lease.state) == (CANCEL, State.UNANSWERED)


@pytest.mark.parametrize(("in_doubt", "word"), [(False, "forget"), (True, "remember")])
def test_a_copy_of_the_acquire_under_way_is_outlasted(in_doubt, word):
    """Only a lease that may have a copy of its acquire under way leaves its token behind."""
    assert release(YES, lease=new_lease(in_doubt=in_doubt))[0].args == ("token", word)


def test_a_release_after_silence_is_remembered():
    """The release that was not answered may arrive after the next acquire."""
    lease = new_lease()
    release(CutError(), None, lease=lease)
    assert release(YES, lease=lease)[0].args == ("token", "remember")


@pytest.mark.parametrize("brief", [False, True])
def test_patience_is_the_callers(brief):
    """`release()` waits as the client's own policy has it, the end of a body does not."""
    assert release(YES, lease=new_lease(), brief=brief)[0].brief is brief


def test_finishing_releases_briefly():
    """A body that has ended is not kept waiting for a server that does not answer."""
    lease = watched()
    seen = finish(YES, lease=lease)
    assert (seen.names, seen[0].brief, seen.value) == (["release"], True, None)
    assert lease.state is State.RELEASED


def test_finishing_reads_the_clock():
    """A full lease without a renewal is a loss, found in the same step in which the body ends."""
    lease = watched()
    finish(None, lease=lease, clock=Clock(1010))
    assert lease.state is State.LOST
    assert "10000 ms" in str(lease.loss)


def test_finishing_does_not_judge_an_unwatched_lease():
    """With renewal off, time alone is no loss."""
    lease = new_lease()
    finish(NO, lease=lease, clock=Clock(2000))
    assert lease.loss is None


@pytest.mark.parametrize("state", [State.LOST, State.HELD], ids=str)
def test_a_lost_slot_is_given_back_without_waiting(state):
    """The holder's idea of a loss comes before the server's, so something may be left there."""
    lease = watched(state=state)
    seen = finish(None, lease=lease, clock=Clock(1010))
    assert seen.names == ["give back"]
    undo = seen[0]
    assert (undo.wait, undo.in_doubt, undo.within) == (0, False, 10)
    assert undo.call.args == ("token", "remember")


def test_finishing_after_the_body_released():
    """A slot that the body let go itself is neither released again nor lost."""
    lease = watched()
    release(YES, lease=lease)
    seen = finish(lease=lease, clock=Clock(2000))
    assert (seen.names, lease.loss) == ([], None)


def test_finishing_after_silence_releases_again():
    """A release in the body that was not answered is repeated at its end."""
    lease = watched()
    release(CutError(), None, lease=lease)
    assert finish(YES, lease=lease).names == ["release"]
    assert lease.state is State.RELEASED

"""`acquiring`: taking a lease, step by step."""

from __future__ import annotations

import asyncio

import pytest
from by_hand import NO, RESENT_YES, UNSEEN_YES, YES, Clock, CutError, new_lease, play

from benni._core.effects import Reply, Sleep
from benni._core.lease import acquiring
from benni._core.options import Attempt
from benni.errors import ReplyError

ONCE = Attempt(permits=1, lease_ms=10_000, retries=0, pause=0.1)
THRICE = ONCE._replace(retries=2)
CANCEL = asyncio.CancelledError()


def acquire(*answers, attempt=ONCE, lease=None, clock=None):
    return play(acquiring(lease or new_lease(), attempt, clock or Clock()), *answers)


def test_room_takes_one_call():
    """A free slot is taken with one call and nothing else."""
    seen = acquire(YES)
    assert seen.names == ["acquire"]
    assert seen.value is True


def test_no_room_fails_fast():
    """Without retries a full pool is asked once."""
    seen = acquire(NO, None)
    assert seen.names == ["acquire", "give back"]
    assert seen.value is False


def test_retries_are_counted():
    """`retries=2` makes three tries, with a pause between two of them."""
    seen = acquire(NO, None, NO, None, NO, None, attempt=THRICE)
    assert seen.names == ["acquire", "sleep", "acquire", "sleep", "acquire", "give back"]
    assert seen.value is False


def test_retries_end_with_success():
    """The first try that finds room is the last."""
    seen = acquire(NO, None, YES, attempt=THRICE)
    assert seen.names == ["acquire", "sleep", "acquire"]
    assert seen.value is True


def test_the_pause_is_fixed():
    """Every pause is the one that was asked for."""
    seen = acquire(NO, None, NO, None, NO, None, attempt=THRICE)
    assert [effect for effect in seen.asked if isinstance(effect, Sleep)] == [Sleep(0.1)] * 2


def test_every_try_is_the_same_call():
    """One token for all tries: a late copy of one is a copy of any (pacman82/throttle#18)."""
    seen = acquire(NO, None, NO, None, YES, attempt=THRICE)
    assert seen[0] == seen[2] == seen[4]


def test_the_lease_counts_from_the_send():
    """The holder's idea of the lease begins when the command went out, not when it was answered."""
    lease, clock = new_lease(deadline=0), Clock()

    def late():
        clock.now += 3
        return YES

    acquire(late, lease=lease, clock=clock)
    assert lease.deadline == 1010


def test_the_lease_counts_from_the_send_of_the_last_try():
    """Time spent on tries without room is not part of the lease."""
    lease, clock = new_lease(deadline=0), Clock()

    def pass_time():
        clock.now += 3

    acquire(NO, pass_time, YES, attempt=THRICE, lease=lease, clock=clock)
    assert lease.deadline == 1013


def test_the_lease_counts_from_the_copy_that_was_answered():
    """A copy that was sent again began the lease anew, so the time until then is not lost."""
    lease = new_lease(deadline=0)
    acquire(Reply(1, resent=True, sent=1004.0), lease=lease)
    assert lease.deadline == 1014


@pytest.mark.parametrize(
    ("answer", "in_doubt"), [(YES, False), (RESENT_YES, True), (UNSEEN_YES, True)]
)
def test_a_copy_under_way_is_remembered(answer, in_doubt):
    """Unless it went out exactly once, a copy of the acquire may still arrive."""
    lease = new_lease()
    acquire(answer, lease=lease)
    assert lease.in_doubt is in_doubt


@pytest.mark.parametrize("error", [CutError(), CANCEL, KeyboardInterrupt()], ids=repr)
def test_trouble_with_the_call_gives_back(error):
    """An acquire that failed, timed out or was cancelled may have taken the slot all the same."""
    seen = acquire(error, None)
    assert seen.names == ["acquire", "give back"]
    assert seen.error is error


@pytest.mark.parametrize("error", [CANCEL, KeyboardInterrupt()], ids=repr)
def test_trouble_in_a_pause_gives_back(error):
    """An interrupted pause ends the tries and gives back what the earlier ones may have taken."""
    seen = acquire(NO, error, None, attempt=THRICE)
    assert seen.names == ["acquire", "sleep", "give back"]
    assert seen.error is error


def test_trouble_with_a_later_try_gives_back():
    """It is not only the first try that may have taken the slot."""
    error = CutError()
    seen = acquire(NO, None, error, None, attempt=THRICE)
    assert seen.names == ["acquire", "sleep", "acquire", "give back"]
    assert seen.error is error


@pytest.mark.parametrize("answers", [(NO,), (CutError(),)], ids=["no room", "cut"])
def test_trouble_while_giving_back_comes_out(answers):
    """A cancellation that comes while the slot is given back is not lost."""
    seen = acquire(*answers, CANCEL)
    assert seen.ended
    assert seen.error is CANCEL


def test_what_is_given_back_must_not_come_back():
    """The token is remembered as void, and only for as long as a slot could be held by it."""
    undo = acquire(CutError())[1]
    assert undo.call.args == ("token", "remember")
    assert undo.within == 10


def test_giving_back_is_left_out_when_nothing_is_unknown():
    """After a plain refusal there is nothing to give back: it costs no round trip."""
    assert acquire(NO)[1].in_doubt is True


@pytest.mark.parametrize("value", [2, -1, "1", b"1", True, None, [1]])
def test_an_answer_of_another_shape(value):
    """What is neither 1 nor 0 is an error that shows it."""
    seen = acquire(Reply(value, resent=False), None)
    assert isinstance(seen.error, ReplyError)
    assert (seen.error.script, seen.error.reply) == ("acquire", value)


def test_an_answer_that_cannot_be_read_gives_back():
    """It may have been a yes, so the slot is given back although no command is unanswered."""
    seen = acquire(Reply("OK", resent=False), None)
    assert seen.names == ["acquire", "give back"]
    assert seen[1].in_doubt is False


def test_an_interrupt_after_a_yes_gives_back(monkeypatch):
    """A signal handler may raise between the answer and the caller (Effect-TS/effect#6910)."""
    lease = new_lease()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(lease), "granted", interrupted)
    seen = acquire(YES, None, lease=lease)
    assert seen.names == ["acquire", "give back"]
    assert seen[1].in_doubt is False

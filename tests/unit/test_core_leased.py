"""From the options of a call to a plan, and from a plan to a lease."""

from __future__ import annotations

import pytest
from by_hand import Primitive

from benni._core.options import Attempt, Watch
from benni.errors import ValidationError


def test_the_key():
    """Prefix, colon, id: an integer is written as its digits."""
    assert (Primitive().key("a"), Primitive().key(7)) == ("p:a", "p:7")


def test_a_key_of_nothing():
    """An id is checked before anything is made of it."""
    with pytest.raises(ValidationError, match="primitive id must be"):
        Primitive().key("")


def test_a_plan():
    """An acquisition without a body is not looked after."""
    plan = Primitive().plan("a", {"permits": 2})
    expected = Attempt(permits=2, lease_ms=10_000, retries=0, pause=0.1)
    assert (plan.key, plan.attempt, plan.watch.heartbeat) == ("p:a", expected, None)


def test_a_plan_for_a_body():
    """The heartbeat follows the lease in effect, not the declared one."""
    plan = Primitive().plan_body("a", {"lease_ms": 400}, can_cancel=True)
    assert plan.watch == Watch(heartbeat=0.1, on_renew_error=None, cancel=False)


def test_a_heartbeat_for_a_lease_of_its_own():
    """Half of the lease in effect is the most."""
    with pytest.raises(ValidationError, match=r"half of lease_ms \(400\), received 300"):
        options = {"lease_ms": 400, "heartbeat_ms": 300}
        Primitive().plan_body("a", options, can_cancel=True)


def test_each_lease_has_a_token_of_its_own():
    """Two acquisitions of one plan are two holders."""
    primitive = Primitive()
    plan = primitive.plan("a", {"permits": 2, "lease_ms": 5})
    first, second = primitive.lease(plan), primitive.lease(plan)
    assert (first.token, second.token) == ("token-1", "token-2")
    assert (first.key, first.permits, first.duration_ms, first.duration) == ("p:a", 2, 5, 0.005)

"""A child of a fork has a copy of its parent's handles, and none of its slots."""

from __future__ import annotations

import time

import pytest
from support.waiting import block_until

pytestmark = pytest.mark.engines("valkey")

LEASE_MS = 600


def outcome(process):
    """Wait for the program and read what it said, by its first word."""
    stdout, stderr = process.communicate()
    assert stderr == ""
    assert process.returncode == 0
    return dict(line.split(maxsplit=1) for line in stdout.splitlines())


UNTOUCHED = "0 False True"
"""The child ended well; the parent's signal was quiet, and its slot still held two leases later."""


@pytest.mark.parametrize("way", ["leave", "leave_by_exit", "drop"])
def test_a_child_lets_go_of_nothing(server, start, way):
    """However a child leaves the block that its parent has entered, the parent's slot stays.

    Guards against redis/redis-py#1029.
    """
    said = outcome(start("fork", way, server.url, LEASE_MS))
    assert said["parent"] == UNTOUCHED
    assert not server.admin.exists("fork:x")


def test_a_child_cannot_use_the_handle_of_its_parent(server, start):
    """In the child the parent's handle extends and releases nothing, and says so: False."""
    said = outcome(start("fork", "touch", server.url, LEASE_MS))
    assert said["child"] == "left the block"
    assert said["parent"] == UNTOUCHED


def test_a_child_renews_nothing(server, start):
    """The slot of a parent that dies lapses, though its child is still in the block."""
    process = start("fork", "outlive", server.url, LEASE_MS)
    assert process.stdout.readline().split()[0] == "held"
    assert process.stdout.readline().split() == ["child", "alone"]
    alone = time.monotonic()
    block_until(lambda: not server.admin.exists("fork:x"))
    assert time.monotonic() - alone < LEASE_MS / 1000 + 0.5


def test_a_child_takes_slots_of_its_own(server, start):
    """A child takes slots with the client it inherited and with a new one, and they are renewed."""
    said = outcome(start("fork", "work", server.url, LEASE_MS))
    assert said["inherited"] == "False", "lost"
    assert said["own"] == "False", "lost"
    assert said["parent"] == UNTOUCHED


def test_a_child_takes_slots_in_a_loop_of_its_own(server, start):
    """The same with an asyncio client that the child makes."""
    said = outcome(start("fork", "work_in_a_loop", server.url, LEASE_MS))
    assert said["own"] == "False", "lost"
    assert said["parent"] == UNTOUCHED


def test_forks_in_the_middle_of_renewals(server, start):
    """Whatever the keeper is doing at the moment of a fork, parent and child both work on."""
    said = outcome(start("fork", "fork_often", server.url, LEASE_MS))
    assert said["parent"] == UNTOUCHED


def test_a_fork_beside_an_event_loop(server, start):
    """A child of an asyncio program leaves the slots of the loop alone, and renews its own."""
    said = outcome(start("fork", "fork_in_a_loop", server.url, LEASE_MS))
    assert said["child"] == "False", "lost"
    assert said["parent"] == UNTOUCHED

"""The interpreter ends, or an event loop does, while a slot is held: promptly and without noise."""

from __future__ import annotations

import time

import pytest
from proxy import Proxy
from support.waiting import block_until

pytestmark = pytest.mark.engines("valkey")

LEASE_MS = 600


WAYS = ["main_thread", "daemon_thread", "in_a_generator", "in_a_loop", "in_a_task"]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("lease_ms", [LEASE_MS, 60_000])
def test_the_interpreter_ends(server, start, how, lease_ms):
    """An interpreter ends promptly and quietly with a `hold` that is never left."""
    process = start("exit", how, server.url, lease_ms, 0.4)  # time for a renewal of the short one
    assert process.stdout.readline() == "held\n"
    assert process.stdout.readline() == "end\n"
    ended = time.monotonic()
    _, stderr = process.communicate()
    assert time.monotonic() - ended < 2.0
    assert "Traceback" not in stderr
    assert process.returncode == 0
    if how == "in_a_task" or lease_ms == LEASE_MS:
        block_until(lambda: not server.admin.exists("exit:x"), LEASE_MS / 1000 + 0.5)


@pytest.mark.parametrize("how", ["many_clients", *WAYS])
def test_the_interpreter_ends_beside_a_dead_server(server, start, how):
    """The end of the interpreter waits for no answer of a server that gives none."""
    proxy = Proxy(server.path)
    process = start("exit", how, f"redis://127.0.0.1:{proxy.port}?socket_timeout=0.5", 60_000, 0.3)
    assert process.stdout.readline() == "held\n"
    proxy.mute = True
    assert process.stdout.readline() == "end\n"
    ended = time.monotonic()
    _, stderr = process.communicate()
    assert time.monotonic() - ended < 3.0
    assert "Traceback" not in stderr
    proxy.close()


def test_a_loop_that_is_closed_with_a_body_pending(server, start):
    """A body whose event loop is closed can never end, so its slot is not renewed for ever."""
    process = start("exit", "in_a_loop_that_is_dropped", server.url, LEASE_MS, 2.0)
    assert process.stdout.readline() == "held\n"
    block_until(lambda: not server.admin.exists("exit:x"), 1.5)
    _, stderr = process.communicate()
    assert "Traceback" not in stderr
    assert process.returncode == 0

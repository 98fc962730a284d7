"""Ctrl-C, or any exception of a signal handler, in the middle of a call of the blocking colour."""

from __future__ import annotations

import gc
import linecache
import os
import signal
import sys
import threading
import time
from itertools import count

import pytest
import redis
from proxy import Fate, Proxy
from support.waiting import block_until

import benni
from benni import Semaphore

pytestmark = pytest.mark.engines("valkey")

LEASE_MS = 60_000
"""Far longer than a test: nothing comes right because a lease lapses, but where it is said."""


class Interrupted(redis.UnixDomainSocketConnection):
    """A connection on which the main thread is interrupted at the n-th step of its traffic.

    The steps are: before a command is sent, after that, before its answer is read, after that.
    """

    left = 0

    @classmethod
    def step(cls):
        if threading.current_thread() is threading.main_thread():
            cls.left -= 1
            if cls.left == 0:
                raise KeyboardInterrupt

    def send_packed_command(self, *args, **kwargs):
        self.step()
        super().send_packed_command(*args, **kwargs)
        self.step()

    def read_response(self, *args, **kwargs):
        self.step()
        answer = super().read_response(*args, **kwargs)
        self.step()
        return answer


def acquire(slots):
    slots.acquire("x", retries=1, retry_delay_ms=1).release()


def run(slots):
    slots.run("x", lambda: None)


def hold_and_extend(slots):
    with slots.hold("x") as held:
        held.extend()


def hold_and_connect_anew(slots):
    with slots.hold("x"):
        slots.pool.disconnect()


@pytest.mark.filterwarnings("ignore:.*dropped without release:ResourceWarning")
@pytest.mark.parametrize("operation", [acquire, run, hold_and_extend, hold_and_connect_anew])
def test_interrupted_on_the_wire(server, operation):
    """Whatever step of its traffic an interruption comes in, a call leaves no slot behind."""
    for step in count(1):
        server.admin.script_flush()
        pool = redis.ConnectionPool(connection_class=Interrupted, path=server.path)
        slots = Semaphore(client=redis.Redis(connection_pool=pool), limit=1, lease_ms=LEASE_MS)
        slots.pool = pool
        Interrupted.left = step
        try:
            operation(slots)
        except KeyboardInterrupt:
            block_until(lambda: not server.admin.exists(slots.key("x")), 2)
            pool.disconnect()
        else:
            pool.disconnect()
            break
    assert Interrupted.left > 0
    assert step > 20, "not the accident that this test is about"


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("operation", [acquire, run, hold_and_extend])
def test_interrupted_at_any_line(server, operation):
    """At the worst, an interruption costs the slot for the rest of its lease, and the next nothing.

    Between two lines anything may be half done: a slot granted and no handle made, say. So here a
    lease may have to lapse, but no slot is renewed for ever, and the keeper goes on working.
    """
    with server.client() as client:
        client.ping()
        keys = []
        for line in count(1):
            slots = Semaphore(client=client, prefix=f"line{line}", limit=1, lease_ms=400)
            with LineTracer(line) as tracer:
                operation(slots)
            if not tracer.raised:
                break
            keys.append(slots.key("x"))
        assert len(keys) > 100, "not the accident that this test is about"
        gc.collect()
        block_until(lambda: not server.admin.exists(*keys), 5)
        lost = slots.run("x", lambda held: held.signal.wait(1.0))
        assert not lost


class LineTracer:
    """Interrupts the block at the n-th line of the library that it runs through."""

    FOLDER = os.path.dirname(benni.__file__)

    def __init__(self, line):
        self._left = line
        self.raised = False

    def __enter__(self):
        sys.settrace(self._call)
        return self

    def __exit__(self, kind, error, traceback):
        sys.settrace(None)
        return kind is KeyboardInterrupt

    def _call(self, frame, event, arg):
        return self._line if frame.f_code.co_filename.startswith(self.FOLDER) else None

    def _line(self, frame, event, arg):
        if event == "line" and not self._leaves_a_lock(frame):
            self._left -= 1
            if self._left == 0:
                self.raised = True
                raise KeyboardInterrupt
        return self._line

    def _leaves_a_lock(self, frame):
        """Whether this is a `with` line, come to again at its end: no signal is handled there."""
        return (
            linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with")
        )


@pytest.fixture
def interrupt_soon():
    """Send the process a Ctrl-C in a moment, or when told to."""
    threads = []

    def interrupt_soon(when):
        def send():
            block_until(when)
            time.sleep(0.05)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

        threads.append(threading.Thread(target=send))
        threads[-1].start()

    yield interrupt_soon
    for thread in threads:
        thread.join()


def test_ctrl_c_while_an_acquire_waits_for_its_answer(server, interrupt_soon):
    """Ctrl-C ends an acquire that hangs, and the slot that it may have taken is given back."""
    proxy = Proxy(server.path)
    with redis.Redis(host="127.0.0.1", port=proxy.port) as client:
        slots = Semaphore(client=client, limit=1, lease_ms=LEASE_MS)
        assert slots.acquire("warm").release()
        proxy.plan(Fate.SWALLOW)
        interrupt_soon(lambda: server.admin.exists(slots.key("x")))
        with pytest.raises(KeyboardInterrupt):
            slots.acquire("x")
        block_until(lambda: not server.admin.exists(slots.key("x")), 2)
    proxy.close()


def test_ctrl_c_in_a_body(server, interrupt_soon):
    """Ctrl-C in a body comes out as such, and the slot is free by then."""
    entered = threading.Event()
    with server.client() as client:
        slots = Semaphore(client=client, limit=1, lease_ms=LEASE_MS)

        def body():
            entered.set()
            time.sleep(10)

        interrupt_soon(entered.is_set)
        with pytest.raises(KeyboardInterrupt):
            slots.run("x", body)
        assert not server.admin.exists(slots.key("x"))

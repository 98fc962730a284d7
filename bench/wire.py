"""The commands that benni sends for one pair, overheard on the server.

A bare client that sends the very same shows what benni adds to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import redis

from benni import Semaphore
from benni.primitives.semaphore.core import ACQUIRE, RELEASE

if TYPE_CHECKING:
    from benni import SyncLease, SyncSemaphore

PREFIX = "bench"
ID = "pair"
LIMIT = 1_000
"""Above any number of callers here, so that nobody is refused."""
END = "end of the pair"


@dataclass(frozen=True)
class Command:
    """One EVALSHA: the script's digest and text, its keys, and its arguments."""

    sha: str
    text: str
    keys: list[str]
    args: list[str]
    token: str
    """Which of the arguments is the token."""

    def args_for(self, token: str) -> list[str]:
        """Return the arguments with another token."""
        return [token if word == self.token else word for word in self.args]


@dataclass(frozen=True)
class Pair:
    """An acquire and its release, with everything that both take."""

    acquire: Command
    release: Command


def overhear(url: str) -> Pair:
    """Run one empty body while MONITOR listens. What differs from two EVALSHA is an error."""
    with redis.Redis.from_url(url) as client:
        slots = Semaphore(client=client, prefix=PREFIX, limit=LIMIT)
        slots.run(ID, _token)  # the server knows the scripts from here on
        token, sent = _sent(url, client, slots)
    if [words[:2] for words in sent] != [["EVALSHA", ACQUIRE.sha], ["EVALSHA", RELEASE.sha]]:
        raise RuntimeError(f"benni is expected to send an acquire and a release, it sent {sent}")
    return Pair(_command(sent[0], ACQUIRE.text, token), _command(sent[1], RELEASE.text, token))


def _token(held: SyncLease) -> str:
    return held.token


def _sent(url: str, client: redis.Redis, slots: SyncSemaphore) -> tuple[str, list[list[str]]]:
    """Return a token and the words of each command of its pair, but not those inside of scripts."""
    sent = []
    with redis.Redis.from_url(url) as other, other.monitor() as heard:
        token = slots.run(ID, _token)
        client.echo(END)
        while (event := heard.next_command())["command"] != f"ECHO {END}":
            if event["client_type"] != "lua":
                sent.append(event["command"].split())
    return token, sent


def _command(words: list[str], text: str, token: str) -> Command:
    _, sha, count, *rest = words
    return Command(sha, text, rest[: int(count)], rest[int(count) :], token)

"""Errors: one tree, exported, with their data as attributes; and answers of a wrong shape."""

from __future__ import annotations

import asyncio
import copy
import pickle

import pytest
import redis
import redis.asyncio

import benni
import benni.primitives
from benni import (
    BenniError,
    LeaseLostError,
    NotAcquiredError,
    ReplyError,
    Semaphore,
    SemaphoreLeaseLostError,
    SemaphoreNotAcquiredError,
    ValidationError,
)

TREE = [
    (ValidationError, (BenniError, ValueError)),
    (NotAcquiredError, (BenniError,)),
    (SemaphoreNotAcquiredError, (NotAcquiredError, BenniError)),
    (LeaseLostError, (BenniError,)),
    (SemaphoreLeaseLostError, (LeaseLostError, BenniError)),
    (ReplyError, (BenniError,)),
    (BenniError, (Exception,)),
]

ERRORS = [
    ValidationError("semaphore limit must be a positive integer, received 0"),
    SemaphoreNotAcquiredError("provider:openai", 20),
    SemaphoreLeaseLostError("provider:openai", 20),
    SemaphoreLeaseLostError("provider:openai", 20, "the server no longer has it"),
    ReplyError("semaphore/acquire.lua", [b"odd", 1]),
]


@pytest.mark.parametrize(("error", "bases"), TREE)
def test_the_tree(error, bases):
    """What is caught by catching a base."""
    assert all(issubclass(error, base) for base in bases)


@pytest.mark.parametrize("module", [benni, benni.primitives])
def test_all_are_exported(module):
    """Every error can be imported from `benni` and from `benni.primitives`."""
    for error, _ in TREE:
        assert getattr(module, error.__name__) is error
        assert error.__name__ in module.__all__


@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_survive_a_pickle(error, again):
    """An error that crosses a process boundary keeps its class, its words and its attributes."""
    copied = again(error)
    assert type(copied) is type(error)
    assert str(copied) == str(error)
    assert vars(copied) == vars(error)


def test_errors_carry_their_data():
    """Nobody has to parse a message."""
    refused = SemaphoreNotAcquiredError("provider:openai", 20)
    assert (refused.key, refused.limit) == ("provider:openai", 20)
    lost = SemaphoreLeaseLostError("provider:openai", 20)
    assert (lost.key, lost.limit) == ("provider:openai", 20)
    odd = ReplyError("semaphore/acquire.lua", "odd")
    assert (odd.script, odd.reply) == ("semaphore/acquire.lua", "odd")
    for error, part in ((refused, "provider:openai"), (lost, "provider:openai"), (odd, "odd")):
        assert part in str(error)


ODD = {b"+odd\r\n": "odd", b":2\r\n": 2, b":-1\r\n": -1, b"*1\r\n:1\r\n": [1], b"$-1\r\n": None}


@pytest.fixture
async def odd_server(request, tmp_path):
    """Answer every script with the same odd reply, and everything else with OK."""

    async def serve(reader, writer):
        try:
            while line := await reader.readline():
                words = []
                for _ in range(int(line[1:])):
                    size = int((await reader.readline())[1:])
                    words.append((await reader.readexactly(size + 2))[:-2])
                writer.write(request.param if words[0].startswith(b"EVAL") else b"+OK\r\n")
        finally:
            writer.close()

    path = str(tmp_path / "s")
    async with await asyncio.start_unix_server(serve, path):
        yield path


@pytest.mark.parametrize("odd_server", ODD, indirect=True)
async def test_an_answer_of_a_wrong_shape_is_a_reply_error(odd_server, colour, request):
    """What is no answer of the script is told with `.script` and `.reply`, and not guessed at."""
    reply = ODD[request.node.callspec.params["odd_server"]]
    module = redis if colour == "sync" else redis.asyncio
    client = module.Redis(unix_socket_path=odd_server, protocol=2, decode_responses=True)
    slots = Semaphore(client=client, limit=1)
    for call in [slots.acquire] if reply == 2 else [slots.acquire, slots.count]:
        with pytest.raises(ReplyError) as raised:
            await (asyncio.to_thread(call, "x") if colour == "sync" else call("x"))
        assert call.__name__ in raised.value.script
        assert raised.value.reply == reply
    await (asyncio.to_thread(client.close) if colour == "sync" else client.aclose())

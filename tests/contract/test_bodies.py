"""What can be a body, and how it is called."""

from __future__ import annotations

import asyncio
import functools

import pytest

from benni import ValidationError


class Bodies:
    """Bodies that are methods, and an object that is called itself."""

    def nothing(self):
        return "method"

    def one(self, held):
        return held.key

    @classmethod
    def of_class(cls, held):
        return held.key

    @staticmethod
    def static():
        return "static"

    def __call__(self, held):
        return held.key


def handle(held):
    return held.key


def decorated(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        return fn(*args, **kwargs)

    return inner


KEY = object()
"""Stands for the key of the handle, which only a body that was given the handle can return."""

PLAIN = {
    "function without parameters": (lambda: 7, 7),
    "function of the handle": (handle, KEY),
    "lambda of the handle": (lambda held: held.key, KEY),
    "optional parameter": (lambda held=None: held, None),
    "one required, more optional": (lambda held, more=1: (held.key, more)[0], KEY),
    "any number": (lambda *args, **kwargs: (args, kwargs), ((), {})),
    "optional keyword": (lambda held, *, more=1: held.key, KEY),
    "method without parameters": (Bodies().nothing, "method"),
    "method of the handle": (Bodies().one, KEY),
    "class method": (Bodies.of_class, KEY),
    "static method": (Bodies.static, "static"),
    "callable object": (Bodies(), KEY),
    "partial that is complete": (functools.partial(lambda a: a, "given"), "given"),
    "partial that wants the handle": (functools.partial(lambda a, held: held.key, "a"), KEY),
    "partial with a keyword": (functools.partial(lambda a, b: a.key, b=1), KEY),
    "decorated function": (decorated(handle), KEY),
    "class": (dict, {}),
    "builtin": ("answer".upper, "ANSWER"),
    "returns None": (lambda: None, None),
}


@pytest.mark.engines("fake")
@pytest.mark.parametrize("which", PLAIN)
async def test_a_body_is_given_the_handle_if_it_requires_one_parameter(world, which):
    """One required positional parameter is the handle; with none the body is given nothing."""
    fn, wanted = PLAIN[which]
    slots = world.semaphore(limit=1)
    got = await world.do(world.raw(slots).run, "x", fn)
    assert got == (slots.key("x") if wanted is KEY else wanted)


async def coroutine_function(held):
    await asyncio.sleep(0)
    return held.key


class AsyncBodies:
    async def method(self, held):
        await asyncio.sleep(0)
        return held.key

    async def __call__(self):
        return "called"


def returns_coroutine(held):
    return coroutine_function(held)


def returns_awaitable(held):
    future = asyncio.get_running_loop().create_future()
    future.set_result(held.key)
    return future


AWAITED = {
    "coroutine function": (coroutine_function, KEY),
    "method": (AsyncBodies().method, KEY),
    "callable object": (AsyncBodies(), "called"),
    "partial": (functools.partial(coroutine_function), KEY),
    "plain function that returns a coroutine": (returns_coroutine, KEY),
    "plain function that returns an awaitable": (returns_awaitable, KEY),
}


@pytest.mark.engines("fake")
@pytest.mark.colours("async")
@pytest.mark.parametrize("which", AWAITED)
async def test_an_awaitable_result_is_awaited(world, which):
    """With an asyncio client whatever the body returns is awaited while the slot is held."""
    fn, wanted = AWAITED[which]
    slots = world.semaphore(limit=1)
    assert await slots.run("x", fn) == (slots.key("x") if wanted is KEY else wanted)


def two(held, other):
    pytest.fail("ran")


def keyword(held, *, needed):
    pytest.fail("ran")


@pytest.mark.engines("fake")
@pytest.mark.parametrize(
    ("fn", "described"),
    [
        (two, "two(held, other)"),
        (functools.partial(two), None),
        (keyword, "keyword(held, *, needed)"),
    ],
)
async def test_a_body_with_more_parameters_is_refused(world, fn, described):
    """A body that wants more than the handle is refused before a slot is taken."""
    slots = world.semaphore(limit=1)
    with world.server.listening() as seen, pytest.raises(ValidationError) as refused:
        await world.do(world.raw(slots).run, "x", fn)
    assert seen == []
    words = "semaphore fn must take the handle or nothing, received "
    assert str(refused.value).startswith(words)
    assert described is None or str(refused.value) == words + described


@pytest.mark.engines("fake")
@pytest.mark.parametrize("fn", [None, 7, "call"])
async def test_a_body_must_be_callable(world, fn):
    """What cannot be called is refused before a slot is taken."""
    slots = world.semaphore(limit=1)
    with pytest.raises(ValidationError) as refused:
        await world.do(world.raw(slots).run, "x", fn)
    assert str(refused.value) == f"semaphore fn must be callable, received {fn!r}"


def generator():
    yield 1


async def async_generator():
    yield 1


@pytest.mark.engines("fake")
@pytest.mark.parametrize("fn", [generator, async_generator, functools.partial(generator)])
async def test_a_generator_function_is_refused(world, fn):
    """A generator's body would run after the slot was let go (fastapi/fastapi#11143)."""
    slots = world.semaphore(limit=1)
    with world.server.listening() as seen:
        with pytest.raises(ValidationError, match="must not be a generator function"):
            await world.do(world.raw(slots).run, "x", fn)
        with pytest.raises(ValidationError, match="must not be a generator function"):
            world.raw(slots).limited("x")(fn)
    assert seen == []


@pytest.mark.engines("fake")
@pytest.mark.colours("sync")
@pytest.mark.parametrize(
    "fn",
    [
        coroutine_function,
        AsyncBodies().method,
        AsyncBodies(),
        functools.partial(coroutine_function),
    ],
)
async def test_a_coroutine_function_is_refused_by_a_blocking_client(world, fn):
    """Nobody would await it while the slot is held; it is refused before a slot is taken."""
    slots = world.semaphore(limit=1)
    with world.server.listening() as seen:
        with pytest.raises(ValidationError, match="must be a plain function"):
            await world.do(world.raw(slots).run, "x", fn)
        with pytest.raises(ValidationError, match="must be a plain function"):
            world.raw(slots).limited("x")(fn)
    assert seen == []


@pytest.mark.engines("fake")
@pytest.mark.colours("sync")
async def test_a_coroutine_that_a_plain_body_returns_is_refused(world):
    """A plain function around a coroutine function is found out, and its slot is free again."""
    slots = world.semaphore(limit=1)
    with pytest.raises(ValidationError, match="received a coroutine"):
        await world.do(world.raw(slots).run, "x", returns_coroutine)
    assert await slots.count("x") == 0


async def test_what_the_body_raises_comes_out_and_its_slot_is_free(world):
    """An error of the body is its caller's, and never keeps the slot (alisaifee/coredis#370)."""
    slots = world.semaphore(limit=1)
    own = LookupError("own")

    async def body():
        raise own

    with pytest.raises(LookupError) as raised:
        await slots.run("x", body)
    assert raised.value is own
    assert await slots.count("x") == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.engines("fake")
async def test_an_interrupt_in_a_plain_body_frees_its_slot(world, error):
    """Not only `Exception`s give the slot back."""
    slots = world.semaphore(limit=1)

    def body():
        raise error

    async def call():
        try:
            await world.do(world.raw(slots).run, "x", body)
        except BaseException as raised:
            return type(raised)

    assert await call() is error
    assert await slots.count("x") == 0

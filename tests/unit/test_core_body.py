"""How a user's function is called: with the handle, with nothing, or not at all."""

from __future__ import annotations

from functools import partial, partialmethod, wraps
from unittest.mock import Mock

import pytest

from benni._core.body import refuse_body, takes_argument
from benni.errors import ValidationError


def nothing(): ...
def handle(held): ...
def handle_only(held, /): ...
def optional(held=None): ...
def handle_and_optional(held, more=1): ...
def many(*args): ...
def handle_and_many(held, *args, **kwargs): ...
def keyword(*, flag=True): ...
def two(held, other): ...
def two_of_three(held, other, third=3): ...
def required_keyword(*, flag): ...
def handle_and_required_keyword(held, *, flag): ...
async def coroutine(): ...
async def coroutine_with_handle(held): ...


def generator():
    yield


async def async_generator():
    yield


def wrapped(fn):
    @wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


class Calls:
    def __call__(self): ...


class CallsWithHandle:
    def __call__(self, held): ...


class CallsTwo:
    def __call__(self, held, other): ...


class CallsAsync:
    async def __call__(self, held): ...


class CallsGenerator:
    def __call__(self):
        yield


class MadeOfNothing:
    pass


class MadeOfOne:
    def __init__(self, held): ...


class Methods:
    def nothing(self): ...
    def handle(self, held): ...
    def many(*args): ...
    def two(self, held, other): ...
    async def coroutine(self): ...

    def generator(self):
        yield

    @classmethod
    def of_class(cls, held): ...

    @staticmethod
    def of_nobody(held): ...

    def _two(self, held, other): ...

    partial = partialmethod(_two, other=1)
    wrapped = wrapped(handle)


METHODS = Methods()

WITH_NOTHING = {
    "function": nothing,
    "optional": optional,
    "many": many,
    "keyword": keyword,
    "lambda": lambda: 1,
    "default in a lambda": lambda n=1: n,
    "coroutine function": coroutine,
    "method": METHODS.nothing,
    "method that takes many": METHODS.many,
    "object": Calls(),
    "class": MadeOfNothing,
    "full partial": partial(two, 1, 2),
    "partial with a keyword": partial(handle, held=1),
    "wrapped": wrapped(nothing),
    "builtin without a signature": dict,
    "builtin method": [].clear,
    "mock": Mock(),
}
WITH_HANDLE = {
    "function": handle,
    "positional only": handle_only,
    "handle and optional": handle_and_optional,
    "handle and many": handle_and_many,
    "lambda": lambda held: held,
    "coroutine function": coroutine_with_handle,
    "method": METHODS.handle,
    "class method": Methods.of_class,
    "static method": Methods.of_nobody,
    "partial method": METHODS.partial,
    "wrapped method": METHODS.wrapped,
    "object": CallsWithHandle(),
    "bound call of an object": CallsWithHandle().__call__,
    "coroutine object": CallsAsync(),
    "class": MadeOfOne,
    "partial": partial(two, 1),
    "wrapped": wrapped(handle),
    "builtin": len,
    "builtin method": [].append,
}
IMPOSSIBLE = {
    "function": two,
    "one too many": two_of_three,
    "required keyword": required_keyword,
    "handle and required keyword": handle_and_required_keyword,
    "lambda": lambda held, other: None,
    "method": METHODS.two,
    "unbound method": Methods.handle,
    "object": CallsTwo(),
    "partial": partial(two_of_three),
    "wrapped": wrapped(two),
    "builtin": isinstance,
}
RUN_LATER = {
    "generator": generator,
    "async generator": async_generator,
    "method": METHODS.generator,
    "partial": partial(partial(generator)),
    "object": CallsGenerator(),
}
COROUTINES = {
    "function": coroutine,
    "method": METHODS.coroutine,
    "partial": partial(coroutine_with_handle, 1),
    "object": CallsAsync(),
}


def each(cases):
    return pytest.mark.parametrize("fn", cases.values(), ids=cases.keys())


@each(WITH_NOTHING)
def test_called_with_nothing(fn):
    """What needs no argument is given none."""
    assert takes_argument("semaphore", "fn", fn) is False


@each(WITH_HANDLE)
def test_called_with_the_handle(fn):
    """What has exactly one required positional parameter is given the handle."""
    assert takes_argument("semaphore", "fn", fn) is True


@each(IMPOSSIBLE)
def test_what_cannot_be_called(fn):
    """More than one, or a required keyword, is refused before a slot is taken."""
    with pytest.raises(ValidationError, match="semaphore fn must take the handle or nothing"):
        takes_argument("semaphore", "fn", fn)


def test_the_refusal_shows_the_signature():
    """The message has what it takes to find the function and to see why."""
    with pytest.raises(ValidationError, match=r"received two\(held, other\)$"):
        takes_argument("semaphore", "fn", two)


@pytest.mark.parametrize("fn", [None, 3, "name", generator()], ids=repr)
def test_what_is_no_function(fn):
    """A coroutine object or a name is not called by mistake."""
    with pytest.raises(ValidationError, match="semaphore fn must be callable, received"):
        takes_argument("semaphore", "fn", fn)


@pytest.mark.parametrize("blocking", [True, False])
@each(RUN_LATER)
def test_generators_are_refused(fn, blocking):
    """A generator's body runs after it has returned, when the slot is free (fastapi#14099)."""
    with pytest.raises(ValidationError, match="must not be a generator function"):
        refuse_body("semaphore", fn, blocking=blocking)


@each(COROUTINES)
def test_coroutine_functions_are_refused_where_nobody_awaits(fn):
    """With a blocking client the body of a coroutine function would never run."""
    with pytest.raises(ValidationError, match="must be a plain function with a blocking client"):
        refuse_body("semaphore", fn, blocking=True)


@each(COROUTINES)
def test_coroutine_functions_are_the_norm_where_they_are_awaited(fn):
    """With an asyncio client they are what is expected."""
    refuse_body("semaphore", fn, blocking=False)


@pytest.mark.parametrize("blocking", [True, False])
@each(WITH_NOTHING | WITH_HANDLE)
def test_plain_functions_are_welcome(fn, blocking):
    """A plain function will do in either colour."""
    if "coroutine" not in getattr(fn, "__name__", "") and not isinstance(fn, CallsAsync):
        refuse_body("semaphore", fn, blocking=blocking)


def test_the_refusal_shows_what_has_no_signature():
    """A refusal does not fail over an object that cannot be described."""

    class Odd:
        __signature__ = "none"

        def __call__(self):
            yield

        def __repr__(self):
            return "<odd>"

    with pytest.raises(ValidationError, match=r"received <odd>$"):
        refuse_body("semaphore", Odd(), blocking=True)

"""`hold` and `limited`: `run` in other shapes."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from benni import SemaphoreNotAcquiredError, ValidationError


def held_ids(world):
    """List the ids that somebody holds a slot of."""
    keys = world.redis.keys()
    return [key.partition(":")[2] for key in keys]


async def test_hold_yields_the_handle_and_lets_go(world):
    """The block has a slot from its first line to its last."""
    slots = world.semaphore(limit=2)
    async with slots.hold("x", permits=2) as held:
        assert held.key == slots.key("x")
        assert held.permits == 2
        assert await slots.count("x") == 2
    assert await slots.count("x") == 0


async def test_hold_raises_without_room(world):
    """Where there is no room the block is not entered, and the error says which key is full."""
    slots = world.semaphore(limit=1)
    async with slots.hold("x"):
        with pytest.raises(SemaphoreNotAcquiredError) as refused:
            async with slots.hold("x", retries=1, retry_delay_ms=1):
                pytest.fail("entered")
        assert (refused.value.key, refused.value.limit) == (slots.key("x"), 1)
        assert await slots.count("x") == 1


async def test_hold_takes_nothing_until_it_is_entered(world):
    """Calling `hold` sends nothing."""
    slots = world.semaphore(limit=1)
    with world.server.listening() as seen:
        slots.hold("x")
    assert seen == []


async def test_hold_passes_an_error_on(world):
    """The block's error comes out, and the slot is free (alisaifee/coredis#370)."""
    slots = world.semaphore(limit=1)
    own = LookupError()
    with pytest.raises(LookupError) as raised:
        async with slots.hold("x"):
            raise own
    assert raised.value is own
    assert await slots.count("x") == 0


async def test_a_hold_is_for_one_block_at_a_time(world):
    """Entering the same hold again while it is held is a mistake, and says so."""
    slots = world.semaphore(limit=2)
    hold = slots.hold("x")
    async with hold:
        with pytest.raises(RuntimeError, match="call hold"):
            async with hold:
                pytest.fail("entered")
        assert await slots.count("x") == 1
    assert await slots.count("x") == 0


async def test_holds_of_different_ids_nest(world):
    """A block may hold several slots, and each is let go with its own block."""
    slots = world.semaphore(limit=1)
    async with slots.hold("x"), slots.hold("y"):
        assert (await slots.count("x"), await slots.count("y")) == (1, 1)
    assert (await slots.count("x"), await slots.count("y")) == (0, 0)


async def test_a_limited_function_runs_with_a_slot(world):
    """Each call holds a slot of the id while it runs, and returns what the function returns."""
    slots = world.semaphore(limit=1)

    @slots.limited("x")
    async def call(a, *, b):
        return a, b, await slots.count("x")

    assert await call(1, b=2) == (1, 2, 1)
    assert await call("again", b=None) == ("again", None, 1)
    assert await slots.count("x") == 0


async def test_the_id_of_a_limited_function_may_come_from_its_arguments(world):
    """A callable id is called with the arguments of each call."""
    slots = world.semaphore(limit=1)

    @slots.limited(lambda provider, model="small": f"{provider}/{model}")
    async def call(provider, model="small"):
        return held_ids(world)

    assert await call("openai") == ["openai/small"]
    assert await call("openai", model="large") == ["openai/large"]
    assert await call(provider="other") == ["other/small"]


async def test_a_limited_function_fails_fast(world):
    """Without room a call raises, and the function does not run."""
    slots = world.semaphore(limit=1)

    @slots.limited("x", retries=1, retry_delay_ms=1)
    async def call():
        pytest.fail("ran")

    async with slots.hold("x"):
        with pytest.raises(SemaphoreNotAcquiredError):
            await call()


async def test_a_bad_id_from_the_arguments_is_the_calls_error(world):
    """What the callable returns is checked at each call, before anything is sent."""
    slots = world.semaphore(limit=1)

    @slots.limited(lambda provider: provider)
    async def call(provider):
        return "ran"

    with world.server.listening() as seen, pytest.raises(ValidationError) as refused:
        await call("")
    assert seen == []
    assert str(refused.value) == (
        "semaphore id must be a non-empty string or an integer, received ''"
    )
    assert await call("good") == "ran"


async def test_what_the_id_callable_raises_comes_out(world):
    """An error of the callable is the caller's, and takes no slot."""
    slots = world.semaphore(limit=1)

    def id_of(**_):
        raise LookupError

    @slots.limited(id_of)
    async def call(**_):
        pytest.fail("ran")

    with pytest.raises(LookupError):
        await call(a=1)
    assert world.redis.keys() == []


def example(a: int, /, b: str = "b", *args: int, c: bool, **rest: object) -> str:
    """What the function is about."""
    return f"{a}{b}{args}{c}{rest}"


async def async_example(a: int, /, b: str = "b", *args: int, c: bool, **rest: object) -> str:
    """What the function is about."""
    return f"{a}{b}{args}{c}{rest}"


@pytest.mark.engines("fake")
async def test_a_limited_function_keeps_its_name_and_signature(world):
    """Tools that look at the function see the one that was decorated, in its colour."""
    slots = world.raw(world.semaphore(limit=1))
    fn = example if world.colour == "sync" else async_example
    limited = slots.limited("x")(fn)
    assert limited.__name__ == fn.__name__
    assert limited.__qualname__ == fn.__qualname__
    assert limited.__doc__ == "What the function is about."
    assert limited.__module__ == fn.__module__
    assert limited.__wrapped__ is fn
    assert inspect.signature(limited) == inspect.signature(fn)
    assert inspect.iscoroutinefunction(limited) is (world.colour == "async")
    assert await world.do(limited, 1, "2", 3, c=True, d=4) == "12(3,)True{'d': 4}"


@pytest.mark.engines("fake")
async def test_a_method_can_be_limited(world):
    """Decorating in a class works: `self` is an argument like any other."""
    slots = world.raw(world.semaphore(limit=1))

    class Provider:
        name = "openai"

        @slots.limited(lambda self: self.name)
        def plain(self):
            return self.name, world.redis.keys()

        @slots.limited(lambda self: self.name) if world.colour == "async" else lambda fn: fn
        async def awaited(self):
            return self.name, world.redis.keys()

    wanted = ("openai", [slots.key("openai")])
    assert await world.do(Provider().plain) == wanted
    if world.colour == "async":
        assert await Provider().awaited() == wanted


async def test_calls_of_a_limited_function_are_limited_together(world):
    """All calls of the function share the pool of its id."""
    slots = world.semaphore(limit=2)
    running = 0
    most = 0

    @slots.limited("x", retries=10_000, retry_delay_ms=2)
    async def call():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1

    await asyncio.gather(*(call() for _ in range(8)))
    assert most == 2

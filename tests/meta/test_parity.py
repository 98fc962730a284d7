"""The two colours of everything: the same names, parameters, defaults and annotations.

The pairs are found, not listed, so a new one is under the rule from its first day.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, get_overloads

import pytest
from meta.sources import classes

RENAMED = {
    "aclose": "close",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "bind_async": "bind_sync",
}
NOT_AWAITED = {
    "from_url": "makes a handle; nothing is sent",
    "__init__": "makes an object; nothing is sent",
    "__getitem__": "names a primitive",
    "bind_async": "makes a primitive",
    "execute_command": "some drivers return a coroutine from a plain function",
    "hold": "returns what is entered with `async with`",
    "limited": "decorates; the result is awaited",
    "exchange": "called by the keeper's thread, which waits for it",
    "close": "the same",
    "abandon": "forgets",
    "start": "only takes note",
    "can_end": "only looks",
    "renewal_failed": "called by the keeper's thread",
    "lost": "the same",
}
"""Members of async classes that are plain, and why; the rest are coroutine functions."""

LOOP = {"loop"}
"""Parameters that only an async object needs."""


def twin_of(name: str) -> type | None:
    """Find the blocking twin of an async class."""
    candidates = [name.replace("Async", word) for word in ("Sync", "Blocking", "")]
    return next((classes()[other] for other in candidates if other in classes()), None)


ASYNC = {name: cls for name, cls in classes().items() if "Async" in name}
PAIRS = [(twin_of(name), cls) for name, cls in sorted(ASYNC.items())]
each_pair = pytest.mark.parametrize(("sync", "aio"), PAIRS, ids=sorted(ASYNC))


def own(cls: type) -> dict[str, Any]:
    """List what a class says itself: public members and the special ones, without wrappings."""
    special = {"__init__", "__getitem__", "__enter__", "__exit__", "__aenter__", "__aexit__"}
    found = {n: v for n, v in vars(cls).items() if n in special or not n.startswith("_")}
    return {name: getattr(value, "__func__", value) for name, value in found.items()}


def blocking(text: str) -> str:
    """Read an annotation with the eyes of the blocking colour."""
    text = re.sub(r"Coroutine\[Any, Any, (\w+)\]|Awaitable\[(\w+)\]", r"\1\2", text)
    return text.replace("asyncio.", "").replace("Async", "Sync").replace("async", "sync")


def shape(fn: Any) -> list[tuple[str, str, str, str]]:
    """Describe a signature: each parameter's name, kind, default and annotation; the result's."""
    signature = inspect.signature(fn)
    said = (lambda _: "overloaded") if get_overloads(fn) else (lambda text: blocking(str(text)))
    parameters = [
        (p.name, p.kind.name, repr(p.default), said(p.annotation))
        for p in signature.parameters.values()
        if p.name not in LOOP
    ]
    return [*parameters, ("return", "", "", said(signature.return_annotation))]


def comparable(name: str, sync: type, aio: type) -> bool:
    return callable(own(aio)[name]) and callable(own(sync).get(RENAMED.get(name, name)))


MEMBERS = [
    pytest.param(sync, aio, name, id=f"{aio.__name__}.{name}")
    for sync, aio in PAIRS
    if sync is not None
    for name in own(aio)
    if comparable(name, sync, aio)
]
each_member = pytest.mark.parametrize(("sync", "aio", "name"), MEMBERS)


def test_the_pairs_are_found():
    """Those that are fixed by contract are among them."""
    names = {(sync.__name__, aio.__name__) for sync, aio in PAIRS if sync is not None}
    fixed = ("Benni", "Semaphore", "Lease", "Signal", "Hold", "Leased", "Driver")
    assert {(f"Sync{name}", f"Async{name}") for name in fixed} <= names


def test_every_blocking_class_has_a_twin():
    """No class is of the blocking colour only."""
    sync = {name for name in classes() if re.search("Sync|Blocking", name)}
    assert sync == {twin.__name__ for twin, _ in PAIRS if twin} & sync


@each_pair
def test_every_async_class_has_a_twin(sync, aio):
    """No class is of the asyncio colour only."""
    assert sync is not None


@each_pair
def test_the_same_names(sync, aio):
    """What one colour can do, so can the other."""
    names = {RENAMED.get(name, name) for name in own(aio)} - {"__init__"}
    inherited = set(own(sync)) if sync in aio.__mro__ else set()
    assert names | inherited == set(own(sync)) - {"__init__"} | inherited


@each_pair
def test_the_same_bases(sync, aio):
    """A class and its twin stand on the same shared ground."""
    if sync not in aio.__mro__:
        bases = [blocking(base.__name__) for base in aio.__mro__[1:]]
        assert bases == [base.__name__ for base in sync.__mro__[1:]]


@each_member
def test_the_same_signature(sync, aio, name):
    """Parameters, defaults and annotations are the same, but for their colour."""
    assert shape(own(aio)[name]) == shape(own(sync)[RENAMED.get(name, name)])


@each_member
def test_the_same_overloads(sync, aio, name):
    """A type checker sees the same ways to call it."""

    def ways(fn: Any) -> set[str]:
        return {str(shape(way)) for way in get_overloads(fn)}

    assert ways(own(aio)[name]) == ways(own(sync)[RENAMED.get(name, name)])


@each_member
def test_what_waits_is_awaited(sync, aio, name):
    """An async member is a coroutine function, unless it is one that only looks or makes."""
    assert inspect.iscoroutinefunction(own(aio)[name]) == (name not in NOT_AWAITED)
    assert not inspect.iscoroutinefunction(own(sync)[RENAMED.get(name, name)])


@each_member
def test_the_same_kind(sync, aio, name):
    """A class method or property is one in both colours."""
    before, after = vars(sync)[RENAMED.get(name, name)], vars(aio)[name]
    assert type(before) is type(after)

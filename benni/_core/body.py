"""How a user's function is called: with one argument, or with none."""

from __future__ import annotations

import inspect
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING

from benni.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

_RUNS_LATER = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def takes_argument(
    kind: str, option: str, fn: Callable[..., object], what: str = "the handle"
) -> bool:
    """Whether `fn` has exactly one required positional parameter.

    Raises `ValidationError` if it could not be called with one argument or none.
    """
    if not callable(fn):
        raise ValidationError(f"{kind} {option} must be callable, received {fn!r}")
    needed, impossible = _required(fn)
    if needed > 1 or impossible:
        raise ValidationError(
            f"{kind} {option} must take {what} or nothing, received {_described(fn)}"
        )
    return needed == 1


def _required(fn: Callable[..., object]) -> tuple[int, bool]:
    """Count the required positional parameters; say if a required keyword is among the rest."""
    bound = int(isinstance(fn, MethodType))
    function = fn.__func__ if isinstance(fn, MethodType) else fn
    if type(function) is FunctionType and not hasattr(function, "__wrapped__"):
        # Without the cost of a Signature: 0.2 µs in place of 10.
        code = function.__code__
        needed = code.co_argcount - len(function.__defaults__ or ()) - bound
        keywords = code.co_kwonlyargcount > len(function.__kwdefaults__ or ())
        return max(0, needed), keywords
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (ValueError, TypeError):
        return 0, False
    required = [p for p in parameters if p.default is p.empty]
    return (
        sum(p.kind in _POSITIONAL for p in required),
        any(p.kind is p.KEYWORD_ONLY for p in required),
    )


def _described(fn: Callable[..., object]) -> str:
    name = getattr(fn, "__qualname__", None) or repr(fn)
    try:
        return f"{name}{inspect.signature(fn)}"
    except (ValueError, TypeError):
        return name


def _runs(fn: object) -> object:
    """Look through partials and callable objects at the function that will run."""
    while isinstance(fn, partial):
        fn = fn.func
    if not inspect.isroutine(fn) and not inspect.isclass(fn) and callable(fn):
        return getattr(type(fn), "__call__", fn)  # noqa: B004
    return fn


def refuse_body(kind: str, fn: Callable[..., object], *, blocking: bool) -> None:
    """Refuse what would run after it has returned: when the slot is long free again.

    That is a generator function in either colour, and a coroutine function in the blocking one.
    """
    if type(fn) is FunctionType and not fn.__code__.co_flags & _RUNS_LATER:
        return
    inner = _runs(fn)
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise ValidationError(
            f"{kind} fn must not be a generator function (its body runs after it has returned; "
            f"hold the slot inside it instead), received {_described(fn)}"
        )
    if blocking and inspect.iscoroutinefunction(inner):
        raise ValidationError(
            f"{kind} fn must be a plain function with a blocking client, "
            f"received the coroutine function {_described(fn)}"
        )

"""The options of single calls: their defaults, their rules, and how they depend on each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias, TypedDict

from benni._core.rules import CALLABLE, DURATION, NOT_NEGATIVE, invalid, is_integer, within

OnLost: TypeAlias = Literal["signal", "cancel"]
OnRenewError: TypeAlias = Callable[[BaseException], object]


class AcquireOptions(TypedDict, total=False):
    """What `acquire` takes besides the id."""

    permits: int
    """How many permits to take, together or not at all. Default 1."""
    lease_ms: int | None
    """How long the slot is held without an extension. Default: the declaration's."""
    retries: int
    """How often to try again when there is no room. Default 0: fail fast."""
    retry_delay_ms: int
    """The pause between two tries. Default 100."""


class RunOptions(AcquireOptions, total=False):
    """What `run`, `hold` and `limited` take besides."""

    heartbeat_ms: int | Literal[False] | None
    """How often the lease is renewed; at most half of it. Default: a quarter. False: never."""
    on_renew_error: OnRenewError | None
    """Told of each round trip of a renewal that failed. Keep it quick."""
    on_lost: OnLost
    """`"signal"` (default) aborts `held.signal`; `"cancel"` cancels the body as well (async)."""


class Attempt(NamedTuple):
    """How to acquire."""

    permits: int
    lease_ms: int
    retries: int
    pause: float


class Watch(NamedTuple):
    """How to look after a lease while its body runs. `heartbeat` is in seconds; None: not."""

    heartbeat: float | None
    on_renew_error: OnRenewError | None
    cancel: bool


DEFAULT_DELAY_MS: Final = 100


def read_attempt(kind: str, limit: int, lease_ms: int, options: AcquireOptions) -> Attempt:
    """Check the options of an acquisition and fill in the defaults."""
    if not options:
        return Attempt(1, lease_ms, 0, DEFAULT_DELAY_MS / 1000)
    permits = options.get("permits", 1)
    lease = options.get("lease_ms", lease_ms)
    if lease is None:  # pyright: ignore[reportUnnecessaryComparison]
        lease = lease_ms
    retries = options.get("retries", 0)
    delay = options.get("retry_delay_ms", DEFAULT_DELAY_MS)
    within(1, limit, f"an integer from 1 to limit ({limit})").check(kind, "permits", permits)
    DURATION.check(kind, "lease_ms", lease)
    NOT_NEGATIVE.check(kind, "retries", retries)
    NOT_NEGATIVE.check(kind, "retry_delay_ms", delay)
    if delay:
        DURATION.check(kind, "retry_delay_ms", delay)
    return Attempt(permits, lease, retries, delay / 1000)


def read_watch(kind: str, lease_ms: int, options: RunOptions, *, can_cancel: bool) -> Watch:
    """Check the options of a body's lease, whose length in effect is `lease_ms`."""
    if not options:
        return Watch(max(1, lease_ms // 4) / 1000, None, cancel=False)
    heartbeat = options.get("heartbeat_ms")
    on_renew_error = options.get("on_renew_error")
    on_lost = options.get("on_lost", "signal")
    if on_renew_error is not None:
        CALLABLE.check(kind, "on_renew_error", on_renew_error)
    if on_lost not in ("signal", "cancel"):
        raise invalid(kind, "on_lost", '"signal" or "cancel"', on_lost)
    if on_lost == "cancel" and not can_cancel:
        raise invalid(kind, "on_lost", '"signal" with a blocking client', on_lost)
    return Watch(_heartbeat_seconds(kind, lease_ms, heartbeat), on_renew_error, on_lost == "cancel")


def _heartbeat_seconds(kind: str, lease_ms: int, heartbeat_ms: object) -> float | None:
    if heartbeat_ms is None:
        return max(1, lease_ms // 4) / 1000
    if heartbeat_ms is False:
        return None
    if not is_integer(heartbeat_ms) or heartbeat_ms < 1:
        raise invalid(kind, "heartbeat_ms", "a positive integer or False", heartbeat_ms)
    if heartbeat_ms * 2 > lease_ms:
        raise invalid(kind, "heartbeat_ms", f"at most half of lease_ms ({lease_ms})", heartbeat_ms)
    return heartbeat_ms / 1000


def refuse_unknown(method: str, options: object, known: type) -> None:
    """Raise for a misspelt option, as Python does for a misspelt parameter."""
    for name in options:  # type: ignore[attr-defined]
        if name not in known.__annotations__:
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}")

"""Which clients are accepted, which colour they have, and what benni needs of their insides.

A client is used through its connection pool where it has one, because its own `execute_command`
sends a command again after a lost reply without a word, and whether a release was sent once or
twice decides if a missing slot is a loss. A Cluster client is used as a whole.

Accepted by type or, for valkey-py and fakeredis, by shape.
"""

from __future__ import annotations

import inspect
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Colour: TypeAlias = Literal["sync", "async"]

ACCEPTED = (
    "a redis.Redis, redis.RedisCluster, redis.asyncio.Redis or redis.asyncio.RedisCluster, "
    "the same of valkey-py or fakeredis, or a Benni handle"
)


def colour_of(client: object) -> Colour:
    """Tell whether `client` blocks or is awaited. Anything but a client is a `TypeError`."""
    run = getattr(client, "execute_command", None)
    usable = (
        not isinstance(client, type)
        and callable(run)
        and not hasattr(client, "command_stack")  # a pipeline
        and not hasattr(client, "get_message")  # a subscription
        and (is_cluster(client) or _has_pool(client))
    )
    if not usable:
        hint = " (use its master_for())" if hasattr(client, "master_for") else ""
        raise TypeError(f"client must be {ACCEPTED}, received {client!r}{hint}")
    return "async" if inspect.iscoroutinefunction(run) else "sync"


def is_cluster(client: object) -> bool:
    """Whether commands of `client` are spread over nodes."""
    return hasattr(client, "nodes_manager") and hasattr(client, "get_node_from_key")


def _has_pool(client: object) -> bool:
    pool = getattr(client, "connection_pool", None)
    return all(hasattr(pool, part) for part in ("connection_class", "connection_kwargs"))


def home_of(client: Any) -> Any:
    """Return what commands go through: the client's pool, which other clients may share.

    It is the client itself where commands have to be left to it whole, so that it may send them
    again unseen: a Cluster client, and one that holds on to a single connection.
    """
    whole = (
        is_cluster(client)
        or getattr(client, "connection", None) is not None
        or getattr(client, "single_connection_client", False)
    )
    return client if whole else client.connection_pool


def taker(home: Any) -> Callable[[Any], Any] | None:
    """Return how to take a connection from a pool; None for a client that is used whole."""
    if not hasattr(home, "get_connection"):
        return None
    name = inspect.signature(home.get_connection).parameters.get("command_name")
    if name is not None and name.default is name.empty:  # older drivers want to know what for
        return methodcaller("get_connection", "EVALSHA")
    return methodcaller("get_connection")


def is_answer(error: BaseException) -> bool:
    """Whether an exception is the server's own answer to a command, in any driver."""
    return _is_named(error, ("ResponseError",))


def is_timeout(error: BaseException) -> bool:
    """Whether the server took too long, so that trying again would take as long once more."""
    return _is_named(error, ("TimeoutError",))


def is_missing_script(error: BaseException) -> bool:
    """Whether the server does not know a script by its digest."""
    return _is_named(error, ("NoScriptError",))


def redirect_of(error: object) -> tuple[str, int] | None:
    """Return the node that a Cluster says has the key now."""
    if isinstance(error, BaseException) and _is_named(error, ("MovedError", "AskError")):
        return getattr(error, "host", ""), int(getattr(error, "port", 0))
    return None


def is_ask(error: object) -> bool:
    """Whether a Cluster says that a node has the key already, but not its slot."""
    return isinstance(error, BaseException) and _is_named(error, ("AskError",))


def _is_named(error: BaseException, names: Iterable[str]) -> bool:
    return any(cls.__name__ in names for cls in type(error).__mro__)


NOT_COPIED = (
    # The keeper is patient in its own way: it tries once, and times each wait itself.
    "retry",
    "retry_on_timeout",
    "retry_on_error",
    "health_check_interval",
    # These belong to the pool, and keep it alive.
    "maint_notifications_config",
    "maint_notifications_pool_handler",
    "oss_cluster_maint_notifications_handler",
)


def own_connection(connection_class: Any, kwargs: dict[str, Any]) -> Any:
    """Make a connection that goes where the client's go, with the same rights."""
    return connection_class(**{name: v for name, v in kwargs.items() if name not in NOT_COPIED})

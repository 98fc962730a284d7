"""`Benni`: a schema bound to one Redis client, in the client's colour."""

from __future__ import annotations

import asyncio
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast, overload

from benni._core.registry import Declared, collect
from benni._io.drivers import client_of, driver_of, pick
from benni._io.owned import Owned
from benni.errors import BenniError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benni._core.registry import Schema
    from benni._io.drivers import AsyncClient, SyncClient

PATIENCE = 2.0
"""Seconds that closing a handle waits for the keeper's last round trip."""

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class BindsSync(Protocol[T_co]):
    """A declaration, seen from a blocking handle: what it becomes."""

    def bind_sync(self, client: Any) -> T_co:
        """Make the primitive."""
        ...


class BindsAsync(Protocol[T_co]):
    """A declaration, seen from an asyncio handle: what it becomes."""

    def bind_async(self, client: Any) -> T_co:
        """Make the primitive."""
        ...


class Query:
    """The declared primitives by name: attributes, `dir()`, iteration over names, `in`, `len`.

    Not typed, since the names are known at run time only; `client[schema.slots]` is.
    """

    __slots__ = ("_bind", "_declared")

    def __init__(self, declared: Mapping[str, Declared], bind: Any) -> None:
        self._declared = declared
        self._bind = bind

    def __getattr__(self, name: str) -> Any:
        try:
            return self._bind(self._declared[name])
        except KeyError:
            raise AttributeError(self._no(name), name=name, obj=self) from None

    def _no(self, name: str) -> str:
        near = get_close_matches(name, self._declared)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        return f"query has no {name!r}; {hint}declared: {', '.join(self) or 'nothing'}"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._declared})

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __contains__(self, name: object) -> bool:
        return name in self._declared

    def __len__(self) -> int:
        return len(self._declared)

    def __repr__(self) -> str:
        lines = (f"  {name}: {value!r}" for name, value in self._declared.items())
        return "\n".join(["<query", *lines]) + ">"


class Benni:
    """A schema bound to a client. Made once, at startup; used everywhere.

    Given a blocking client this makes a `SyncBenni`, given an asyncio one an `AsyncBenni`. Nothing
    is sent. A client that is passed in is left open when the handle is closed.

    Args:
        client: a client of redis-py, valkey-py or fakeredis, of either colour, or another handle.
        schema: a module, a mapping, a class, or a list of these. Public names bound to
            declarations are collected.

    Raises:
        ValidationError: two declarations claim one prefix or one name.
        TypeError: `client` is no client.
    """

    query: Query
    """The declared primitives by name."""

    _benni_client: Any
    _bound: dict[int, tuple[object, Any]]
    _owned: Any = None
    _closed = False

    @overload
    def __new__(cls, client: AsyncClient, *, schema: Schema = ...) -> AsyncBenni: ...
    @overload
    def __new__(cls, client: SyncClient, *, schema: Schema = ...) -> SyncBenni: ...
    def __new__(cls, client: Any, *, schema: Schema = ()) -> Any:
        """See the class."""
        declared = collect(schema)
        client = client_of(client)
        self = object.__new__(pick(cls, client, SyncBenni, AsyncBenni))
        self._benni_client = client
        self._bound = {}
        self.query = Query(declared, self._get)
        return self

    @property
    def client(self) -> Any:
        """The Redis client underneath."""
        return self._benni_client

    @property
    def url(self) -> str:
        """Where another process of this machine can connect to the same server.

        Known for a handle that `from_url` made; `BenniError` for one made of a client.
        """
        if self._closed:
            raise BenniError("this handle is closed")
        if self._owned is None:
            raise BenniError("only a handle made by from_url knows its URL")
        return self._owned.url  # type: ignore[no-any-return]

    def _get(self, declared: Any) -> Any:
        """Return the primitive of a declaration: the same one each time."""
        if self._closed:
            raise BenniError("this handle is closed")
        if not isinstance(declared, Declared):
            raise TypeError(f"a handle is indexed with a declaration, received {declared!r}")
        known = self._bound.get(id(declared))
        if known is None:
            # The declaration is kept with what was made of it, so that its identity stays its own.
            known = self._bound[id(declared)] = (declared, self._make(declared))
        return known[1]

    def _make(self, declared: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self.query) or 'nothing declared'}>"


class SyncBenni(Benni):
    """A `Benni` whose primitives block. A context manager: leaving it closes it."""

    @classmethod
    def from_url(cls, url: str, *, schema: Schema = ()) -> Self:
        """Connect to `url` and bind `schema`; closing the handle closes the connection.

        Args:
            url: `redis://`, `rediss://` or `unix://` as redis-py takes them, or `embedded://`: a
                private Valkey server that ends with the handle (needs `benni[embedded]`).
            schema: as for `Benni`.

        Raises:
            BenniError: `embedded://` without the extra.
            ValidationError: as for `Benni`; or a URL of another kind.
        """
        collect(schema)  # before a server is started for it
        owned = Owned(url)
        self = cls(owned.connect("sync"), schema=schema)
        self._owned = owned
        return self

    def __getitem__(self, declared: BindsSync[T]) -> T:
        """Return the primitive of a declaration, typed; it need not be part of the schema."""
        return cast("T", self._get(declared))

    def _make(self, declared: Any) -> Any:
        return declared.bind_sync(self._benni_client)

    def close(self) -> None:
        """Close what `from_url` opened. A client that was passed in stays open."""
        self._closed = True
        owned, self._owned = self._owned, None
        if owned is not None:
            if thread := driver_of(self.client).keeper.stop():
                thread.join(PATIENCE)
            self.client.close()
            owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class AsyncBenni(Benni):
    """A `Benni` whose primitives are awaited. `async with` closes it at the end."""

    @classmethod
    def from_url(cls, url: str, *, schema: Schema = ()) -> Self:
        """Same as `SyncBenni.from_url`. It does not wait, but for an embedded server's start."""
        collect(schema)  # before a server is started for it
        owned = Owned(url)
        self = cls(owned.connect("async"), schema=schema)
        self._owned = owned
        return self

    def __getitem__(self, declared: BindsAsync[T]) -> T:
        """Same as `SyncBenni`'s."""
        return cast("T", self._get(declared))

    def _make(self, declared: Any) -> Any:
        return declared.bind_async(self._benni_client)

    async def aclose(self) -> None:
        """Same as `SyncBenni.close`, but awaited."""
        self._closed = True
        owned, self._owned = self._owned, None
        if owned is not None:
            if thread := driver_of(self.client).keeper.stop():
                await asyncio.to_thread(thread.join, PATIENCE)
            await self.client.aclose()
            owned.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

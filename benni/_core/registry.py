"""What a schema declares: the names in it, and the conflicts between them."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

from benni.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Schema: TypeAlias = "ModuleType | Mapping[str, object] | type | Sequence[Schema]"


class Declared:
    """What marks a value as a declaration.

    The model itself is in another module, because pydantic's models take longer to import than
    all of this library.
    """

    kind: ClassVar[str]
    """The kind, as messages name it."""

    prefix: str
    """The namespace of its keys, which no other declaration of a schema may share."""


def collect(schema: object) -> dict[str, Declared]:
    """Return the declarations of a module, mapping or class, or of a list of these, by name.

    Raises `ValidationError`, naming both places, where two declarations claim one prefix or one
    name.
    """
    found: dict[str, Declared] = {}
    places: dict[str, str] = {}
    owners: dict[str, tuple[Declared, str]] = {}
    for place, name, declared in _walk(schema, "schema"):
        if found.get(name, declared) is not declared:
            raise ValidationError(
                f"schema name {name!r} is declared twice: {places[name]} and {place}"
            )
        owner, where = owners.setdefault(declared.prefix, (declared, place))
        if owner is not declared:
            raise ValidationError(
                f"schema prefix {declared.prefix!r} is claimed twice: "
                f"{where} ({owner.kind}) and {place} ({declared.kind})"
            )
        found[name] = declared
        places.setdefault(name, place)
    return found


def _walk(schema: object, at: str) -> Iterator[tuple[str, str, Declared]]:
    """Yield each public declaration with its place, for messages, and its name."""
    if isinstance(schema, (list, tuple)):
        for n, part in enumerate(cast("Sequence[object]", schema)):
            yield from _walk(part, f"{at}[{n}]")
        return
    for name, value in _names(schema, at).items():
        if isinstance(value, Declared) and isinstance(name, str) and not name.startswith("_"):
            yield f"{_title(schema, at)}.{name}", name, value


def _names(schema: object, at: str) -> Mapping[Any, object]:
    if isinstance(schema, ModuleType):
        return vars(schema)
    if isinstance(schema, Mapping):
        return cast("Mapping[Any, object]", schema)
    if isinstance(schema, type):
        return {name: v for cls in reversed(schema.__mro__) for name, v in vars(cls).items()}
    raise ValidationError(
        f"{at} must be a module, a mapping, a class or a list of these, received {schema!r}"
    )


def _title(schema: object, at: str) -> str:
    return getattr(schema, "__name__", at)

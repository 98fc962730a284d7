"""The names of keys.

`K = <prefix>:<id>` is the key that every implementation of the wire format shares. Whatever else
belongs to the same id lives in a key of its own, whose hash tag puts it in the slot of `K` on a
Cluster. Its name never starts as `K` does, so no id under the same prefix can spell it.
"""

from __future__ import annotations

from binascii import crc_hqx
from functools import cache
from itertools import count

SLOTS = 16384


def key_of(prefix: str, id: str | int) -> str:
    """Name the key of `id`. A member of an enum is the string or the number that it is made of."""
    name = str.__str__(id) if isinstance(id, str) else str(int(id))
    return str.__str__(prefix) + ":" + name


def sibling(key: str, name: str) -> str:
    """Name a further key of the same id, in the same Cluster slot as `key`.

    It is `{<key>}:<name>`, unless braces in `key` keep that from working as a tag.
    """
    own = _own_tag(key)
    if own is None and "}" not in key:
        return f"{{{key}}}:{name}"
    tag = own if own is not None else _tags()[_slot(key)]
    return f"{name}{{{tag}}}:{key}" if key.startswith("{") else f"{{{tag}}}{name}:{key}"


def _own_tag(key: str) -> str | None:
    """Return what a Cluster hashes of `key` in place of all of it: its first `{...}`, not empty."""
    start = key.find("{")
    end = key.find("}", start + 1)
    return key[start + 1 : end] if start >= 0 and end > start + 1 else None


def _slot(key: str) -> int:
    return crc_hqx(key.encode(), 0) % SLOTS


@cache
def _tags() -> dict[int, str]:
    """Find a short tag for every slot, for keys whose braces cannot be wrapped (20 ms, once)."""
    tags: dict[int, str] = {}
    numbers = map(str, count())
    while len(tags) < SLOTS:
        tag = next(numbers)
        tags.setdefault(_slot(tag), tag)
    return tags

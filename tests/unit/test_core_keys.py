"""The names of keys: in one Cluster slot, and never two for one."""

from __future__ import annotations

from enum import Enum, IntEnum

from hypothesis import example, given, settings
from hypothesis import strategies as st
from redis.crc import key_slot

from benni._core.keys import key_of, sibling

braces = st.text(alphabet="{}:a", min_size=1, max_size=12)
words = st.one_of(braces, st.text(min_size=1).filter(lambda text: text.isprintable()))
ids = st.one_of(words, st.integers())

unhurried = settings(deadline=None)  # the table of tags is made with the first odd key


def slot_of(key):
    return key_slot(key.encode())


def test_the_key_on_the_wire():
    """It is the form that other implementations share."""
    assert key_of("provider", "openai") == "provider:openai"


class Named(str, Enum):  # noqa: UP042
    OPENAI = "openai"


class Numbered(int, Enum):
    ONE = 1


class Plain(IntEnum):
    ONE = 1


def test_the_key_of_an_enum_member():
    """A member that is a string is that string: `Named.OPENAI` and "openai" are one pool."""
    assert key_of("provider", Named.OPENAI) == "provider:openai"
    assert key_of("provider", Numbered.ONE) == "provider:1"
    assert key_of("provider", Plain.ONE) == "provider:1"


def test_the_key_of_an_enum_prefix():
    """The same goes for a prefix."""
    assert key_of(Named.OPENAI, "x") == "openai:x"


def test_the_sibling_of_a_plain_key():
    """The whole key is the tag."""
    assert sibling("provider:openai", "void") == "{provider:openai}:void"


def test_the_sibling_of_a_key_with_a_tag():
    """The key's own tag is what a Cluster hashes of it, so it is the sibling's tag too."""
    name = sibling("provider:{eu}openai", "void")
    assert name.startswith("{eu}")
    assert name.endswith("provider:{eu}openai")


@unhurried
@given(prefix=words, id=ids)
@example("a", "{}b")
@example("a", "}b")
@example("a", "{b")
@example("{", "a}")
def test_a_sibling_is_in_the_slot_of_its_key(prefix, id):
    """Whatever braces a key has: else a Cluster refuses the script (PyrateLimiter#126)."""
    key = key_of(prefix, id)
    assert slot_of(sibling(key, "void")) == slot_of(key)


@unhurried
@given(prefix=words, id=ids, other=words)
@example("{", "a}b", "a}void:{:a}b")
@example("{t}void", "x", "{t}void:x")
def test_a_sibling_is_no_key_of_the_same_prefix(prefix, id, other):
    """A user's id cannot spell a key that is benni's own."""
    name = sibling(key_of(prefix, id), "void")
    assert name != key_of(prefix, other)
    assert not name.startswith(f"{prefix}:")


@unhurried
@given(prefix=words, one=ids, other=ids)
@example("a", "{b", "{b}")
@example("a", "b}", "{}b}")
def test_two_keys_have_two_siblings(prefix, one, other):
    """Nobody's void is another's."""
    first, second = key_of(prefix, one), key_of(prefix, other)
    assert (first == second) == (sibling(first, "void") == sibling(second, "void"))


@unhurried
@given(prefix=words, id=ids)
def test_two_names_are_two_siblings(prefix, id):
    """What belongs to one id lies in as many keys as it has names."""
    key = key_of(prefix, id)
    assert len({key, sibling(key, "void"), sibling(key, "line")}) == 3

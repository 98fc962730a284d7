"""What an option may be, and the one sentence that says so.

Every message has the form `<kind> <option> must be <rule>, received <value>`. A rule is a pydantic
annotation as well, so declarations and single calls share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from benni.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema
    from typing_extensions import TypeIs

MAX_MS: Final = 10**12
"""Some 31 years: with this added, a time in milliseconds is still exact on the server."""


def invalid(kind: str, option: str, must_be: str, value: object) -> ValidationError:
    """Make the error for `option` of a `kind`, in the one style."""
    return ValidationError(f"{kind} {option} must be {must_be}, received {value!r}")


def is_integer(value: object) -> TypeIs[int]:
    """Tell integers from booleans, whole floats and digits in a string."""
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Rule:
    """A condition on a value and its wording."""

    must_be: str
    holds: Callable[[object], bool]

    def check(self, kind: str, option: str, value: object) -> None:
        """Raise `ValidationError` unless the rule holds."""
        if not self.holds(value):
            raise invalid(kind, option, self.must_be, value)

    def _accept(self, value: object) -> object:
        if not self.holds(value):
            raise ValueError(self.must_be)
        return value

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Take the value as it is, or fail with the rule's wording."""
        from pydantic_core import core_schema  # noqa: PLC0415

        return core_schema.no_info_plain_validator_function(self._accept)


def within(low: int, high: int | None, must_be: str) -> Rule:
    """Make the rule for an integer from `low` to `high`."""
    return Rule(
        must_be,
        lambda value: is_integer(value) and low <= value and (high is None or value <= high),
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != "" and _encodable(value)


def _encodable(value: str) -> bool:
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


POSITIVE: Final = within(1, None, "a positive integer")
NOT_NEGATIVE: Final = within(0, None, "a non-negative integer")
TEXT: Final = Rule("a non-empty string", _is_text)
ID: Final = Rule("a non-empty string or an integer", lambda v: is_integer(v) or _is_text(v))
CALLABLE: Final = Rule("callable", callable)
_LONGEST: Final = within(1, MAX_MS, f"at most {MAX_MS}")


class _Duration(Rule):
    """Positive, and short enough to be added to a time."""

    def check(self, kind: str, option: str, value: object) -> None:
        """Raise `ValidationError`, with a sentence of its own for what is far too long."""
        super().check(kind, option, value)
        _LONGEST.check(kind, option, value)

    def _accept(self, value: object) -> object:
        if super()._accept(value) and not _LONGEST.holds(value):
            raise ValueError(_LONGEST.must_be)
        return value


DURATION: Final = _Duration("a positive integer", POSITIVE.holds)

PositiveInt: TypeAlias = Annotated[int, POSITIVE]
Milliseconds: TypeAlias = Annotated[int, DURATION]
Text: TypeAlias = Annotated[str, TEXT]

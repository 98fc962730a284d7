"""What every declaration is: a frozen, comparable, picklable value with errors in one style."""

from __future__ import annotations

from typing import Any, ClassVar

import pydantic

from benni._core.registry import Declared
from benni._core.rules import invalid


class Declaration(pydantic.BaseModel, Declared):
    """A primitive that is declared and not yet bound to a client."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    prefix: str

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except pydantic.ValidationError as error:
            raise self._in_our_words(error) from None

    @classmethod
    def _in_our_words(cls, error: pydantic.ValidationError) -> Exception:
        first = error.errors()[0]
        option = ".".join(map(str, first["loc"]))
        if first["type"] == "value_error":
            return invalid(cls.kind, option, str(first.get("ctx", {})["error"]), first["input"])
        if first["type"] == "missing":
            return TypeError(f"{cls.kind} is missing the option {option!r}")
        return TypeError(f"{cls.kind} got an unexpected option {option!r}")

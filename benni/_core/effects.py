"""What a generator of the core may ask of the driver that runs it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from benni._core.scripts import Script

T = TypeVar("T")

Argument: TypeAlias = str | int


class Call(NamedTuple):
    """One round trip: run `script` on `keys` with `args`. Answered with a `Reply`.

    `brief` says that the caller would rather hear of trouble at once than have the command sent
    again by the client's own retry policy: it goes out twice at the most, without a pause.
    """

    script: Script
    keys: tuple[bytes, ...]
    args: tuple[Argument, ...]
    brief: bool = False


class Reply(NamedTuple):
    """The server's answer to a `Call`.

    `resent` is True where the command went out more than once before this answer came, so that an
    earlier copy may have been carried out as well; None where the client sends again unseen.
    """

    value: object
    resent: bool | None
    sent: float | None = None
    """When the copy that was answered went out, if that was not when the call was asked for."""


class Sleep(NamedTuple):
    """Let `seconds` pass. Answered with None."""

    seconds: float


class GiveBack(NamedTuple):
    """Undo what an earlier call may have done. Answered with None, never with an error.

    The keeper carries it out, again and again until the server has answered or `within` seconds
    have passed, after which the lease has lapsed by itself. The asker waits `wait` seconds for it
    at the most. With `in_doubt` it is left out if every command that this generator sent has been
    answered: then there is nothing that the generator does not know of.
    """

    call: Call
    within: float
    wait: float = 1.0
    in_doubt: bool = True


Effect: TypeAlias = Call | Sleep | GiveBack
Steps: TypeAlias = Generator[Effect, "Reply | None", T]

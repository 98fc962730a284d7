"""What comes out of a body: its own outcome, or the loss of its lease."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benni._core.lease import Lease

log = logging.getLogger("benni")


def settle(lease: Lease, error: BaseException | None, trouble: Exception | None) -> None:
    """Raise the loss of `lease`, unless the body raised: then `error` goes first, with a note.

    `trouble` is what went wrong on the wire when the slot was let go. It is no reason to take the
    body's outcome away: the slot is given back in the background, or lapses.
    """
    if trouble is not None:
        log.warning(
            "could not release %s, which is retried for as long as the lease lasts: %s",
            lease.key,
            repr(trouble),  # a record that is kept must not keep the error's frames
        )
        if error is not None:
            error.add_note(f"The release of {lease.key} was not answered: {trouble!r}")
    loss = lease.loss
    if loss is None or loss is error:
        return
    if error is None:
        raise loss
    error.add_note(f"While this ran, its slot was lost: {loss}")

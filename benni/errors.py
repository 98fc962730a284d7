"""Every error that benni raises, on one screen.

Errors of the wire (`redis.exceptions.ConnectionError` and the rest) are not in this tree: they
pass through as redis-py raises them.

Each error carries what it is about as attributes and is made from them alone, so all of them
pickle and copy.
"""

from __future__ import annotations


class BenniError(Exception):
    """The root of what benni raises itself."""


class ValidationError(BenniError, ValueError):
    """An option or a declaration breaks its rule; nothing was sent."""


class NotAcquiredError(BenniError):
    """There was no room; nothing ran. Attributes: `key`, `limit`."""

    def __init__(self, key: str, limit: int) -> None:
        super().__init__(key, limit)
        self.key = key
        self.limit = limit

    def __str__(self) -> str:
        return f"no room for {self.key}: its limit is {self.limit}"


class SemaphoreNotAcquiredError(NotAcquiredError):
    """The permits of the semaphore are taken: shed the load or try later."""


class LeaseLostError(BenniError):
    """A lease ended under its holder, so another may hold it now. Attributes: `key`, `limit`."""

    def __init__(self, key: str, limit: int, why: str = "it is no longer held") -> None:
        super().__init__(key, limit, why)
        self.key = key
        self.limit = limit
        self.why = why

    def __str__(self) -> str:
        return f"lost the lease on {self.key}: {self.why}"


class SemaphoreLeaseLostError(LeaseLostError):
    """A slot was lost while its body ran: for that time the pool may have been over its limit."""


class ReplyError(BenniError):
    """The server answered a script with an unexpected shape. Attributes: `script`, `reply`."""

    def __init__(self, script: str, reply: object) -> None:
        super().__init__(script, reply)
        self.script = script
        self.reply = reply

    def __str__(self) -> str:
        return f"unexpected reply of {self.script}: {self.reply!r}"

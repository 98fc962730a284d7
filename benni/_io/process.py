"""This process, and what becomes of it in a fork.

The child of a fork inherits handles but not their slots: it must neither renew nor release what
its parent holds. Each object that stands for a slot remembers the generation it was made in.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Final, Protocol


class _Forkable(Protocol):
    def after_fork(self) -> None: ...


class _Process:
    """State of the module, replaced piece by piece in the child of a fork."""

    def __init__(self) -> None:
        self.generation = 0
        self.lock = threading.RLock()
        self.forkables: weakref.WeakSet[_Forkable] = weakref.WeakSet()

    def after_fork(self) -> None:
        self.generation += 1
        self.lock = threading.RLock()
        for forkable in list(self.forkables):
            forkable.after_fork()


process: Final = _Process()
"""`process.lock` guards every step of every lease: a step is far shorter than a thread switch.
It can be taken again by its owner, because a signal handler may run in the middle of a step."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=process.after_fork)

if hasattr(time, "CLOCK_BOOTTIME"):

    def monotonic() -> float:
        """Seconds that also pass while the machine is suspended, as they do on the server."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

else:
    monotonic = time.monotonic

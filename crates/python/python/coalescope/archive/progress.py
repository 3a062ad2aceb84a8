"""How far it is, and how long it will take."""

from __future__ import annotations

import sys
import time
from typing import Callable

# Lines are not written more often than this, but on a terminal.
_EVERY_S = 10.0


class Progress:
    """Of one step: so many tasks, so much work."""

    def __init__(self, step: str, tasks: int, work: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._step, self._tasks, self._work = step, tasks, max(work, 1)
        self._done = self._worked = 0
        self._clock = clock
        self._begun = self._told = clock()

    def add(self, tasks: int, work: int) -> None:
        """Some more is done."""
        self._done += tasks
        self._worked += work
        now = self._clock()
        every = 0.2 if sys.stderr.isatty() else _EVERY_S
        if now - self._told >= every or self._done == self._tasks:
            self._told = now
            self._tell()

    def line(self) -> str:
        """Tasks done, of how many, and the time that the rest takes if it is like what was done."""
        left = (self._clock() - self._begun) * (self._work - self._worked) / max(self._worked, 1)
        said = f"{self._step}: {self._done} of {self._tasks}"
        if self._done == self._tasks:
            return f"{said}, in {_time(self._clock() - self._begun)}"
        return f"{said}, {_time(left)} left" if self._worked else said

    def _tell(self) -> None:
        end = "\r" if sys.stderr.isatty() and self._done < self._tasks else "\n"
        print(f"\x1b[K{self.line()}" if sys.stderr.isatty() else self.line(), end=end, file=sys.stderr, flush=True)


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"

"""A task in the node of the oracles: what it still has to do, and on what its time is booked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

PARTS = ("cpu", "cpu_queue", "io", "io_queue", "paging")

# The seek, in ns, of a task's request of that number.
Seek = Callable[[int], int]


def exact(number: float | int) -> Fraction:
    """The number as typed: 0.1 is one tenth."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


@dataclass(eq=False)
class Live:
    """A task in the node; until it enters, `since` is when it will.

    Attributes:
        cpu_left: ns of CPU that it still needs.
        gap_left: ns of CPU until something that its program says, None: nothing before its end.
        fault_seek: seek of its page fault of that number, counted from 1; None: the node's.
    """

    id: int
    since: int
    cpu_left: int
    gap_left: int | None = None
    fault_seek: Seek | None = None
    credit: Fraction = Fraction(0)
    part: str = "cpu_queue"
    requests: int = 0
    hits: int = 0
    faults: int = 0
    spent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))

    def turn(self, part: str, now: int) -> None:
        """From `now` on, time is booked on `part`."""
        self.spent[self.part] += now - self.since
        self.part, self.since = part, now


AnyLive = TypeVar("AnyLive", bound=Live)

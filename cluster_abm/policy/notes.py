"""What a load manager that talks remembers: a dataclass of numbers, truth values and queues, the `Notes` of its policy.

Compiled code holds such notes as a row of numbers. A policy that keeps anything else in them decides in Python.
"""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import Any, TypeVar

Item = TypeVar("Item")


class Queue(deque[Item]):
    """Whole numbers, or named tuples of numbers, in an order.

    Compiled are: `append`, `appendleft`, `popleft`, `remove`, `clear`, `in`, `len`, `queue[i]`, `queue[i] = item`,
    whether there is anything in it, and a loop over it in which it does not change.
    """


def queue() -> Any:
    """A field of notes: a queue, empty at first."""
    return field(default_factory=Queue)

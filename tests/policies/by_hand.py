"""What the modules of choices worked by hand share: tasks on nodes in short, and cases that need no run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from four_nodes import Job


def tasks(node: int, count: int, cpu_ms: float = 100.0, **more: float) -> list[Job]:
    """Tasks alike on one node."""
    return [Job(node, cpu_ms, **more)] * count


def on(*counts: int, **more: float) -> list[Job]:
    """Tasks alike on node 0, 1, ...: how many on each."""
    return [job for node, count in enumerate(counts) for job in tasks(node, count, **more)]


class Worked(NamedTuple):
    """A case of `four_nodes.Case`'s kind in which a policy is asked itself, about a view that the test makes.

    Attributes:
        finds: what the policy decides.
        expected: what it has to.
    """

    policy: str
    what: str
    finds: Callable[[], Any]
    expected: Any
    is_tie: bool = False

    def __str__(self) -> str:
        return f"{self.policy}, {self.what}{', tie' if self.is_tie else ''}"

    def check(self) -> None:
        """Ask it."""
        assert self.finds() == self.expected

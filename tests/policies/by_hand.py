"""What the modules of choices worked by hand share: tasks on nodes in short, and cases of two more kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from four_nodes import Job, decided

# Costs of a remote execution, e, and of a migration, f.
E, F = "negotiation__remote_execution_ms", "negotiation__migration_ms"
# Turns of 10 ms at the CPU; nodes known by their reports.
IN_TURNS, STALE = {"cluster__quantum_ms": 10.0}, {"negotiation__mode": "negotiated"}
# A task of so much CPU runs for longer than a test lasts.
LONG = 1e5


def tasks(node: int, count: int, cpu_ms: float = 100.0, **more: float) -> list[Job]:
    """Tasks alike on one node."""
    return [Job(node, cpu_ms, **more)] * count


def on(*counts: int, **more: float) -> list[Job]:
    """Tasks alike on node 0, 1, ...: how many on each."""
    return [job for node, count in enumerate(counts) for job in tasks(node, count, **more)]


def full(*nodes: int) -> list[Job]:
    """A task on each of these nodes that runs for longer than a test lasts."""
    return [Job(node, LONG) for node in nodes]


# CPU queues 3, 2, 1, 2; memory 3, 20, 900, 2 MB.
QUEUES = [*tasks(0, 3), *tasks(1, 2, memory_mb=10.0), Job(2, memory_mb=900.0), *tasks(3, 2)]
# What moves takes 500 MB along, for half a minute: the cost is not asked.
HEAVY = Job(2, at_ms=11.0, initial_data_mb=500.0)
# Tasks of unlike sizes that come one after another.
SIZED = [Job(0, 300.0, at_ms=1), Job(0, 100.0, at_ms=2), Job(0, 200.0, at_ms=3), Job(0, 400.0, at_ms=4)]
# Ties of every policy that takes the least: tasks on each node, home, and where the newcomer goes. Home first, else the
# next one after it.
TIES = [
    ("home first", (1, 1, 2, 1), 1, 1), ("next after home", (1, 2, 1, 1), 1, 2), ("going round", (1, 1, 2, 2), 2, 0),
]  # fmt: skip


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


class Drawn(NamedTuple):
    """A situation in which several nodes are as good as each other, and the policy draws one.

    Over 24 seeds each of them comes up: by true draws one of four would be missing in 4 of a thousand tries.

    Attributes:
        there, comes, given: as of `four_nodes.decided`.
        alike: the nodes.
        place: which of the tasks that come is sent to one of them; None: the first decision is about one that
            waits at one of them.
    """

    policy: str
    there: Sequence[Job]
    comes: Sequence[Job]
    alike: set[int]
    place: int | None = 0
    given: dict[str, Any] | None = None
    is_tie: bool = True

    def __str__(self) -> str:
        return self.policy

    def check(self) -> None:
        """Ask it, with one seed after another."""
        found = set()
        until_ms = 300.0 if self.place is None else 10.0
        for seed in range(24):
            seen = decided(self.policy, self.there, self.comes, seed=seed, until_ms=until_ms, **(self.given or {}))
            found.add(seen.decisions[0].source if self.place is None else seen.targets[self.place])
        assert found == self.alike

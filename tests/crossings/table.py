"""The optional mechanisms, the test cases in which they meet, and the pairs that cannot meet.

A case counts for a pair if its expected numbers would change were either mechanism to ignore the other.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple, TypeVar

Test = TypeVar("Test", bound=Callable[..., None])
Pair = frozenset[str]

# What happens on nodes and between them.
OF_NODES = {
    "checkpoint": "tasks of a failed node go on from what was saved last",
    "failure": "nodes and links fail; what was under way turns back, what was on a node starts again",
    "drain": "a node finishes its tasks and accepts no others",
    "kill": "demand beyond RAM and swap kills the newest task; an agent kills a job",
    "paging": "demand beyond RAM makes page faults",
    "buffer": "accesses are served from the I/O buffer, whose size a controller may change",
    "staging": "a task fetches the files of its job before it starts",
    "links": "transfers share links, and use the disks at both ends (interconnect.mode = contended)",
    "barriers": "the tasks of a job wait for each other",
    "priorities": "an orphaned task is placed before arriving tasks, and no node refuses it",
    "channels": "a disk serves several requests at once",
    "programs": "a task computes, pauses, accesses and allocates by an activity profile",
    "background": "programs that belong to a node, not to a job",
}
# What load managers and their policies do.
OF_MANAGERS = {
    "talking": "load managers send each other messages",
    "holding": "jobs wait before they are placed",
    "stale-reports": "load managers know of each other what was reported last",
    "periodic": "a policy acts without an arrival",
}
MECHANISMS = (*OF_NODES, *OF_MANAGERS)


class Case(NamedTuple):
    """A test, and the mechanisms that meet in it."""

    test: str
    mechanisms: Pair


# Filled in as the modules of this folder are imported.
CASES: list[Case] = []

NEVER_TOGETHER: dict[Pair, str] = {
    # Of two mechanisms of nodes.
    # Of at least one mechanism of load managers.
}


def pair(one: str, other: str) -> Pair:
    """Two mechanisms, in whatever order."""
    return frozenset({known(one), known(other)})


def known(mechanism: str) -> str:
    """The mechanism itself.

    Raises:
        ValueError: there is none of that name.
    """
    if mechanism not in MECHANISMS:
        raise ValueError(f"{mechanism}: no mechanism; there are {', '.join(MECHANISMS)}")
    return mechanism


def crosses(*mechanisms: str) -> Callable[[Test], Test]:
    """Say of a test which mechanisms meet in it; a test of several cases may say it several times."""
    found = frozenset(map(known, mechanisms))

    def note(test: Test) -> Test:
        CASES.append(Case(f"{test.__module__}.{test.__qualname__}", found))
        return test

    return note


def covered() -> dict[Pair, list[str]]:
    """The pairs that meet in some case, each with its tests."""
    found: dict[Pair, list[str]] = {}
    for case in CASES:
        for both in combinations(sorted(case.mechanisms), 2):
            found.setdefault(frozenset(both), []).append(case.test)
    return found

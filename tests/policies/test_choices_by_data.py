"""Policies that send a task to its files, worked by hand on four nodes.

Where they are fetched soonest (`data-access`), where most of them are (`data-majority`), or near them to a node of a
good class of load (`data-class`).
"""

from __future__ import annotations

from functools import partial

import pytest
from by_hand import QUEUES, Worked, tasks
from four_nodes import Case, Job
from test_data_access import by_distance, data_map, needs
from test_load_class import HIGH, IDLE, LOW, NORMAL, view_of

from cluster_abm.policies import create
from cluster_abm.scenario.schema import PolicyChoice

WITHOUT_FILES = [
    # No job needs files here, so fetching them takes no time anywhere: the fewest tasks, home, then the next one after
    # it. test_data_access.py has placement by files.
    *(
        case
        for name, rule in (("data-access", "least T"), ("data-majority", "most data"))
        for case in (
            Case(name, "without files, fewest tasks", QUEUES, [Job(1)], [2], rules=[rule]),
            Case(name, "home first", [*tasks(0, 2), *tasks(3, 2), Job(1), Job(2)], [Job(2)], [2], is_tie=True),
            Case(name, "next after home", [*tasks(2, 2), Job(1), Job(3), Job(0)], [Job(2)], [3], is_tie=True),
        )
    )
]

# Nodes 0 to 2 are a cluster. File 0, 100 MB, lies on node 1: T is 0 there, 8 s on 0 and 2, 80 s on 3, the home. With
# file 1, 50 MB on node 0, T is 8, 4, 12 and 120 s.
CLUSTERS = [0, 0, 0, 1]
FILES = data_map(CLUSTERS, [100, 50], [[1], [0]], by_distance(CLUSTERS, 12.5, 1.25))


def by_data(
    *samples: tuple[float, float, float], free_mb: list[float] | None = None, files: tuple[int, ...] = (0,)
) -> int:
    view = view_of(3, samples, free_mb)
    view.data = FILES
    return create(PolicyChoice(name="data-class")).place(needs(*files, home=3), view).target


DATA_CLASS = [
    Worked("data-class", "least T, and idle", partial(by_data, IDLE, IDLE, IDLE, IDLE), 1),
    Worked("data-class", "idle and near", partial(by_data, NORMAL, LOW, IDLE, IDLE), 2),
    Worked("data-class", "idle and nearest", partial(by_data, IDLE, LOW, IDLE, IDLE, files=(0, 1)), 0),
    Worked("data-class", "home is idle, but not near", partial(by_data, NORMAL, LOW, NORMAL, IDLE), 1),
    Worked("data-class", "not from a normal node to a low one", partial(by_data, LOW, NORMAL, LOW, IDLE), 1),
    Worked("data-class", "from a high node to most free memory",
           partial(by_data, LOW, HIGH, LOW, IDLE, free_mb=[300.0, 0.0, 200.0, 400.0]), 0),
    # After node 1 come 2, 3, 0.
    Worked("data-class", "alike near: next after the file", partial(by_data, IDLE, LOW, IDLE, IDLE), 2, True),
    Worked("data-class", "as much free memory: next after the file",
           partial(by_data, LOW, HIGH, LOW, IDLE, free_mb=[200.0, 0.0, 200.0, 400.0]), 2, True),
]  # fmt: skip

CASES = [*WITHOUT_FILES, *DATA_CLASS]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_choice_worked_by_hand(case):
    case.check()

"""The columns by which WAL-PM's policies compare nodes, and what they make of them, worked by hand.

Three nodes; means 4 tasks, 80 MB and 2 accesses and faults a ms:

| | CPU queue | MB | I/O load | I/O rates |
|---|---|---|---|---|
| 0 | 2 | 50 | 0.5 | 0.9 |
| 1 | 3 | 120 | 1.5 | 0.2 |
| 2 | 7 | 70 | 4 | 3 |
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from cluster_abm import load
from cluster_abm.engine.fields import LOAD_FIELDS
from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Decision, Hardware, Paths, View, create
from cluster_abm.policy.capacities import capacities_of
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.scenario.schema import PolicyChoice

LIKE_ALL = Hardware(1.0, 480.0, 0.5, math.inf, False, 8.1, 8.0, 40.0, 160.0)
TASK = ArrivingTask(
    task=1, job=1, home=0, cpu_ms=600.0, io_per_ms=0.1, request_kb=100.0, memory_mb=20.0, initial_data_mb=0.0
)
LOADS = {
    "cpu_queue": [2.0, 3.0, 7.0], "memory_mb": [50.0, 120.0, 70.0], "io_load": [0.5, 1.5, 4.0],
    "io_per_ms": [0.9, 0.2, 3.0],
}  # fmt: skip
# Loads of CPU, paging and I/O [ms]: 600 + 30 + 370 = 1000; deviations from the means 200, 10 and 123.33 are 200, 40 and
# 253.33. LIF: 0.6 x 200, 0.03 x 40, 0.37 x 253.33.
IMBALANCED = {"cpu_ms": [100.0, 300.0, 200.0], "page_ms": [0.0, 30.0, 0.0], "io_ms": [60.0, 60.0, 250.0]}
LIF = (120.0, 1.2, 0.37 * 760 / 3)
WEIGHTS = {"cpu_weight": 0.2, "memory_weight": 0.3, "io_weight": 0.5}
# Each load over its mean.
RATIOS = ((0.5, 0.625, 0.25), (0.75, 1.5, 0.75), (1.75, 0.875, 2.0))


def seen(me=0, *, hardware=(LIKE_ALL,) * 3, tasks=0, refused=(), down=(), **loads):
    table = np.zeros(len(hardware), LOAD)
    for index, values in (LOADS | loads).items():
        table[index] = values
    rows = np.zeros(tasks, CANDIDATE)
    rows["cpu_ms"], rows["age_ms"], rows["io_per_ms"], rows["running"] = 500.0, 400.0, 0.01, True
    return View(
        me, table, tuple(hardware), Paths.alike(len(hardware), 128.0), 0.0, lambda task, draw: 0.5,
        capacities=capacities_of(hardware), tasks_of_mine=lambda: rows, refused=frozenset(refused) | frozenset(down),
        down=frozenset(down),
    )  # fmt: skip


def policy(name, **parameters):
    return create(PolicyChoice(name=name, **parameters))


# ---- columns ---------------------------------------------------------------------------------------------------------

# Policy, parameters, further loads; the index's name and its column.
COLUMNS = {
    "CPU queues": ("cpu-based", {}, {}, "cpu_queue", [2, 3, 7]),
    "memory demands": ("memory-based", {}, {}, "memory_mb", [50, 120, 70]),
    "I/O load": ("io-re", {}, {}, "io_load", [0.5, 1.5, 4]),
    "accesses alone": ("io-re", {"io_counts": "explicit"}, {}, "io_per_ms", [0.9, 0.2, 3]),
    # 0.4 + 15 + 0.25; 0.6 + 36 + 0.75; 1.4 + 21 + 2.
    "weighted": ("wal-re", WEIGHTS, {}, "weighted", [15.65, 37.35, 24.4]),
    # 0.1 + 0.1875 + 0.125; 0.15 + 0.45 + 0.375; 0.35 + 0.2625 + 1.
    "normalised": ("wal-re", WEIGHTS | {"normalised": True}, {}, "weighted", [0.4125, 0.975, 1.6125]),
    "normalised, no memory asked for": (
        "wal-re", WEIGHTS | {"normalised": True}, {"memory_mb": 0.0}, "weighted", [0.225, 0.525, 1.35]
    ),
    "weights by imbalance": (
        "wal-re", WEIGHTS | {"adaptive": True}, IMBALANCED, "weighted",
        [sum(weight * ratio for weight, ratio in zip(LIF, ratios, strict=True)) for ratios in RATIOS],
    ),
    # One resource alone is out of balance, by 400 x 300/600: its ratios, 200 times.
    "weights by paging alone": (
        "wal-re", WEIGHTS | {"adaptive": True}, {"cpu_ms": 100.0, "page_ms": [0.0, 0.0, 300.0]}, "weighted",
        [125, 300, 175],
    ),
    "weights by I/O alone": (
        "wal-re", WEIGHTS | {"adaptive": True}, {"cpu_ms": 100.0, "io_ms": [0.0, 0.0, 300.0]}, "weighted",
        [50, 150, 400],
    ),
    # No load at all in ms is no imbalance: the weights that were chosen, of normalised loads.
    "balanced": ("wal-re", WEIGHTS | {"adaptive": True}, {}, "weighted", [0.4125, 0.975, 1.6125]),
    # Page faults on any node, or on the own one, call for memory.
    "nobody pages": ("cm-re", {}, {"faults_per_ms": 0.0}, "cpu_queue", [2, 3, 7]),
    "another node pages": ("cm-re", {}, {"faults_per_ms": [0, 0, 0.01]}, "memory_mb", [50, 120, 70]),
    "another node pages, which does not matter": (
        "cm-re", {"paging_of": "own"}, {"faults_per_ms": [0, 0, 0.01]}, "cpu_queue", [2, 3, 7]
    ),
    "the own node pages": ("cm-re", {"paging_of": "own"}, {"faults_per_ms": [0.01, 0, 0]}, "memory_mb", [50, 120, 70]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", COLUMNS)
def test_the_column_by_which_nodes_are_compared(case):
    name, parameters, loads, index, column = COLUMNS[case]
    chosen, view = policy(name, **parameters), seen(**loads)
    assert chosen.load_name(view) == index
    assert chosen.column(view) == pytest.approx(column)
    assert chosen.column(view, TASK) == pytest.approx(column)
    assert [chosen.load_of(TASK, view, node) for node in range(3)] == pytest.approx(column)
    # Nodes that are alike are compared as they are, whatever comes.
    given = np.array([7.0, 8.0, 9.0])
    assert chosen.with_task(given, TASK, view) is given


def test_a_node_that_is_down_pages_no_more():
    loads = {"faults_per_ms": [0.0, 0.0, 0.01]}
    assert policy("cm-re").load_name(seen(**loads, down=[2])) == "cpu_queue"
    assert policy("cm-re").load_name(seen(**loads, down=[1])) == "memory_mb"


def test_the_weighted_column_on_unlike_nodes():
    """Speeds 1, 3 and 2: half, one and a half, and once the mean. With the task there 3/0.5, 4/1.5 and 8 tasks, 70, 140
    and 90 MB, and 0.6, 1.6 and 4.1 accesses and faults a ms."""
    chosen = policy("wal-re", **WEIGHTS, heterogeneous=True)
    view = seen(hardware=[LIKE_ALL._replace(speed=speed) for speed in (1.0, 3.0, 2.0)])
    with_task = pytest.approx([1.2 + 21 + 0.3, 0.8 / 1.5 + 42 + 0.8, 1.6 + 27 + 2.05])
    assert chosen.column(view) == pytest.approx([0.8 + 15 + 0.25, 0.4 + 36 + 0.75, 1.4 + 21 + 2])
    assert chosen.column(view, TASK) == with_task
    assert [chosen.load_of(TASK, view, node) for node in range(3)] == with_task
    assert chosen.with_task(chosen.column(view), TASK, view) == with_task


# ---- what is done with them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("me", "loads", "target", "reason"),
    [
        # The largest of all goes to the least; a tie counts as the largest; else home.
        (2, [2, 3, 7], 0, ""),
        (2, [2, 7, 7], 0, ""),
        (2, [2, 8, 7], 2, "home is not overloaded"),
        # The first of two after the own node is the least.
        (1, [3, 7, 3], 2, ""),
        (2, [3, 3, 7], 0, ""),
        # All alike: at home, the least.
        (1, [5, 5, 5], 1, ""),
    ],
)
def test_a_newcomer_leaves_home_if_that_is_the_most_loaded(me, loads, target, reason):
    found = policy("cm-re").place(TASK, seen(me, cpu_queue=loads))
    assert (found.target, found.reason) == (target, reason)
    if not reason:
        assert (found.rule, found.index) == ("least load", "cpu_queue")
        assert (found.load_here, found.load_there) == (loads[me], loads[target])


@pytest.mark.parametrize(("refused", "target"), [([], 0), ([0], 1), ([0, 1], 2), ([0, 1, 2], 2)])
def test_who_has_refused_is_not_the_least(refused, target):
    found = policy("cpu-based").place(TASK, seen(2, refused=refused))
    assert (found.target, found.load_here, found.load_there) == (target, 7.0, LOADS["cpu_queue"][target])


@pytest.mark.parametrize(
    ("index", "mine", "load_here", "refuses"),
    [
        ("cpu_queue", 3.0, 3.5, False),
        ("cpu_queue", 3.0, 3.0, True),
        ("cpu_queue", 3.0, 2.5, True),
        # An offer that compares nothing is taken.
        ("cpu_queue", 3.0, math.nan, False),
        # 0.5 x 3 + 0.5 x 1.5, the index that the policy makes itself.
        ("weighted", 3.0, 2.26, False),
        ("weighted", 3.0, 2.25, True),
    ],
)
def test_the_asked_node_takes_what_comes_from_a_more_loaded_one(index, mine, load_here, refuses):
    offer = Decision(1, "least load", index, load_here=load_here, load_there=0.0)
    answer = policy("wal-re").accept(TASK, offer, seen(1, cpu_queue=[0.0, mine, 9.0]))
    assert answer == ("not the lighter node any more" if refuses else "")


@pytest.mark.parametrize(("refused", "target", "there"), [([], 0, 15.65), ([0], 2, 24.4)])
def test_a_task_that_lost_its_node_goes_to_the_least(refused, target, there):
    found = policy("wal-re", **WEIGHTS).recover(TASK, seen(1, refused=refused))
    assert (found.target, found.rule, found.index) == (target, "recovery", "weighted")
    assert found.load_there == pytest.approx(there)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("me", "loads", "refused", "target"),
    [
        # Fig. 1, lines 2 and 3: home is the most loaded, and the least one is below the mean of all.
        (2, [2, 3, 7], [], 0),
        (2, [2, 7, 7], [], 0),
        (2, [2, 8, 7], [], None),
        # 6.5 is below the mean of 6.5, 7 and 9, which is 7.5; 9 is no less than the mean of 9s.
        (2, [6.5, 7, 9], [], 0),
        (2, [9, 9, 9], [], None),
        # The least has refused: the next one, if that is below the mean, 5.
        (2, [2, 4, 9], [0], 1),
        (2, [2, 5, 8], [0], None),
        (2, [2, 6, 7], [0], None),
        (2, [2, 3, 7], [0, 1], None),
    ],
)
def test_a_task_migrates_from_the_most_loaded_to_one_below_the_mean(me, loads, refused, target):
    """The one task there has 500 ms ahead, which pass the sooner the fewer tasks there are; nothing is paid."""
    view = seen(me, tasks=1, refused=refused, cpu_queue=loads, queue=loads)
    chosen = policy("cm-pm")
    # Line 1.
    at_home = chosen.place(TASK, view)
    assert (at_home.target, at_home.rule, at_home.reason) == (me, "line 1", "assigned to its home")
    found = chosen.migration(TASK, view)
    assert (found and found.target) == target
    if found:
        assert (found.load_here, found.load_there) == (loads[me], loads[target])


@pytest.mark.slow
def test_the_mean_is_that_of_the_nodes_that_are_up():
    """4, 9 and 5: with the idle node that is down the mean is 4.5, without it 6, and 5 is below that."""
    loads = [4.0, 9.0, 5.0, 0.0]
    view = seen(1, hardware=(LIKE_ALL,) * 4, tasks=1, refused=[0], down=[3], **dict.fromkeys(LOADS, 0.0))
    view.loads["cpu_queue"] = view.loads["queue"] = loads
    assert policy("cm-pm").migration(TASK, view).target == 2


# Remaining [ms], age [ms], lambda, whether it runs, initial data [MB]; all of 8 MB. Requests take 10.5 ms.
CROWD = [
    # It would gain 20 x (7 - 2.6) ms and a little, less than the 162.5 that it costs: it is not in EM.
    (20.0, 9000.0, 0.05, True, 0.0),
    (500.0, 400.0, 0.01, True, 0.0),
    (900.0, 300.0, 0.02, True, 0.0),
    # It has not entered yet: 50 ms, and 5 MB over 128 MB/s and two disks of 40 MB/s.
    (2000.0, 0.0, 0.03, False, 5.0),
]


@pytest.mark.parametrize(
    ("effectiveness", "task", "mce", "cost_ms"),
    [
        # 300 x 0.02 = 6 against 4 and 0 accesses; 60 over 339.0625 against 5 and 18 over 162.5; 400 ms against 300.
        ("age", 2, 6 / 162.5, 162.5),
        ("remaining", 3, 60 / 339.0625, 339.0625),
        ("cpu-age", 1, 400 / 162.5, 162.5),
    ],
)
def test_the_most_effective_of_those_that_gain(effectiveness, task, mce, cost_ms):
    """A migration costs 100 ms and 8 MB over 128 MB/s, 62.5 ms."""
    rows = np.zeros(len(CROWD), CANDIDATE)
    for number, (row, of_task) in enumerate(zip(rows, CROWD, strict=True)):
        row["task"], row["request_kb"], row["memory_mb"] = number, 100.0, 8.0
        row["cpu_ms"], row["age_ms"], row["io_per_ms"], row["running"], row["initial_data_mb"] = of_task
    view = seen(2, queue=[2.0, 3.0, 7.0], at_disk=[0.5, 0.0, 2.0])
    view.tasks_of_mine, view.remote_execution_ms, view.migration_ms = lambda: rows, 50.0, 100.0
    found = policy("cm-pm", effectiveness=effectiveness).migration(TASK, view)
    assert (found.target, found.task.task, found.rule) == (0, task, "lines 4-5")
    assert (found.mce, found.cost_ms) == pytest.approx((mce, cost_ms))
    remaining_ms, _, rate, *_ = CROWD[task]
    at_disk = rate * 10.5
    # E(L) = 7 here, of which it is part; 2 there and its own part. Others at the disk: 2 less its own; 0.5 there.
    here_ms = remaining_ms * (7 + at_disk * (1 + 2 - at_disk / (1 + at_disk)))
    there_ms = remaining_ms * (2 + 1 / (1 + at_disk) + at_disk * 1.5)
    assert (found.response_here_ms, found.response_there_ms) == pytest.approx((here_ms, there_ms))


# ---- names -----------------------------------------------------------------------------------------------------------


def test_each_index_is_a_name_with_its_unit():
    units = re.findall(r"^(\w+): .* \[(.+)\]$", load.__doc__, re.MULTILINE)
    assert units == [(name, unit) for name, _, unit, _ in LOAD_FIELDS]
    assert [getattr(load, name) for name, _ in units] == load.NAMES


@pytest.mark.parametrize(("name", "nearest"), [("cpu_quue", "cpu_queue"), ("newestms", "newest_ms")])
def test_an_unknown_name_is_refused_with_the_nearest(name, nearest):
    with pytest.raises(AttributeError, match=f"no load index '{name}'; did you mean '{nearest}'"):
        getattr(load, name)

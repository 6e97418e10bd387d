"""What each load index becomes on unlike nodes, worked by hand for three nodes that are unlike in everything.

| | speed | cores | memory for programs | seek, disk | a request of 100 KB | channels |
|---|---|---|---|---|---|---|
| 0 | 1 | 2 | 100 MB | 15 ms, 20 MB/s | 20 ms | 1 |
| 1 | 3 | 1 | 300 MB | 2.5 ms, 40 MB/s | 5 ms | 1 |
| 2 | 2 | 4 | 200 MB | 8 ms, 50 MB/s | 10 ms, 2 of them on the bus | 8: the bus has one each 2 ms |
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View
from cluster_abm.policy.capacities import CPU, DISK, MEMORY, capacities_of, comparable, comparable_table


def node(speed=1.0, cores=2, memory_mb=100.0, seek_ms=15.0, disk_mb_per_s=20.0, channels=1):
    plain = Hardware(speed, memory_mb, 0.5, math.inf, False, 8.1, seek_ms, disk_mb_per_s, 160.0)
    return plain._replace(cores=cores, disk_channels=channels)


NODES = (node(), node(3.0, 1, 300.0, 2.5, 40.0), node(2.0, 4, 200.0, 8.0, 50.0, 8))
# It reads 60 times in 600 ms at speed 1: 1200, 300 and 120 ms of the disks; 300, 200 and 75 ms a core.
TASK = ArrivingTask(
    task=1, job=1, home=0, cpu_ms=600.0, io_per_ms=0.1, request_kb=256.0, memory_mb=20.0, initial_data_mb=0.0
)
LOADS = (4.0, 6.0, 9.0)
AS_IT_IS = (LOADS, LOADS)
# Of two, one and four cores: 4/2, 6 and 9/4 tasks each; at 1/2, 3/2 and 1 of the mean speed.
PER_CORE = (4.0, 4.0, 2.25)
# On the mean disk, of (1/20 + 1/5 + 1/10)/3 requests a ms, one takes 60/7 ms; at the mean speed 2 the task makes 0.2 a
# ms, and is at the CPU for 1/(1 + 12/7) = 7/19 of its time.
QUEUE = ((4 + 7 / 19) / 2 / 0.5, (6 + 7 / 19) / 1.5, (9 + 7 / 19) / 4)
# The disks serve 1/20, 1/5 and 1/2 requests a ms, 1/4 in the mean.
DISKS = np.array([0.2, 0.8, 2.0])
OF_DISKS = tuple(np.array(LOADS) / DISKS)

# Of loads of 4, 6 and 9: as nodes are compared as they are, and with the task on each.
COMPARED = {
    # 5/2 and 7 and 10/4 tasks a core.
    "tasks": (PER_CORE, (5.0, 14 / 3, 2.5)),
    "cpu_queue": (PER_CORE, (5.0, 14 / 3, 2.5)),
    "effective_tasks": (PER_CORE, (5.0, 14 / 3, 2.5)),
    "queue": (PER_CORE, QUEUE),
    "queue_paging": (PER_CORE, QUEUE),
    # A mean of the last seconds, per core: the task is not in it.
    "mean_queue": ((8.0, 4.0, 9.0), (8.0, 4.0, 9.0)),
    "memory_mb": ((8.0, 4.0, 9.0), (48.0, 26 / 1.5, 29.0)),
    "io_per_ms": (OF_DISKS, tuple((np.array(LOADS) + 0.1) / DISKS)),
    "io_load": (OF_DISKS, tuple((np.array(LOADS) + 0.1) / DISKS)),
    "at_disk": (OF_DISKS, tuple((np.array(LOADS) + 12 / 19) / DISKS)),
    "cpu_ms": (LOADS, (304.0, 206.0, 84.0)),
    "io_ms": (LOADS, (1204.0, 306.0, 129.0)),
    "page_ms": AS_IT_IS, "faults_per_ms": AS_IT_IS, "disk_work": AS_IT_IS, "disk_square": AS_IT_IS,
    "stream": AS_IT_IS, "accesses": AS_IT_IS, "oversize": AS_IT_IS, "oversize_here": AS_IT_IS, "free_mb": AS_IT_IS,
    "cache_mb": AS_IT_IS, "newest_ms": AS_IT_IS, "virtual_free_mb": AS_IT_IS, "cpu_percent": AS_IT_IS,
    "memory_percent": AS_IT_IS, "net_ms": AS_IT_IS, "disk_delay_share": AS_IT_IS, "net_delay_share": AS_IT_IS,
}  # fmt: skip


def table(loads=LOADS):
    found = np.zeros(len(loads), LOAD)
    for name in LOAD.names:
        found[name] = loads
    return found


def test_each_index_has_its_row():
    assert COMPARED.keys() == set(LOAD.names)


@pytest.mark.parametrize("index", COMPARED)
def test_each_index_on_unlike_nodes(index):
    as_they_are, with_task = COMPARED[index]
    capacities = capacities_of(NODES)
    assert comparable(table(), index, capacities) == pytest.approx(as_they_are)
    assert comparable(table(), index, capacities, TASK) == pytest.approx(with_task)
    view = View(0, table(), NODES, Paths.alike(3, 128.0), 0.0, lambda task, draw: 0.5, capacities=capacities)
    assert view.comparable()[index] == pytest.approx(as_they_are)
    assert view.comparable(TASK)[index] == pytest.approx(with_task)
    # On nodes that are alike a load is what it is.
    assert comparable(table(), index, None, TASK).tolist() == list(LOADS)
    assert comparable_table(table(), None, TASK)[index].tolist() == list(LOADS)
    assert view.loads[index].tolist() == list(LOADS)


@pytest.mark.parametrize(
    ("loads", "as_they_are", "with_task"),
    [
        # None; less than a task; as many as cores. One task has a core for itself: 1/speed.
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (2.0, 2 / 3, 1.0)),
        ((0.5, 0.5, 0.5), (1.0, 1 / 3, 0.5), (2.0, 1.0, 1.0)),
        ((2.0, 1.0, 4.0), (2.0, 2 / 3, 1.0), (3.0, 4 / 3, 1.25)),
        ((1.0, 1.0, 3.0), (2.0, 2 / 3, 1.0), (2.0, 4 / 3, 1.0)),
    ],
)
def test_tasks_up_to_the_number_of_cores_have_one_each(loads, as_they_are, with_task):
    capacities = capacities_of(NODES)
    assert comparable(table(loads), "tasks", capacities) == pytest.approx(as_they_are)
    assert comparable(table(loads), "tasks", capacities, TASK) == pytest.approx(with_task)


def test_capacities_of_three_nodes():
    found = capacities_of(NODES)
    assert found.speed == pytest.approx([0.5, 1.5, 1.0])
    assert found.cores.tolist() == [2.0, 1.0, 4.0]
    assert found.of(CPU) == pytest.approx([1.0, 1.5, 4.0])
    assert found.of(MEMORY) == pytest.approx([0.5, 1.5, 1.0])
    assert found.of(DISK) == pytest.approx(DISKS)
    # 2, 3 and 8 cores of speed 1, of 13/3 in the mean.
    assert found.turns == pytest.approx([6 / 13, 9 / 13, 24 / 13])
    assert (found.mean_speed, found.mean_request_ms) == pytest.approx((2.0, 60 / 7))
    assert found.mean_work_ms == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        ({}, True),
        # 17.5 + 2.5 ms are 20 as well.
        ({"seek_ms": 17.5, "disk_mb_per_s": 40.0}, True),
        ({"speed": 2.0}, False),
        ({"cores": 3}, False),
        ({"memory_mb": 120.0}, False),
        ({"seek_ms": 17.5}, False),
        ({"disk_mb_per_s": 40.0}, False),
        ({"channels": 2}, False),
        # As fast a CPU in all, but other cores.
        ({"speed": 2.0, "cores": 1}, False),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_nodes_are_alike_if_nothing_that_serves_differs(other, alike, order):
    assert (capacities_of([node(), node(**other)][::order]) is None) == alike

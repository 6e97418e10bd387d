"""Jobs of closed users, homes, times alone and times in whole nanoseconds, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support import scenario
from trace_files import scenario_of

from cluster_abm.engine.tables import JOB, NEVER, NONE
from cluster_abm.errors import InputError
from cluster_abm.workload import work_of
from cluster_abm.workload.homes import home_weights, homes_of
from cluster_abm.workload.requests import alone_ms, cpu_and_io_ms
from cluster_abm.workload.times import LONGEST_MS, check_longest, whole_ns
from cluster_abm.workload.users import are_closed, plan_thinking, users_columns

CLOSED = {
    "workload__arrivals__kind": "closed", "workload__arrivals__users_per_node": 2,
    "workload__arrivals__jobs_per_user": 3, "workload__arrivals__first_gap_s": 0.5,
    "workload__arrivals__think_s": {"kind": "fixed", "mean": 2.0},
}  # fmt: skip


@pytest.mark.parametrize(("nodes", "homes"), [
    # Two users per node, in turn at nodes 3 and 1. Without a list all four nodes have users.
    ([3, 1], [3, 1, 3, 1]), ([], [0, 1, 2, 3, 0, 1, 2, 3]),
])  # fmt: skip
def test_users_are_at_the_nodes_in_turn(nodes, homes):
    setup = scenario(**CLOSED, workload__arrivals__user_nodes=nodes)
    first_ms, columns = users_columns(setup)
    # A user has three jobs. Users begin 0.5 s after each other.
    assert columns["home"].tolist() == [home for home in homes for _ in range(3)]
    assert first_ms.tolist() == [500.0 * user for user in range(len(homes)) for _ in range(3)]


def test_only_the_first_job_of_a_user_has_an_arrival():
    jobs = np.zeros(6, JOB)
    jobs["arrival_ns"] = 7
    # Each user thinks twice, for 2 s.
    assert plan_thinking(jobs, scenario(**CLOSED), 1) == 4000.0
    assert jobs["think_ns"].tolist() == [0, 2_000_000_000, 2_000_000_000] * 2
    assert jobs["arrival_ns"].tolist() == [7, NEVER, NEVER] * 2


def test_the_longest_thinking_of_a_user_is_returned():
    setup = scenario(**CLOSED | {"workload__arrivals__think_s": {"kind": "exponential", "mean": 2.0}})
    jobs = np.zeros(24, JOB)
    most_ms = plan_thinking(jobs, setup, 1)
    of_users = [sum(jobs["think_ns"][user : user + 3].tolist()) / 1e6 for user in range(0, 24, 3)]
    assert most_ms == pytest.approx(max(of_users))
    assert len(set(of_users)) == 8


def test_closed_users_are_closed_and_others_are_not():
    assert are_closed(scenario(**CLOSED))
    assert not are_closed(scenario())
    work = work_of(scenario(**CLOSED), 1)
    assert work.jobs["arrival_ns"].tolist() == [
        500_000_000 * (row // 3) if row % 3 == 0 else NEVER for row in range(24)
    ]


@pytest.mark.parametrize(("home", "weights"), [
    ({"kind": "uniform"}, [1, 1, 1, 1]), ({"kind": "skewed", "skew": 2.0}, [1, 1 / 4, 1 / 9, 1 / 16]),
    ({"kind": "weights", "weights": [0.0, 3.0]}, [0, 3]),
])  # fmt: skip
def test_the_weights_of_homes(home, weights):
    setup = scenario(workload__home=home)
    assert home_weights(setup).tolist() == pytest.approx(weights)
    found = homes_of(setup, np.zeros(0, JOB))
    assert found.tolist() == [node < len(weights) and weights[node] > 0 for node in range(4)]


@pytest.mark.parametrize(("homes", "found"), [
    ("file", [True, False, True, False]), ("drawn", [False, True, False, False]),
])  # fmt: skip
def test_the_homes_of_a_trace_are_those_that_occur_unless_they_are_drawn(tmp_path, homes, found):
    rows = "arrival_ms,home,cpu_ms\n0,2,1\n1,0,1\n2,2,1\n"
    setup = scenario_of(tmp_path, rows, {"homes": homes}, workload__home={"kind": "weights", "weights": [0.0, 1.0]})
    jobs = work_of(setup, 1).jobs
    assert homes_of(setup, jobs).tolist() == found
    assert {*jobs["home"].tolist()} == {node for node in range(4) if found[node]}


def job(**values):
    """A job of 100 ms with an access of 80 KB each 10 ms; it runs no program."""
    jobs = np.zeros(1, JOB)
    for name, value in ({"cpu_ms": 100.0, "io_per_ms": 0.1, "request_kb": 80.0, "tasks": 1, "program": NONE}
                        | values).items():  # fmt: skip
        jobs[name] = value
    return jobs


PLAIN = {"cluster__context_switch_ms": 1.0, "cluster__disk_seek_rotation_ms": 8.0, "cluster__disk_mb_per_s": 40.0}
SLOW = {"count": 1, "cpu_speed": 0.5, "disk_mb_per_s": 20.0, "disk_seek_rotation_ms": 9.0, "context_switch_ms": 3.0}
FAST = {"count": 1, "cpu_speed": 2.0, "disk_mb_per_s": 80.0, "disk_seek_rotation_ms": 2.0, "context_switch_ms": 0.5}


@pytest.mark.parametrize(("groups", "cpu_and_io", "switch"), [
    # 100 ms of CPU and ten accesses of 8 + 2 ms.
    ([], 200.0, 1.0),
    # At half of the speed 200 ms of CPU, and ten accesses of 9 + 4 ms.
    ([SLOW], 330.0, 3.0),
    # Faster nodes beside slow ones change nothing.
    ([FAST], 200.0, 1.0), ([FAST, SLOW], 330.0, 3.0),
    # All nodes are of the fast group: 50 ms of CPU, and ten accesses of 2 + 1 ms.
    ([FAST | {"count": 4}], 80.0, 0.5),
])  # fmt: skip
def test_the_time_alone_is_of_the_slowest_node(groups, cpu_and_io, switch):
    setup = scenario(**PLAIN, cluster__group=groups)
    assert cpu_and_io_ms(job(), setup.cluster).tolist() == pytest.approx([cpu_and_io])
    assert alone_ms(job(), setup).tolist() == pytest.approx([cpu_and_io + switch])


@pytest.mark.parametrize(("barrier_ms", "tasks", "barriers"), [
    # A barrier ends each whole interval within 100 ms of CPU; a single task has no barriers.
    (30.0, 2, 3), (50.0, 2, 2), (100.0, 2, 1), (101.0, 2, 0), (0.0, 2, 0), (30.0, 1, 0),
])  # fmt: skip
def test_barriers_of_a_job_with_several_tasks(barrier_ms, tasks, barriers):
    setup = scenario(**PLAIN)
    found = alone_ms(job(barrier_ms=barrier_ms, tasks=tasks, communication_ns=5_000_000), setup)
    assert found.tolist() == pytest.approx([201.0 + 5.0 * barriers])


def test_times_are_the_nearest_whole_nanoseconds():
    times_ms = np.array([0.0, 4e-7, 5e-7, 1.0, 1.0000014, 1.0000016, LONGEST_MS])
    assert whole_ns(times_ms, "x").tolist() == [0, 0, 1, 1_000_000, 1_000_001, 1_000_002, 4_600_000_000_000_000_000]
    check_longest(np.zeros(0), "x")
    for wrong in (LONGEST_MS * 1.001, np.inf, np.nan):
        with pytest.raises(InputError, match=r"^the last reaches .*146 years"):
            whole_ns(np.array([0.0, wrong]), "the last")

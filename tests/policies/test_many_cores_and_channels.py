"""Policies on nodes with several cores and disk channels: loads, comparisons and estimates worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import finished, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, create
from cluster_abm.policy.capacities import capacities_of
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.scenario.schema import PolicyChoice


def node(cores=1, channels=1, speed=1.0, **more):
    """8 ms of seek, 40 MB/s, 100 MB for programs; a page fault takes 8 + 0.1 ms."""
    plain = Hardware(speed, 100.0, 0.5, math.inf, False, 8.1, 8.0, 40.0, 160.0)
    return plain._replace(cores=cores, disk_channels=channels, fault_transfer_ms=0.1, **more)


# 1000 ms of CPU, in each ms 0.05 requests of 80 KB: 8 + 2 ms.
TASK = ArrivingTask(
    task=1, job=1, home=0, cpu_ms=1000.0, io_per_ms=0.05, request_kb=80.0, memory_mb=20.0, initial_data_mb=0.0
)


def seen(hardware, loads, *, heterogeneous=False, tasks=(), migration_ms=0.0):
    """The view of node 0's load manager."""
    table = np.zeros(len(hardware), LOAD)
    for index, values in loads.items():
        table[index] = values
    rows = np.zeros(len(tasks), CANDIDATE)
    for row, task in zip(rows, tasks, strict=True):
        for field, value in task.items():
            row[field] = value
    return View(
        0, table, tuple(hardware), Paths.alike(len(hardware), 128.0), 0.0, lambda task, draw: 0.5,
        capacities=capacities_of(hardware) if heterogeneous else None, tasks_of_mine=lambda: rows,
        migration_ms=migration_ms,
    )  # fmt: skip


def policy(name, **parameters):
    return create(PolicyChoice(name=name, **parameters))


# ---- hbd ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cores", "queues", "gain"),
    [
        # One core: n - m as it is.
        (1, (6, 2), 4.0),
        # Four: 6/4 here, and there at least 1 - 1/4.
        (4, (6, 2), 0.75),
        (4, (12, 6), 1.5),
        (2, (5, 4), 0.5),
        # A core for each here: 1 against 3/4, read as literally as from a queue of 2 to one of 1.
        (4, (4, 0), 0.25),
    ],
)
def test_hbd_moves_what_is_old_enough_for_the_cost_per_core(cores, queues, gain):
    """Cost 100 ms: a process that is 100/gain ms old, and a little, goes; one that is a little younger stays."""
    for age_ms, moves in ((100.5 / gain, True), (99.5 / gain, False)):
        old = {"task": 7, "age_ms": age_ms, "cpu_ms": 50.0, "running": True}
        view = seen([node(cores)] * 2, {"cpu_queue": queues}, tasks=[old], migration_ms=100.0)
        found = policy("hbd").migration(TASK, view)
        assert (found is not None) == moves
        if found is not None:
            assert found.target == 1
            assert found.load_here - found.load_there == pytest.approx(gain)


def test_hbd_sees_no_gain_where_cores_are_as_full():
    """Six tasks on four cores here and there, and five there: 1.5 against 1.5 and 1.25."""
    old = {"task": 7, "age_ms": 1e9, "cpu_ms": 50.0, "running": True}
    for queue, moves in ((6, False), (5, True)):
        view = seen([node(4)] * 2, {"cpu_queue": [6, queue]}, tasks=[old], migration_ms=100.0)
        assert (policy("hbd").migration(TASK, view) is not None) == moves


def test_hbd_counts_cores_and_speed_of_unlike_nodes():
    """Both with one task more, as unlike nodes are compared: (3 + 1)/1 here, (5 + 1)/4 there, 2.5 ms per ms of age."""
    nodes = [node(1), node(4)]
    for age_ms, moves in ((41.0, True), (39.0, False)):
        old = {"task": 7, "age_ms": age_ms, "cpu_ms": 50.0, "running": True}
        view = seen(nodes, {"cpu_queue": [3, 5]}, heterogeneous=True, tasks=[old], migration_ms=100.0)
        found = policy("hbd").migration(TASK, view)
        assert (found is not None) == moves
        if found is not None:
            assert (found.load_here, found.load_there) == (4.0, 1.5)


# ---- where a newcomer goes ---------------------------------------------------------------------------------------

ONE, FOUR = node(1), node(4)
CASES = [
    # Policy, nodes, loads; target of the plain form and of the heterogeneous one, SED: max(1, (n + 1)/c)/speed.
    # 2/1 against 4/4.
    ("jsq", [ONE, FOUR], {"tasks": [1, 3]}, 0, 1),
    # 1 against 1: home. With one task more there 5/4.
    ("jsq", [ONE, FOUR], {"tasks": [0, 3]}, 0, 0),
    ("jsq", [ONE, FOUR], {"tasks": [0, 4]}, 0, 0),
    # 4 cores at home, 6/4 against 2/1; and against 1.
    ("jsq", [FOUR, ONE], {"tasks": [5, 1]}, 1, 0),
    ("jsq", [FOUR, ONE], {"tasks": [5, 0]}, 1, 1),
    # One core at speed 3, four at speed 1: 3/3 against 1/1, 4/3 against 1/1.
    ("jsq", [node(1, speed=3.0), FOUR], {"tasks": [2, 3]}, 0, 0),
    ("jsq", [node(1, speed=3.0), FOUR], {"tasks": [3, 3]}, 0, 1),
    # Like nodes of several cores: by numbers of tasks, though each would find a free core.
    ("jsq", [FOUR, FOUR], {"tasks": [2, 1]}, 1, 1),
    ("cpu-based", [ONE, FOUR], {"cpu_queue": [1, 3]}, 0, 1),
    ("cpu-based", [ONE, FOUR], {"cpu_queue": [0, 4]}, 0, 0),
    ("power-of-d", [ONE, FOUR], {"tasks": [1, 3]}, 0, 1),
    # Accesses per disk: a mean request of 100 KB, 8 + 2.5 ms, four at once against one: 0.35/1 against 0.85/4 in
    # units of one such disk.
    ("io-re", [node(channels=1), node(channels=4)], {"io_load": [0.3, 0.8]}, 0, 1),
    # As many channels as you like do not make the bus faster: 10.5/2.5 = 4.2 disks of one channel.
    ("io-re", [node(channels=1), node(channels=1024)], {"io_load": [0.3, 1.41]}, 0, 1),
    ("io-re", [node(channels=1), node(channels=1024)], {"io_load": [0.3, 1.43]}, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "hardware", "loads", "plain", "relative"), CASES)
def test_where_a_newcomer_goes_by_cores_and_channels(name, hardware, loads, plain, relative):
    for heterogeneous, expected in ((False, plain), (True, relative)):
        view = seen(hardware, loads, heterogeneous=heterogeneous)
        assert policy(name, heterogeneous=heterogeneous).place(TASK, view).target == expected


def test_random_draws_nodes_by_all_their_cores():
    """One core, four, and one at speed 3: shares 1, 4 and 3 of 8."""
    view = seen([ONE, FOUR, node(1, speed=3.0)], {}, heterogeneous=True)
    drawn = [view.drawn((number + 0.5) / 800, range(3)) for number in range(800)]
    assert np.bincount(drawn).tolist() == [100, 400, 300]


def test_round_robin_gives_turns_by_all_cores():
    view = seen([ONE, FOUR, node(1, speed=3.0)], {}, heterogeneous=True)
    dealing = policy("round-robin", heterogeneous=True)
    assert np.bincount([dealing.place(TASK, view).target for _ in range(16)]).tolist() == [2, 8, 6]


# ---- what clb, mlb and iolb count --------------------------------------------------------------------------------


def test_what_a_task_adds_is_per_core_and_by_channels_or_bus():
    """1000 ms, on four cores 250 each. 50 requests of 8 + 2 ms, on two channels 50 * 10/2, on eight 50 * 2 of bus."""
    iolb = policy("iolb")
    for cores, channels, cpu_ms, io_ms in ((1, 1, 1000, 500), (4, 2, 250, 250), (8, 8, 125, 100)):
        view = seen([node(cores, channels)], {})
        assert iolb.task_load(TASK, view, "cpu_ms", 0) == pytest.approx(cpu_ms)
        assert iolb.task_load(TASK, view, "io_ms", 0) == pytest.approx(io_ms)
    # At speed 2 half the CPU, and as many requests.
    view = seen([node(4, 2, speed=2.0)], {})
    assert iolb.task_load(TASK, view, "cpu_ms", 0) == pytest.approx(125)
    assert iolb.task_load(TASK, view, "io_ms", 0) == pytest.approx(250)


def test_page_faults_that_a_task_adds_are_by_channels_or_bus():
    """130 + 20 MB where 100 fit: 0.5 * 1.5 faults per ms, 750 of 8.1 ms; on four channels 750 * 2.025; on 100, where
    the bus takes 0.1 ms for each, 75."""
    for channels, page_ms in ((1, 6075), (4, 1518.75), (100, 75)):
        view = seen([node(2, channels)], {"memory_mb": [130.0]})
        assert policy("iolb").task_load(TASK, view, "page_ms", 0) == pytest.approx(page_ms)


def test_clb_sends_what_narrows_the_gap_per_core():
    """Loads of 400 and 100 ms a core: the task adds 1000 to the one core, but 250 to each of four; 300 are between."""
    loads = {"cpu_ms": [400.0, 100.0], "queue_paging": [8.0, 1.0]}
    for cores, target, reason in ((1, 0, "the gap in load would not narrow"), (4, 1, "")):
        found = policy("clb").place(TASK, seen([node(cores)] * 2, loads))
        assert (found.target, found.reason) == (target, reason)
        assert found.task_load == pytest.approx(1000 / cores)
        # 1000 * 9 on one core, 1000 * 9/4 on four; there 2 on one core, a core of its own among four.
        assert found.response_here_ms == pytest.approx(9000 / cores)
        assert found.response_there_ms == (2000 if cores == 1 else 1000)


def test_clb_leaves_at_home_what_has_a_core_of_its_own_there():
    """Seven others on eight cores: 1000 ms here and there."""
    found = policy("clb").place(TASK, seen([node(8)] * 2, {"cpu_ms": [900.0, 0.0], "queue_paging": [7.0, 0.0]}))
    assert (found.target, found.reason) == (0, "no gain in response")
    assert found.response_here_ms == found.response_there_ms == 1000


def test_iolb_balances_disks_by_what_keeps_their_channels_or_bus():
    """The disks hold 700 and 300 ms: the task adds 500 on one channel, 250 on two, 100 of bus on eight.

    Three others at the disk at home, none there: 50 requests of 8 + 2 ms. On one channel 500 * 4; on two channels 500 *
    4/2; on eight 400 + 100 * 4.
    """
    loads = {"io_ms": [700.0, 300.0], "at_disk": [3.0, 0.0], "queue": [1.0, 1.0]}
    for channels, target, at_disk_ms in ((1, 0, 2000), (2, 1, 1000), (8, 1, 800)):
        found = policy("iolb").place(TASK, seen([node(4, channels)] * 2, loads))
        assert found.rule == "lines 4-8 (I/O)"
        assert found.target == target
        assert found.response_here_ms == pytest.approx(1000 + at_disk_ms)
        assert found.response_there_ms == pytest.approx(1500)


# ---- estimates ---------------------------------------------------------------------------------------------------

# On a CPU of speed 1 the task is there for 1/(1 + 0.05 * 10) = 2/3 of its time: with it E(L) is 4.
OTHERS = {"queue": 10 / 3, "cpu_queue": 5.0, "at_disk": 0.5, "memory_mb": 30.0}


def estimate(estimator, on, loads, is_there=False, task=TASK):
    return policy("wal-pm", estimator=estimator).response_at_ms(task, seen([on], loads), 0, is_there)


@pytest.mark.parametrize(
    ("cores", "channels", "response_ms"),
    [
        # 4 to a core: 4000; 50 requests of 10 ms beside half a task: 500 * 1.5.
        (1, 1, 4000 + 750),
        (2, 1, 2000 + 750),
        # By the bus: 400 + 100 * 1.5.
        (2, 4, 2000 + 550),
        (8, 4, 1000 + 550),
    ],
)
def test_closed_estimates_by_cores_and_channels(cores, channels, response_ms):
    assert estimate("closed", node(cores, channels), OTHERS) == pytest.approx(response_ms)


def test_closed_estimates_of_a_task_that_is_there():
    """E(L) 4 and 0.5 + 1/3 at the disk include it."""
    loads = OTHERS | {"queue": 4.0, "at_disk": 0.5 + 1 / 3}
    assert estimate("closed", node(2, 4), loads, is_there=True) == pytest.approx(2550)


def test_estimates_by_cpu_and_memory_count_cores_and_channels():
    """Six at the CPU, three to a core. 150 MB where 100 fit: 750 page faults, alone at the disk, 8.1 ms each."""
    assert estimate("cpu-memory", node(2, 4), OTHERS) == pytest.approx(3000)
    assert estimate("cpu-memory", node(2, 4), OTHERS | {"memory_mb": 130.0}) == pytest.approx(3000 + 6075)


def test_closed_estimates_with_page_faults_by_cores_and_channels():
    """750 faults besides: 6575 ms of requests with 175 of transfers, half a task besides: 6400 + 262.5. Blind to paging
    as if there were none."""
    loads = OTHERS | {"memory_mb": 130.0}
    assert estimate("closed", node(2, 4), loads) == pytest.approx(2000 + 6662.5)
    assert estimate("closed-without-paging", node(2, 4), loads) == pytest.approx(2000 + 550)


def disk_of(rate_per_ms):
    """The node's other tasks: requests of 10 ms, so many per ms of their CPU."""
    return OTHERS | {"io_per_ms": rate_per_ms, "disk_work": 10 * rate_per_ms, "disk_square": 100 * rate_per_ms}


def test_mg1_estimates_by_cores_on_one_channel():
    """0.05 requests per ms beside its own 0.05; two tasks to a core, so 0.05 per ms: rho 0.5, a wait of 0.05 * 100/(2 *
    0.5). On one core, four to it: 0.025, rho 0.25, 0.025 * 100/(2 * 0.75)."""
    assert estimate("mg1", node(2), disk_of(0.05)) == pytest.approx(2000 + 50 * (10 + 5))
    assert estimate("mg1", node(1), disk_of(0.05)) == pytest.approx(4000 + 50 * (10 + 5 / 3))


def test_mg1_estimates_by_cores_and_channels():
    """0.35 + 0.05 requests per ms, two tasks to a core: 0.2. Four channels: rho 0.5, 4/23 * 10/(4 * 0.5)/2 = 10/23; the
    bus: rho 0.4, 0.2 * 4/(2 * 0.6) = 2/3."""
    assert estimate("mg1", node(2, 4), disk_of(0.35)) == pytest.approx(2000 + 50 * (10 + 2 / 3))
    # Of requests of 8 ms and hardly any transfer: 0.25 per ms more, so that rho is the same, 4/23 * 8/(4 * 0.5)/2.
    silent = ArrivingTask(1, 1, 0, 1000.0, 0.05, 0.0, 20.0, 0.0)
    loads = {"queue": 4 - 1 / 1.4, "io_per_ms": 0.45, "disk_work": 3.6, "disk_square": 28.8}
    assert estimate("mg1", node(2, 4), loads, task=silent) == pytest.approx(2000 + 50 * (8 + 8 / 23))


def test_mg1_estimates_on_a_fast_node():
    """At speed 2 it has 500 ms left and 0.1 requests per ms: at the CPU for 1/2 of its time. Of the others 0.15 per ms
    at speed 1: together 0.4, at two to a core 0.2, as above."""
    loads = {"queue": 3.5, "io_per_ms": 0.15, "disk_work": 3.0, "disk_square": 30.0}
    assert estimate("mg1", node(2, 4, speed=2.0), loads) == pytest.approx(1000 + 50 * (10 + 2 / 3))


# ---- what nodes report -------------------------------------------------------------------------------------------

KEYS = {
    "cluster__nodes": 1, "cluster__context_switch_ms": 0.0, "cluster__buffer_mb": 0.0,
    "cluster__disk_seek_rotation_ms": 8.0, "cluster__disk_mb_per_s": 40.0, "workload__kind": "trace",
    "workload__request_kb__kind": "fixed", "workload__request_kb__mean": 80.0, "negotiation__mode": "papers",
}  # fmt: skip


def of_trace(tmp_path, rows, **keys):
    """Jobs (CPU [ms], accesses per ms), all at time 0 on node 0, 1 MB each."""
    path = tmp_path / "jobs.csv"
    lines = [f"0,0,{cpu_ms},{io_per_ms},1,80" for cpu_ms, io_per_ms in rows]
    path.write_text("\n".join(["arrival_ms,home,cpu_ms,io_per_ms,memory_mb,request_kb", *lines]) + "\n")
    return KEYS | {"workload__trace__file": str(path)} | keys


@pytest.mark.parametrize(("cores", "given_ms"), [(1, 10.0), (2, 20.0), (4, 30.0), (8, 30.0)])
def test_reported_work_ahead_of_the_cpu_is_per_core(tmp_path, cores, given_ms):
    """Three jobs of 1000 ms: in 10 ms each core that has one gives 10 ms; what is left is divided by all cores."""
    model = ClusterModel(scenario(**of_trace(tmp_path, [(1000, 0)] * 3, cluster__cores=cores)), seed=1)
    model.step()
    loads = model.true_loads(0)
    assert float(loads["cpu_ms"]) == pytest.approx((3000 - given_ms) / cores)
    # Numbers of tasks stay numbers of tasks.
    assert (float(loads["tasks"]), float(loads["cpu_queue"]), float(loads["queue"])) == (3, 3, 3)


@pytest.mark.parametrize(("channels", "work_ms"), [(1, 10.0), (2, 5.0), (4, 2.5), (8, 2.0), (64, 2.0)])
def test_reported_work_ahead_of_the_disk_is_what_channels_or_bus_have_to_do(tmp_path, channels, work_ms):
    """50 + 40 accesses ahead; each counts as 10 ms over the channels, or as the 2 of its transfer."""
    given = of_trace(tmp_path, [(1000, 0.05), (4000, 0.01)], cluster__cores=2, cluster__disk_channels=channels)
    model = ClusterModel(scenario(**given), seed=1)
    model.step()
    counted = float(model.true_loads(0)["io_ms"])
    # Of either task's CPU a slice at most has gone since: 0.5 + 0.1 accesses.
    assert 89.4 - 1e-6 <= counted / work_ms <= 90


@pytest.mark.parametrize(("cores", "crowded"), [(1, True), (4, False)])
def test_load_class_has_thresholds_per_core(cores, crowded):
    """Six tasks: above high_queue = 4 on one core, 1.5 a core on four."""
    loads = {"cpu_percent": [100.0], "mean_queue": [6 / cores], "memory_percent": [10.0]}
    judged = policy("load-class")
    assert judged.in_trouble(seen([node(cores)], loads).comparable()).tolist() == [crowded]


# ---- the bound ---------------------------------------------------------------------------------------------------


def test_ideal_pools_all_cores(tmp_path):
    """Two nodes of four cores: eight jobs of 100 ms have a core each, wherever they came from; twelve share eight."""
    pooled = {"cluster__nodes": 2, "cluster__cores": 4, "policy__name": "pooled"}
    for jobs, finish_ms in ((8, 100.0), (12, 150.0)):
        model = finished(1, **of_trace(tmp_path, [(100, 0)] * jobs, **pooled))
        assert model.jobs_frame()["finish_ms"].to_numpy() == pytest.approx([finish_ms] * jobs, abs=1e-4)

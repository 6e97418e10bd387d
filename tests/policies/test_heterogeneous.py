"""The heterogeneous form of every policy: like nodes see no change; on unlike ones the numbers are worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import busy, finished, mostly_slow, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, available, create
from cluster_abm.policy.capacities import AS_MEASURED, capacities_of, own_time_of, served_by
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.policy.waiting import no_cores
from cluster_abm.scenario.schema import PolicyChoice

NAMES = sorted(available())
# These compare no nodes: at home, or one station of all of them; or shares of what each node has, in either form.
BY_SHARES = {"tetris", "disk-io-score", "target-load", "load-risk"}
# The features of `learned` are per core, per MB and in the node's own time whatever `heterogeneous` says.
# Managers that talk count slots, tasks, work or latencies of nodes; size classes go by the nodes' speed in any case.
# Those that bid compare loads of nodes, as the papers' policies do.
ONE_FORM = {name for name, policy in available().items() if policy.talks} - {"contract-net"} | {"sita-e"}
NOTHING_TO_COMPARE = {"none", "no-ls", "no-ls-blocking", "pooled", "learned"} | BY_SHARES | ONE_FORM
UNLIKE = {
    "cluster__group": [
        {"count": 1, "cpu_speed": 3.0, "memory_mb": 45.0, "disk_mb_per_s": 80.0, "disk_seek_rotation_ms": 4.0},
        {"count": 2, "cpu_speed": 0.7, "memory_mb": 20.0},
    ],
    # So few that machines of the memory-centric policies are crowded now and then.
    "policy__cpu_threshold": 2,
    "policy__delay_ms": 0.0,
    "policy__settling_ms": 0.0,
    "policy__pause_ms": 500.0,
}


def node(speed=1.0, memory_mb=100.0, seek_ms=8.0, disk_mb_per_s=40.0):
    return Hardware(speed, memory_mb, 0.5, 1.5, False, 8.1, seek_ms, disk_mb_per_s, 160.0)


SLOW, FAST = node(speed=1.0), node(speed=3.0)  # c = 0.5 and 1.5
SMALL, LARGE = node(memory_mb=100.0), node(memory_mb=300.0)  # c = 0.5 and 1.5
# 100 KB take 15 + 5 = 20 ms and 2.5 + 2.5 = 5 ms: rates 1 : 4, c = 0.4 and 1.6.
LAGGING, QUICK = node(seek_ms=15.0, disk_mb_per_s=20.0), node(seek_ms=2.5, disk_mb_per_s=40.0)


def asked(name, hardware, loads, *, me=0, heterogeneous=True, demands=None, parameters=None, tasks=()):
    """A policy and what it says of an arriving task on node `me`, by a view of these nodes."""
    table = np.zeros(len(hardware), LOAD)
    for index, values in loads.items():
        table[index] = values
    policy = create(PolicyChoice(name=name, heterogeneous=heterogeneous, **(parameters or {})))
    rows = np.zeros(len(tasks), CANDIDATE)
    for row, task in zip(rows, tasks, strict=True):
        for field, value in task.items():
            row[field] = value
    view = View(
        me, table, tuple(hardware), Paths.alike(len(hardware), 128.0), 0.0, lambda task, draw: 0.3 + 0.4 * draw,
        capacities=capacities_of(hardware) if heterogeneous else None, tasks_of_mine=lambda: rows,
    )  # fmt: skip
    arriving = ArrivingTask(
        **{"task": 1, "job": 1, "home": me, "cpu_ms": 100.0, "io_per_ms": 0.1, "request_kb": 100.0, "memory_mb": 20.0}
        | {"initial_data_mb": 0.0}
        | (demands or {})
    )
    return policy, view, arriving


def target(name, hardware, loads, **how):
    policy, view, arriving = asked(name, hardware, loads, **how)
    return policy.place(arriving, view).target


# ---- what every policy must keep ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(NAMES))
def test_on_like_nodes_it_changes_nothing(name):
    setup = busy(policy__name=name, workload__duration_s=5.0)
    # A speed whose mean over the nodes need not be what each has.
    plain, relative = (finished(5, **setup, cluster__cpu_speed=1.1, policy__heterogeneous=on) for on in (False, True))
    assert same_records(plain, relative)
    assert plain.decisions_frame().equals(relative.decisions_frame())
    assert plain.summary() == relative.summary()


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(NAMES))
def test_on_unlike_nodes_every_policy_that_compares_any_decides_otherwise(name):
    setup = busy(policy__name=name, workload__duration_s=20.0, **UNLIKE)
    plain, relative = (finished(5, **setup, policy__heterogeneous=on) for on in (False, True))
    jobs = relative.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0
    assert same_records(plain, relative) == (name in NOTHING_TO_COMPARE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jsq", "wal-pm", "iocm-pm", "iolb", "round-robin"])
def test_steps_and_leaps_leave_the_same(name):
    setup = scenario(**busy(policy__name=name, policy__heterogeneous=True, workload__duration_s=5.0, **UNLIKE))
    stepped, leapt = ClusterModel(setup, seed=2), ClusterModel(setup, seed=2)
    while stepped.running:
        stepped.step()
    leapt.run()
    assert same_records(stepped, leapt)


def test_each_load_index_has_its_place():
    """A field of the load table says what serves it."""
    for name in LOAD.names:
        assert (bool(served_by(name)), bool(own_time_of(name)), name in AS_MEASURED).count(True) == 1, name
    assert set(LOAD.names) >= AS_MEASURED


# ---- the view ----------------------------------------------------------------------------------------------------


def test_nodes_count_by_speed_by_memory_for_programs_and_by_requests_per_ms():
    found = capacities_of([SLOW, FAST])
    assert found.cpu.tolist() == [0.5, 1.5]
    assert found.memory.tolist() == found.disk.tolist() == [1.0, 1.0]
    assert capacities_of([SMALL, LARGE]).memory.tolist() == [0.5, 1.5]
    assert capacities_of([LAGGING, QUICK]).disk == pytest.approx([0.4, 1.6])
    # The mean disk does (1/20 + 1/5)/2 requests per ms.
    assert capacities_of([LAGGING, QUICK]).mean_request_ms == pytest.approx(8.0)
    assert capacities_of([SLOW, SLOW, SLOW]) is None


def test_a_view_compares_unlike_nodes_and_keeps_what_was_measured():
    loads = {"tasks": [2.0, 3.0], "cpu_ms": [200.0, 300.0], "io_ms": [50.0, 60.0], "oversize": [0.5, -0.2]}
    _, view, arriving = asked("jsq", [SLOW, FAST], loads)
    assert view.column("tasks").tolist() == [4.0, 2.0]
    assert view.column("tasks", arriving).tolist() == [6.0, 4.0 / 1.5]
    assert view.is_largest("tasks")
    assert view.measured("tasks", 1) == 3.0
    # In the node's own time as it is; the arriving task's 100 ms take 100 there and 33.3 here.
    assert view.column("cpu_ms").tolist() == [200.0, 300.0]
    assert view.column("cpu_ms", arriving) == pytest.approx([300.0, 333.3], abs=0.1)
    assert view.column("oversize", arriving).tolist() == [0.5, -0.2]
    assert view.comparable(arriving)["tasks"].tolist() == view.column("tasks", arriving).tolist()
    assert view.comparable()["tasks"].tolist() == [4.0, 2.0]
    assert view.loads["tasks"].tolist() == [2.0, 3.0]
    # Its 0.1 accesses per ms of CPU take 20 ms each on the slow disk, 5 ms on the quick one.
    _, view, arriving = asked("jsq", [LAGGING, QUICK], loads)
    assert view.column("io_ms", arriving) == pytest.approx([50.0 + 200.0, 60.0 + 50.0])


# ---- where an arriving task goes ------------------------------------------------------------------------------------

WAL = {"cpu_weight": 0.5, "io_weight": 0.5}
CASES = [
    # Policy, nodes, loads; target of the plain form and of the heterogeneous one.
    # (1 + 1)/0.5 = 4 against (3 + 1)/1.5 = 2.7; an empty slow node, 1/0.5 = 2, is better than that.
    ("jsq", [SLOW, FAST], {"tasks": [1, 3]}, 0, 1),
    ("jsq", [SLOW, FAST], {"tasks": [0, 3]}, 0, 0),
    # Both empty: 2 against 0.67.
    ("jsq", [SLOW, FAST], {"tasks": [0, 0]}, 0, 1),
    ("power-of-d", [SLOW, FAST], {"tasks": [1, 3]}, 0, 1),
    ("power-of-d", [SLOW, FAST], {"tasks": [0, 3]}, 0, 0),
    ("cpu-based", [SLOW, FAST], {"cpu_queue": [1, 3]}, 0, 1),
    ("cpu-based", [SLOW, FAST], {"cpu_queue": [0, 3]}, 0, 0),
    # 40 MB of the arriving task's 20 are there: 60/0.5 = 120 against 120/1.5 = 80; the other way 40 against 80.
    ("memory-based", [SMALL, LARGE], {"memory_mb": [40, 100]}, 0, 1),
    ("memory-based", [SMALL, LARGE], {"memory_mb": [0, 100]}, 0, 0),
    # 0.1 accesses/ms more: 0.3/0.4 = 0.75 against 0.8/1.6 = 0.5; an idle disk, 0.25, is better than that.
    ("io-re", [LAGGING, QUICK], {"io_load": [0.2, 0.7]}, 0, 1),
    ("io-re", [LAGGING, QUICK], {"io_load": [0.0, 0.7]}, 0, 0),
    # Overloaded: 3/0.5 + 0.3 is more than 4/1.5 + 0.3, though 2 + 0.2 is less than 3 + 0.2.
    ("wal-re", [SLOW, FAST], {"cpu_queue": [2, 3], "io_load": [0.2, 0.2]}, 0, 1),
    # Not overloaded: 1/0.5 against 4/1.5.
    ("wal-re", [SLOW, FAST], {"cpu_queue": [0, 3], "io_load": [0.2, 0.2]}, 0, 0),
    ("cm-re", [SLOW, FAST], {"cpu_queue": [2, 3]}, 0, 1),
    # CPU queues are the imbalanced resource: 3/0.5 against 4/1.5, from the overloaded one.
    ("iocm-re", [SLOW, FAST], {"cpu_queue": [2, 3], "cpu_ms": [100, 200]}, 0, 1),
    ("batch-system", [SLOW, FAST], {}, 0, 1),
]  # fmt: skip


def all_free(refused):
    """The cores of two idle nodes."""
    return replace(no_cores(), free=np.ones(2, np.int64))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "hardware", "loads", "plain", "relative"), CASES)
def test_where_a_newcomer_goes(name, hardware, loads, plain, relative):
    for heterogeneous, expected in ((False, plain), (True, relative)):
        policy, view, arriving = asked(
            name, hardware, loads, heterogeneous=heterogeneous, parameters=WAL if name == "wal-re" else None
        )
        if policy.central:
            chosen = policy.cores_for(arriving, 1, replace(view, cores_of_all=all_free))
            view.cores_of_all = lambda refused, chosen=chosen: replace(no_cores(), nodes_of=lambda job: chosen)
        assert policy.place(arriving, view).target == expected


@pytest.mark.parametrize(("name", "index"), [("jsq", "tasks"), ("cpu-based", "cpu_queue")])
def test_the_asked_node_answers_by_the_same_comparison(name, index):
    policy, view, arriving = asked(name, [SLOW, FAST], {index: [1, 3]})
    offer = policy.place(arriving, view)
    assert offer.load_here == pytest.approx(4.0)
    assert offer.load_there == pytest.approx(4.0 / 1.5)
    # It has got four since, 5/1.5 = 3.3; with five, 6/1.5 = 4, it is the lighter one no more.
    for now, refused in ((4, False), (5, True)):
        _, there, _ = asked(name, [SLOW, FAST], {index: [0, now]}, me=1)
        assert bool(policy.accept(arriving, offer, there)) == refused


def test_iolb_counts_what_the_newcomer_adds_where_it_goes():
    """Home and node 1 have slow disks (20 ms), node 2 a quick one (5 ms); 100 ms of CPU with 0.1 accesses per ms are
    200 ms of a slow disk and 50 of a quick one."""
    nodes = [LAGGING, LAGGING, QUICK]
    how = {"demands": {"cpu_ms": 100.0, "io_per_ms": 0.1}}

    def loads(home, slow, quick):
        return {"io_ms": [home, slow, quick], "cpu_ms": [9.0, 9.0, 9.0], "at_disk": [3.0, 0.5, 0.5]}

    # 100 + 200 against 150 + 50.
    assert target("iolb", nodes, loads(900.0, 100.0, 150.0), heterogeneous=False, **how) == 1
    assert target("iolb", nodes, loads(900.0, 100.0, 150.0), **how) == 2
    # The gap: 200 is not below 250 - 100; 50 is below 250 - 150, where the task goes.
    assert target("iolb", nodes, loads(250.0, 100.0, 150.0), heterogeneous=False, **how) == 0
    assert target("iolb", nodes, loads(250.0, 100.0, 150.0), **how) == 2


def test_clb_compares_queues_per_speed():
    """Queues of 2.2 and 3: 3.2/0.5 with the arriving task against 4/1.5, and the gap is 2.2/0.5 - 3/1.5 > 1/1.5."""
    how = {"parameters": {"index": "queue"}, "demands": {"io_per_ms": 0.0, "memory_mb": 0.0}}
    loads = {"queue_paging": [2.2, 3.0]}
    assert target("clb", [SLOW, FAST], loads, heterogeneous=False, **how) == 0
    assert target("clb", [SLOW, FAST], loads, **how) == 1


def test_hbd_moves_a_process_that_gains_by_a_faster_cpu():
    """Two processes on the slow node, three on the fast one: 3/0.5 - 4/1.5 = 3.3 ms are gained per ms of age."""
    old = {"task": 7, "age_ms": 31.0, "cpu_ms": 50.0, "memory_mb": 0.0, "running": True}
    fixed_ms = 100.0
    found = {}
    for heterogeneous, age_ms in ((False, 31.0), (True, 31.0), (True, 29.0)):
        policy, view, arriving = asked(
            "hbd", [SLOW, FAST], {"cpu_queue": [2, 3]}, heterogeneous=heterogeneous, tasks=[old | {"age_ms": age_ms}]
        )
        view.migration_ms = fixed_ms
        found[heterogeneous, age_ms] = policy.migration(arriving, view)
    assert found[False, 31.0] is None
    assert found[True, 29.0] is None  # 29 * 3.33 < 100
    assert found[True, 31.0].target == 1
    assert found[True, 31.0].load_here == pytest.approx(6.0)
    assert found[True, 31.0].load_there == pytest.approx(4.0 / 1.5)


@pytest.mark.slow
def test_wal_pm_migrates_from_the_node_most_loaded_for_its_speed():
    """Queues 2 and 3: the slow node (4) is above the mean 3, the fast one (2) below; by counts it is the other way."""
    task = {"task": 7, "age_ms": 500.0, "cpu_ms": 500.0, "io_per_ms": 0.01, "request_kb": 100.0, "running": True}
    loads = {"cpu_queue": [2, 3], "queue": [2, 3]}
    moved = {}
    for heterogeneous in (False, True):
        policy, view, arriving = asked("cm-pm", [SLOW, FAST], loads, heterogeneous=heterogeneous, tasks=[task])
        moved[heterogeneous] = policy.migration(arriving, view)
    assert moved[False] is None
    assert moved[True].target == 1
    # The estimate is that of the loads as measured: 500 ms at speed 3 among 3 others and itself, of which it has the
    # CPU in 1/(1 + 0.03 * 10.5) of the time.
    cpu_ms = 500.0 / 3
    queue = 3 + 1 / (1 + 0.03 * 10.5)
    assert moved[True].response_there_ms == pytest.approx(cpu_ms * queue + cpu_ms * 0.03 * 10.5, rel=1e-9)


def test_a_machine_of_mean_speed_is_crowded_at_the_threshold_and_a_slow_one_before():
    """Six jobs at half the mean speed count as twelve, and nine at one and a half times as six: CT is 8."""
    loads = {"tasks": [6, 9], "oversize": [-0.5, -0.5], "newest_ms": [1e9, 1e9], "virtual_free_mb": [1e9, 1e9]}
    accepted = {}
    for heterogeneous in (False, True):
        policy, view, _ = asked("pf-rate", [SLOW, FAST], loads, heterogeneous=heterogeneous)
        accepted[heterogeneous] = [policy.accepts(view, node) for node in (0, 1)]
        crowded = policy.in_trouble(view.comparable()).tolist()
        assert crowded == [not accepts for accepts in accepted[heterogeneous]]
    assert accepted == {False: [True, False], True: [False, True]}


# ---- policies that draw or deal ----------------------------------------------------------------------------------


def test_nodes_are_drawn_in_proportion_to_speed():
    _, view, _ = asked("random", [SLOW, FAST, SLOW], {})
    drawn = [view.drawn((number + 0.5) / 1000, range(3)) for number in range(1000)]
    assert np.bincount(drawn).tolist() == [200, 600, 200]
    assert [view.drawn(number, [2, 1]) for number in (0.2, 0.3)] == [0, 1]  # 1 of 4, and the rest
    _, view, _ = asked("random", [SLOW, FAST, SLOW], {}, heterogeneous=False)
    drawn = [view.drawn((number + 0.5) / 999, range(3)) for number in range(999)]
    assert np.bincount(drawn).tolist() == [333, 333, 333]


def test_power_of_d_draws_in_proportion_to_speed():
    """0.3 of 1 + 3 is the fast node; plain, of two, the slow one."""
    loads = {"tasks": [0, 9]}
    assert target("power-of-d", [SLOW, FAST], loads, parameters={"d": 1}) == 1
    assert target("power-of-d", [SLOW, FAST], loads, parameters={"d": 1}, heterogeneous=False) == 0


def test_round_robin_deals_in_proportion_to_speed_and_evenly():
    policy, view, arriving = asked("round-robin", [SLOW, FAST, node(speed=2.0)], {})
    dealt = [policy.place(arriving, view).target for _ in range(12)]
    assert np.bincount(dealt).tolist() == [2, 6, 4]
    # Of any six turns in a row each node has its share.
    assert np.bincount(dealt[:6]).tolist() == [1, 3, 2]
    assert max(len(run) for run in "".join(map(str, dealt)).replace("0", " ").replace("2", " ").split()) <= 2


@pytest.mark.slow
def test_a_batch_job_gets_the_fastest_free_nodes():
    nodes = [SLOW, FAST, SLOW, FAST]
    for heterogeneous, given in ((False, [0, 1]), (True, [1, 3])):
        policy, view, arriving = asked("batch-system", nodes, {}, heterogeneous=heterogeneous)
        view.cores_of_all = lambda refused: replace(no_cores(), free=np.ones(4, np.int64))
        assert sorted(policy.cores_for(arriving, 2, view).tolist()) == given

"""Background programs: schedules worked by hand, and what they must never be."""

from __future__ import annotations

import numpy as np
import pytest
from support import finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import BACKGROUND, FIRST_BACKGROUND, JOB, empty_nodes
from cluster_abm.errors import InputError
from cluster_abm.policy.tasks import CANDIDATE

MS = 1_000_000


def node_with(programs, jobs_cpu_ms=(), memory_kb=10_000, fault_rate_per_ms=0.0):
    """One node, quantum 10 ms, no switch cost; programs as (burst, period [ms], KB); jobs all at 0."""
    nodes = empty_nodes(1)
    nodes["speed"], nodes["quantum_ns"], nodes["memory_kb"] = 1.0, 10 * MS, memory_kb
    nodes["user_memory_kb"], nodes["fault_ns"], nodes["fault_ratio_cap"] = memory_kb, 8_100_000, 1.5
    nodes["fault_rate_per_ms"], nodes["ns_per_kb"] = fault_rate_per_ms, 25_000
    jobs = np.zeros(len(jobs_cpu_ms), JOB)
    jobs["cpu_ms"], jobs["tasks"], jobs["first_task"] = jobs_cpu_ms, 1, np.arange(len(jobs))
    engine = EngineState(nodes, jobs, 7)
    table = np.zeros(len(programs), BACKGROUND)
    for row, (burst_ms, period_ms, program_kb) in zip(table, programs, strict=True):
        row["burst_ns"], row["period_ns"], row["memory_kb"] = burst_ms * MS, period_ms * MS, program_kb
    engine.start_background(table)
    none = np.zeros(len(jobs), np.int64)
    engine.admit(np.arange(len(jobs)), none, none, none, none)
    return engine


def received_ms(engine):
    """CPU that background programs have received, in their order [ms]."""
    rows = engine.tasks[engine.tasks["task"] >= FIRST_BACKGROUND]
    return (rows["cpu_ns"][np.argsort(rows["task"])] / MS).tolist()


@pytest.mark.slow
def test_alone_it_computes_its_share_of_each_period():
    engine = node_with([(300, 1000, 0)])
    for at_ms, busy_ms in ((200, 200), (300, 300), (999, 300), (1100, 400), (10_000, 3000)):
        engine.serve(at_ms * MS)
        assert engine.busy_ns(at_ms * MS)[0][0] == busy_ms * MS
    assert engine.live == engine.finished == 0
    assert engine.nodes["switches"][0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("period_ms", [1000, 25, 7])
def test_a_share_of_all_is_always_ready(period_ms):
    """The job (first by its number) and the program take turns: the job's tenth quantum ends at 190 ms."""
    engine = node_with([(period_ms, period_ms, 0)], [100.0])
    engine.serve(1000 * MS)
    assert engine.records["finish_ns"].tolist() == [190 * MS]
    assert engine.busy_ns(1000 * MS)[0][0] == 1000 * MS


def test_a_job_and_a_program_share_the_cpu():
    """In turns the program gets its 300 ms until 600 ms; the job has 300 + 400 of its 2000 ms after one period, 1400
    after two; in the third it has 1700 at 2600 ms, and ends at 2900."""
    engine = node_with([(300, 1000, 0)], [2000.0])
    engine.serve(10_000 * MS)
    record = engine.records[0]
    assert record["finish_ns"] == 2900 * MS
    assert (record["cpu_ns"], record["cpu_queue_ns"]) == (2000 * MS, 900 * MS)
    assert engine.busy_ns(10_000 * MS)[0][0] == 5000 * MS


def test_who_is_delayed_into_the_next_period_waits_for_the_one_after():
    """Among three jobs 60 ms take until 240 ms; the period of 100 ms begins again at 300, not at once."""
    engine = node_with([(60, 100, 0)], [1000.0] * 3)
    for at_ms, program_ms in ((240, 50), (250, 60), (335, 60)):
        engine.serve(at_ms * MS)
        assert received_ms(engine) == [program_ms], at_ms
    # It wakes in the middle of a round, and has had a turn once everybody else has.
    engine.serve(341 * MS)
    assert received_ms(engine) == [70]


def test_who_is_done_just_as_a_period_begins_goes_on():
    """Among three jobs 50 ms take until 200 ms, when a period of 100 ms begins."""
    engine = node_with([(50, 100, 0)], [1000.0] * 3)
    engine.serve(401 * MS)
    assert received_ms(engine) == [100]


def test_programs_page():
    """90 KB on 50: factor 1.5, 0.0101 x 1.5 faults a ms of CPU, 5000 ms of CPU in 10 s: 75.75 faults."""
    engine = node_with([(500, 1000, 90)], memory_kb=50, fault_rate_per_ms=0.0101)
    engine.serve(10_000 * MS)
    assert engine.nodes["faults"][0] == 75
    assert engine.nodes["disk_busy_ns"][0] == 75 * 8_100_000
    assert engine.busy_ns(10_000 * MS)[0][0] == 5000 * MS


@pytest.mark.slow
def test_no_load_manager_may_send_one_away():
    engine = node_with([(300, 1000, 1000), (300, 1000, 2000)], [500.0])
    engine.serve(50 * MS)
    assert engine.candidates(0, 50 * MS, CANDIDATE)["task"].tolist() == [0]


def test_loads_count_what_a_program_asks_for():
    engine = node_with([(300, 1000, 1000), (1000, 1000, 2000)], [100.0])
    loads = engine.empty_loads()
    engine.serve(5 * MS)
    engine.measure(5 * MS, loads)
    assert (loads["tasks"][0], loads["cpu_queue"][0], loads["memory_mb"][0]) == (1, 3, 3.0)
    # The first one sleeps: it has its memory, and asks for no CPU. The job has ended.
    engine.serve(900 * MS)
    engine.measure(900 * MS, loads)
    assert (loads["tasks"][0], loads["cpu_queue"][0], loads["memory_mb"][0], loads["queue"][0]) == (0, 1, 3.0, 1.0)
    assert loads["newest_ms"][0] == np.inf


PROGRAMS = [
    {"node": 0, "cpu_share": 0.3, "memory_mb": 60.0},
    {"node": 1, "cpu_share": 1.0, "memory_mb": 10.0, "io_per_ms": 0.02},
    {"node": 1, "cpu_share": 0.5, "period_ms": 33.3},
]


def test_the_run_is_over_when_the_last_job_is_and_slices_do_not_matter():
    # Half a minute between two measurements: a run must not let the programs go on until the next one.
    given = {"workload__background": PROGRAMS, "workload__duration_s": 5.0, "measure__period_ms": 30_000.0}
    ran = finished(3, **given)
    stepped = ClusterModel(scenario(**given), seed=3)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.nodes_frame().equals(stepped.nodes_frame())
    assert len(ran.nodes_frame()) == 2 * 4 if ran.now_ms > 30_000 else 4
    assert ran.now_ms - ran.summary()["metrics"]["makespan_ms"] <= 10
    jobs = ran.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] == len(ran.jobs_frame())
    # The nodes have computed for the programs too: for 0.3 + 1 + 0.5 CPUs, but for what jobs took from them.
    extra = (ran.busy_ns()[0].sum() - ran.engine.records["cpu_ns"].sum()) / (1e6 * ran.now_ms)
    assert 0.5 < extra < 1.8
    assert ran.engine.live == 0


def test_who_does_not_fit_beside_a_program_is_killed_and_the_program_is_not():
    given = {
        "cluster__nodes": 2, "cluster__memory_mb": 80.0, "cluster__swap_mb": 20.0, "cluster__buffer_in_memory": False,
        "workload__background": PROGRAMS[:1], "workload__arrivals__kind": "closed",
        "workload__arrivals__jobs_per_user": 3, "workload__memory_mb__kind": "fixed",
    }  # fmt: skip
    for memory_mb, outcome in ((30.0, "finished"), (50.0, "killed")):
        model = finished(1, **given, workload__memory_mb__mean=memory_mb)
        assert model.jobs_frame().groupby("home")["outcome"].agg(set).tolist() == [{outcome}, {"finished"}]
        assert model.engine.nodes["demand_kb"].tolist() == [60_000, 0]


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"workload\.background\.0\.node 4: must be below cluster\.nodes 4"):
        scenario(workload__background=[{"node": 4, "cpu_share": 0.5}])
    with pytest.raises(InputError, match=r"workload\.background.*cpu_share"):
        scenario(workload__background=[{"node": 0, "cpu_share": 1.5}])
    with pytest.raises(InputError, match=r"programs of node 0 ask for 700 MB: allowed are the 490 MB"):
        ClusterModel(
            scenario(cluster__swap_mb=10.0, workload__background=[{"node": 0, "cpu_share": 0.1, "memory_mb": 700.0}])
        )
    with pytest.raises(InputError, match=r"policy\.name = 'pooled'.*workload\.background"):
        ClusterModel(scenario(policy__name="pooled", workload__background=PROGRAMS))

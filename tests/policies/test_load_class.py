"""`load-class` against LMIP's pseudo-code written straight down, its migration worked by hand, and its rival."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import finished

from cluster_abm.engine.tables import LOAD
from cluster_abm.errors import InputError
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, create
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.scenario.schema import PolicyChoice

NEWCOMER = ArrivingTask(7, 7, 0, 1000.0, 0.0, 100.0, 600.0, 0.0)
IDLE, LOW, NORMAL, HIGH = (0.0, 0.0, 10.0), (20.0, 0.2, 30.0), (50.0, 2.0, 50.0), (20.0, 0.2, 90.0)


def view_of(me, samples, free_mb=None, held_mb=None, refused=(), tasks=()):
    """Nodes with (CPU [%], queue, memory [%]) each; tasks as (task, page faults, migrations, here [ms])."""
    loads = np.zeros(len(samples), LOAD)
    for row, (cpu, queue, memory) in zip(loads, samples, strict=True):
        row["cpu_percent"], row["mean_queue"], row["memory_percent"] = cpu, queue, memory
    loads["free_mb"] = 0.0 if free_mb is None else free_mb
    hardware = (Hardware(1.0, 500.0, 0.5, 1.5, False, 8.1, 8.0, 40.0, 0.0),) * len(samples)
    rows = np.zeros(len(tasks), CANDIDATE)
    rows["running"], rows["memory_mb"] = True, 600.0
    for row, (task, faults, migrations, here_ms) in zip(rows, tasks, strict=True):
        row["task"], row["page_faults"], row["migrations"], row["here_ms"] = task, faults, migrations, here_ms
    held = np.zeros(len(samples)) if held_mb is None else np.array(held_mb, float)
    return View(
        me, loads, hardware, Paths.alike(len(samples), 12.5), 100.0, lambda task, draw: 0.5, frozenset(refused),
        migration_ms=100.0, tasks_of_mine=lambda: rows, overflow_of_mine=lambda: held,
    )  # fmt: skip


def policy(**parameters):
    return create(PolicyChoice(name="load-class", **parameters))


def class_written_down(cpu, queue, memory):
    if memory > 85:
        return "high"
    if cpu <= 1:
        return "idle"
    if (cpu > 80 and memory > 70) or queue > 4:
        return "high"
    if (cpu <= 30 and memory <= 40) or queue <= 1:
        return "low"
    return "normal"


def place_written_down(view):
    classes = [class_written_down(row["cpu_percent"], row["mean_queue"], row["memory_percent"]) for row in view.loads]
    local, count = view.me, len(classes)
    others = [(local + step) % count for step in range(1, count)]
    asked = [node for node in others if node not in view.refused]
    idle_nodes = [node for node in asked if classes[node] == "idle"]
    low_nodes = [node for node in asked if classes[node] == "low"]
    if classes[local] == "idle":
        return local
    elif idle_nodes:
        return idle_nodes[0]
    elif classes[local] == "high" and low_nodes:
        selected, most = None, 0.0
        for node in asked:
            if view.overflow_held_mb[node] > most:
                selected, most = node, view.overflow_held_mb[node]
        if selected is None:
            for node in low_nodes:
                if selected is None or view.loads["free_mb"][node] > view.loads["free_mb"][selected]:
                    selected = node
        return local if classes[selected] == "high" else selected
    else:
        return local


@st.composite
def views(draw):
    count = draw(st.integers(1, 6))
    percent = st.sampled_from([0.0, 1.0, 5.0, 30.0, 31.0, 40.0, 60.0, 75.0, 81.0, 86.0, 100.0])
    sample = st.tuples(percent, st.sampled_from([0.0, 0.4, 1.0, 2.0, 4.0, 5.0]), percent)
    many = {"min_size": count, "max_size": count}
    me = draw(st.integers(0, count - 1))
    held = draw(st.one_of(st.none(), st.lists(st.sampled_from([0.0, 0.0, 50.0, 80.0]), **many)))
    if held is not None:
        held[me] = 0.0
    return view_of(
        me, draw(st.lists(sample, **many)), draw(st.lists(st.sampled_from([0.0, 100.0, 400.0]), **many)), held,
        draw(st.sets(st.sampled_from([node for node in range(count) if node != me]))) if count > 1 else (),
    )  # fmt: skip


@pytest.mark.slow
@settings(max_examples=133)
@given(views())
def test_it_places_as_the_papers_pseudo_code_does(view):
    assert policy().place(NEWCOMER, view).target == place_written_down(view)


def test_an_idle_home_keeps_its_newcomer_even_if_others_are_idle():
    assert policy().place(NEWCOMER, view_of(1, [IDLE, IDLE])).target == 1


def test_of_several_idle_nodes_the_next_one_after_home():
    assert policy().place(NEWCOMER, view_of(2, [IDLE, IDLE, LOW, HIGH])).target == 0
    assert policy().place(NEWCOMER, view_of(0, [LOW, HIGH, IDLE, IDLE])).target == 2
    assert policy().place(NEWCOMER, view_of(0, [LOW, HIGH, IDLE, IDLE], refused=[2])).target == 3


def test_from_a_high_home_to_the_low_node_with_most_free_memory():
    free_mb = [0.0, 400.0, 100.0, 300.0]
    assert policy().place(NEWCOMER, view_of(0, [HIGH, NORMAL, LOW, LOW], free_mb)).target == 3
    assert policy().place(NEWCOMER, view_of(0, [NORMAL, NORMAL, LOW, LOW], free_mb)).target == 0
    assert policy().place(NEWCOMER, view_of(0, [HIGH, NORMAL, NORMAL, NORMAL], free_mb)).target == 0


def test_with_remote_memory_to_the_node_that_serves_most_faults_unless_it_is_high():
    held_mb = [0.0, 200.0, 50.0]
    assert policy().place(NEWCOMER, view_of(0, [HIGH, NORMAL, LOW], held_mb=held_mb)).target == 1
    assert policy().place(NEWCOMER, view_of(0, [HIGH, HIGH, LOW], held_mb=held_mb)).target == 0
    # Half a megabyte is held, too.
    assert policy().place(NEWCOMER, view_of(0, [HIGH, NORMAL, LOW], held_mb=[0.0, 0.5, 0.0])).target == 1
    # While there is no low node at all, no manager looks for the node that serves.
    assert policy().place(NEWCOMER, view_of(0, [HIGH, NORMAL, NORMAL], held_mb=held_mb)).target == 0


TASKS = [(1, 10, 0, 5000.0), (2, 90, 0, 5000.0), (3, 99, 1, 59_999.0), (4, 0, 0, 9e9)]


def test_the_process_with_most_page_faults_migrates_to_its_memory():
    view = view_of(0, [HIGH, LOW, NORMAL], held_mb=[0.0, 10.0, 200.0], tasks=TASKS)
    decision = policy().relieve(view)
    # Task 3 has faulted more, but has migrated less than a minute ago.
    assert (decision.task.task, decision.target) == (2, 2)
    # f = 100 ms and 600 MB at 12.5 MB/s.
    assert decision.cost_ms == pytest.approx(100.0 + 48_000.0)
    assert policy(pause_ms=59_999.0).relieve(view).task.task == 3
    assert policy().relieve(replace(view, overflow_of_mine=lambda: np.array([0.0, 20.0, 10.0]))).target == 1


def test_nobody_migrates_without_trouble_a_low_node_or_a_page_fault():
    for samples in ([NORMAL, LOW, LOW], [HIGH, NORMAL, IDLE]):
        assert policy().relieve(view_of(0, samples, tasks=TASKS)) is None
    assert policy().relieve(view_of(0, [HIGH, LOW, LOW], tasks=TASKS[3:])) is None
    assert policy().relieve(view_of(0, [HIGH, HIGH, LOW], held_mb=[0.0, 5.0, 0.0], tasks=TASKS)) is None
    assert policy().in_trouble(view_of(0, [HIGH, LOW, HIGH]).loads).tolist() == [True, False, True]
    assert policy(migration=False).acts_every_ms is None


def test_the_asked_node_answers_by_its_own_class():
    asked = policy().place(NEWCOMER, view_of(0, [HIGH, IDLE]))
    assert policy().accept(NEWCOMER, asked, view_of(1, [HIGH, IDLE])) == ""
    assert policy().accept(NEWCOMER, asked, view_of(1, [HIGH, LOW])) == "not idle any more"
    asked = policy().place(NEWCOMER, view_of(0, [HIGH, LOW]))
    assert policy().accept(NEWCOMER, asked, view_of(1, [HIGH, NORMAL])) == ""
    assert policy().accept(NEWCOMER, asked, view_of(1, [HIGH, HIGH])) == "highly loaded by now"


def test_thresholds_out_of_order_are_refused():
    with pytest.raises(InputError, match=r"low_queue 5: must not be above high_queue 4"):
        policy(low_queue=5.0)


PAGERS = {
    "cluster__nodes": 2, "cluster__memory_mb": 100.0, "cluster__buffer_in_memory": False,
    "cluster__page_fault_rate_per_ms": 0.02, "cluster__page_fault_ratio_cap": 1.5,
    "interconnect__bandwidth_mbps": 1000.0, "workload__arrivals__kind": "closed",
    "workload__arrivals__jobs_per_user": 1, "workload__arrivals__first_gap_s": 0.0, "workload__cpu_ms__kind": "fixed",
    "workload__cpu_ms__mean": 20_000.0, "workload__memory_mb__kind": "fixed", "workload__memory_mb__mean": 50.0,
    "workload__background": [{"node": 0, "cpu_share": 0.1, "memory_mb": 80.0}], "policy__name": "load-class",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_in_a_run_the_pager_leaves_for_the_low_node_and_stays(mode):
    """Node 0 is asked for 130 of 100 MB, node 1 for 50, with one process each: high and low (by its queue of 1)."""
    model = finished(1, **PAGERS, negotiation__mode=mode)
    moved = model.decisions_frame().query("rule == 'memory locality'")
    assert moved[["job", "source", "target", "accepted"]].to_numpy().tolist() == [[0, 0, 1, True]]
    # The first look is at 1 s, when the first second is in the averages; reports of it are there in either mode.
    assert moved["time_ms"].tolist() == [1000.0]
    frame = model.jobs_frame().set_index("job")
    assert frame["node"].tolist() == [1, 1]
    assert frame["page_faults"][0] > frame["page_faults"][1] == 0
    # f = 100 ms and 50 MB at 125 MB/s.
    assert frame["migration_ms"][0] == pytest.approx(500.0, abs=10.0)
    assert finished(1, **PAGERS, policy__migration=False).summary()["metrics"]["migrations"] == 0


def test_queue_length_sees_the_queue_alone():
    loads = view_of(0, [HIGH, HIGH, IDLE]).loads
    loads["cpu_queue"] = [2.0, 1.0, 1.0]
    rival = create(PolicyChoice(name="queue-length"))
    view = replace(view_of(0, [HIGH, HIGH, IDLE]), loads=loads)
    assert rival.place(NEWCOMER, view).target == 1
    loads["cpu_queue"] = [1.0, 1.0, 1.0]
    assert rival.place(NEWCOMER, view).target == 0
    assert not rival.averages

"""Theorems 3 and 6 of the IOLB paper as properties of the policies: what a task does not load is not balanced by it.

Theorem 3: no task without disk I/O is placed by lines 4-8. Theorem 6: none without page faults by lines 10-14. Theorems
8 and 9 are in test_fig_1, those on the formulas in tests/formulas.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import busy, finished

from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, create
from cluster_abm.scenario.schema import PolicyChoice

IO, MEMORY, CPU = "lines 4-8 (I/O)", "lines 10-14 (memory)", ("lines 16-20 (CPU)", "line 15 (CPU)")
PAPERS_NODE = Hardware(1.0, 100.0, 0.5, 1.5, False, 8.1, 8.0, 40.0, 160.0)
TASK = ArrivingTask(
    task=0, job=0, home=0, cpu_ms=100.0, io_per_ms=0.1, request_kb=80.0, memory_mb=10.0, initial_data_mb=0.0
)
random_runs = settings(max_examples=25)


def place(arriving, policy="iolb", hardware=PAPERS_NODE, refused=(), **loads):
    """The policy's decision at node 0, by loads given per node."""
    rows = np.zeros(len(next(iter(loads.values()))), LOAD)
    for name, values in loads.items():
        rows[name] = values
    view = View(
        0, rows, (hardware,) * len(rows), Paths.alike(len(rows), 128.0), 1.0, lambda task, draw: 0.5, frozenset(refused)
    )
    return create(PolicyChoice(name=policy)).place(arriving, view)


# ---- one view at a time ------------------------------------------------------------------------------------------

# Disks are the most uneven, node 0's the fullest; its CPU is not, and everything fits. Line 3 hangs on the task alone.
DISK_HEAVY = {"io_ms": [9000.0, 0.0, 100.0], "cpu_ms": [10.0, 20.0, 30.0], "at_disk": [5.0, 0.0, 0.0]}


def test_theorem_3_the_same_view_with_and_without_io():
    reads = place(TASK, **DISK_HEAVY)
    assert (reads.rule, reads.target) == (IO, 1)
    silent = place(dataclasses.replace(TASK, io_per_ms=0.0), **DISK_HEAVY)
    assert silent.rule == "line 15 (CPU)"
    assert silent.target == 0


def test_theorem_3_a_task_without_io_goes_on_to_the_lines_for_the_cpu():
    """The same with node 0's CPU as the fullest too: the task leaves by its CPU load, not by a load of disks."""
    loads = DISK_HEAVY | {"cpu_ms": [5000.0, 20.0, 30.0], "queue": [5.0, 1.0, 1.0]}
    silent = place(dataclasses.replace(TASK, io_per_ms=0.0), **loads)
    assert (silent.rule, silent.index, silent.target) == ("lines 16-20 (CPU)", "cpu_ms", 1)
    assert silent.task_load == 100.0
    assert place(TASK, **loads).rule == IO


def test_theorem_3_on_an_idle_cluster():
    """All factors are 0 and all loads the largest: the first line's other conditions hold for everybody."""
    idle = {"io_ms": [0.0, 0.0]}
    assert place(dataclasses.replace(TASK, io_per_ms=0.0), **idle).rule in CPU
    assert place(TASK, **idle).rule == IO


# Memory overflows at node 0 by far, disks and CPUs are even: line 9 hangs on the task's own faults.
MEMORY_HEAVY = {
    "page_ms": [9000.0, 0.0, 100.0],
    "memory_mb": [150.0, 10.0, 20.0],
    "cpu_ms": [50.0, 50.0, 60.0],
    "at_disk": [5.0, 0.0, 0.0],
}


@pytest.mark.parametrize("policy", ["mlb", "iolb"])
@pytest.mark.parametrize("io_per_ms", [0.0, 0.1])
def test_theorem_6_the_same_view_with_and_without_faults(policy, io_per_ms):
    task = dataclasses.replace(TASK, io_per_ms=io_per_ms)
    pages = place(task, policy, **MEMORY_HEAVY)
    assert (pages.rule, pages.target) == (MEMORY, 1)
    # Nodes that never fault, and a report of node 0 that has been overtaken: what it holds now fits.
    assert place(task, policy, PAPERS_NODE._replace(fault_rate_per_ms=0.0), **MEMORY_HEAVY).rule in CPU
    fits = MEMORY_HEAVY | {"memory_mb": [90.0, 10.0, 20.0]}
    assert place(task, policy, **fits).rule in CPU
    assert place(dataclasses.replace(task, memory_mb=10.001), policy, **fits).rule == MEMORY


# ---- any view ----------------------------------------------------------------------------------------------------


@st.composite
def loads(draw):
    count = draw(st.integers(1, 5))
    levels = st.sampled_from([0.0, 0.5, 3.0, 40.0, 2000.0])
    return {name: draw(st.lists(levels, min_size=count, max_size=count)) for name in LOAD.names}


@pytest.mark.slow
@settings(max_examples=100)
@given(loads(), st.sampled_from([0.0, 0.01, 1.0]), st.sampled_from([0.0, 60.0, 99.0, 500.0]), st.floats(0.1, 1e5))
def test_lines_4_to_8_need_io_and_lines_10_to_14_need_faults(rows, io_per_ms, memory_mb, cpu_ms):
    arriving = dataclasses.replace(TASK, io_per_ms=io_per_ms, memory_mb=memory_mb, cpu_ms=cpu_ms)
    fits = rows["memory_mb"][0] + memory_mb <= PAPERS_NODE.user_memory_mb
    for policy in ("clb", "mlb", "iolb"):
        rule = place(arriving, policy, **rows).rule
        assert rule != IO or (policy == "iolb" and io_per_ms > 0)
        assert rule != MEMORY or (policy != "clb" and not fits)


# ---- whole runs --------------------------------------------------------------------------------------------------


@st.composite
def scenarios(draw):
    choose = {
        "cluster__nodes": st.integers(2, 5),
        "cluster__memory_mb": st.sampled_from([15.0, 30.0, 60.0]),
        "cluster__buffer_mb": st.sampled_from([0.0, 160.0]),
        "workload__duration_s": st.just(3.0),
        "workload__utilisation": st.sampled_from([0.3, 1.0]),
        "workload__io_per_ms__mean": st.sampled_from([0.03, 0.12, 0.4]),
        "workload__no_io_share": st.sampled_from([0.0, 0.5, 0.9]),
        "workload__home__kind": st.sampled_from(["uniform", "skewed"]),
        "negotiation__mode": st.sampled_from(["papers", "negotiated"]),
        "cluster__exchange_period_ms": st.sampled_from([50.0, 1000.0]),
        "policy__name": st.sampled_from(["mlb", "iolb"]),
        "policy__index": st.sampled_from(["remaining", "queue"]),
    }
    return busy(**{name: draw(values) for name, values in choose.items()})


def decided(overrides, seed):
    """The decisions, beside the I/O rate of the task that each is about."""
    model = finished(seed, **overrides)
    frame = model.decisions_frame()
    return frame.assign(io_per_ms=model.jobs["io_per_ms"][frame["job"]])


@pytest.mark.slow
@random_runs
@given(scenarios(), st.integers(0, 2**31))
def test_theorem_3_in_any_run(overrides, seed):
    """The task's own load is the one that the rule is about, and it is above 0."""
    frame = decided(overrides, seed)
    by_io, by_memory = frame[frame.rule == IO], frame[frame.rule == MEMORY]
    assert (by_io.io_per_ms > 0).all()
    assert (by_io.task_load > 0).all()
    assert (by_memory.task_load > 0).all()


@pytest.mark.slow
@random_runs
@given(scenarios(), st.integers(0, 2**31))
def test_theorem_3_in_a_cluster_without_io(overrides, seed):
    frame = decided(overrides | {"workload__no_io_share": 1.0}, seed)
    assert len(frame) == 0 or not (frame.rule == IO).any()


@pytest.mark.slow
@random_runs
@given(scenarios(), st.integers(0, 2**31), st.sampled_from(["memory", "rate"]))
def test_theorem_6_in_a_cluster_that_does_not_page(overrides, seed, why):
    never = {"cluster__memory_mb": 1e6} if why == "memory" else {"cluster__page_fault_rate_per_ms": 0.0}
    frame = decided(overrides | never, seed)
    assert not (frame.rule == MEMORY).any()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_half_of_the_jobs_without_io(mode):
    """All three rules are taken, and the silent half of the jobs is placed by the other two alone."""
    frame = decided(
        busy(workload__no_io_share=0.5, workload__io_per_ms__mean=0.4, workload__duration_s=40.0,
             cluster__buffer_mb=0.0, negotiation__mode=mode), 2
    )  # fmt: skip
    silent = frame[frame.io_per_ms == 0]
    assert 0.2 < len(silent) / len(frame) < 0.8
    assert set(frame.rule) >= {IO, MEMORY}
    assert IO not in set(silent.rule)
    assert MEMORY in set(silent.rule)

"""Policies that draw a manager, where jobs come to few managers."""

from __future__ import annotations

import numpy as np
import pytest
from dispatchers_by_events import jiq_response
from replications import EXPONENTIAL, SECOND, SEED, run
from scipy import stats
from support import traced

NODES, LOAD, RUNS = 16, 0.7, 12
JOBS = 3000
FREE = {
    "negotiation__mode": "negotiated", "negotiation__remote_execution_ms": 0.0, "interconnect__latency_ms": 0.0,
    "cluster__slice_ms": 1.0, "cluster__quantum_ms": "inf", "cluster__nodes": NODES,
    "workload__cpu_ms__kind": EXPONENTIAL, **SECOND,
}  # fmt: skip


def mean_responses(policy, dispatchers, **more):
    """Mean response [s] of runs in which jobs come to some managers alone."""
    weights = {"workload__home__kind": "weights", "workload__home__weights": [1.0] * dispatchers}
    work = {"workload__utilisation": LOAD, "workload__duration_s": JOBS / (LOAD * NODES)}
    models = [run(offset, policy__name=policy, **FREE, **weights, **work, **more) for offset in range(RUNS)]
    frames = (model.jobs_frame() for model in models)
    return [float((frame["finish_ms"] - frame["arrival_ms"]).mean()) / 1000.0 for frame in frames]


@pytest.mark.slow
@pytest.mark.parametrize("dispatchers", [1, 4, NODES])
def test_join_idle_queue_is_its_event_simulation(dispatchers):
    """Two samples of means that no test at 99.9 % distinguishes, each known to 5 %."""
    ours = mean_responses("jiq", dispatchers)
    theirs = [jiq_response(NODES, dispatchers, LOAD, JOBS, SEED + 1000 + one) for one in range(RUNS)]
    difference = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.999)
    # A node's end is known a slice late, .001 s.
    assert difference.low - 0.002 <= 0.0 <= difference.high + 0.002, (np.mean(ours), np.mean(theirs))
    assert stats.sem(ours) + stats.sem(theirs) < 0.05 * np.mean(theirs)


@pytest.mark.slow
def test_one_dispatcher_knows_every_idle_node():
    """Of jobs as at load .7 some wait under any policy that draws nodes: under JIQ with one dispatcher hardly any."""
    model = run(0, policy__name="jiq", workload__home__kind="weights", workload__home__weights=[1.0],
                workload__utilisation=LOAD, workload__duration_s=100.0, **FREE)  # fmt: skip
    decisions = model.decisions_frame()
    assert (decisions["rule"] == "first in the idle queue").mean() > 0.95


@pytest.mark.parametrize("home", [0, 2])
def test_nodes_of_a_log_join_the_manager_at_which_its_jobs_are_submitted(tmp_path, home):
    """Jobs of one home that never overlap: each of the four nodes is idle, and known to be, whenever a job comes."""
    rows = [f"{1000 * (job + 1)},{home},10,1" for job in range(40)]
    model = traced(tmp_path, "jiq", rows, negotiation__mode="negotiated")
    assert (model.decisions_frame()["rule"] == "first in the idle queue").all()


@pytest.mark.parametrize("amount", ["one", "half"])
def test_thieves_ask_where_tasks_can_wait(tmp_path, amount):
    """All jobs come to node 0: of its four nodes three are idle, and ask; one task at a time, only node 0 is asked."""
    rows = [f"{1 + job},0,1000,1" for job in range(12)]
    model = traced(tmp_path, "work-stealing", rows, negotiation__mode="negotiated", policy__amount=amount)
    jobs = model.jobs_frame()
    assert sorted(jobs["home"].unique()) == [0]
    # Twelve tasks of 1 s on four nodes: three rounds, and the questions in between.
    assert jobs["finish_ms"].max() < (3500 if amount == "one" else 5000)

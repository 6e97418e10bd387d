"""Logs whose work takes many nodes for years: the clock has 64 bits, not the sum over all nodes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support import finished, scenario

from cluster_abm import ClusterModel, InputError
from cluster_abm.results.metrics import total_ns

YEARS_MS = 3.2e12  # a hundred of them: on two nodes more than 64 bits of nanoseconds hold
HUNDRED_YEARS = [1e12, 1e12, 1e12, 0.2e12]


def log(folder, homes):
    """A trace in which each of these nodes has work for a hundred years."""
    path = folder / "long.csv"
    rows = [f"0,{home},{cpu_ms:.0f}\n" for home in homes for cpu_ms in HUNDRED_YEARS]
    path.write_text("arrival_ms,home,cpu_ms\n" + "".join(rows))
    return {
        "workload__kind": "trace", "workload__trace__file": str(path), "cluster__nodes": 4, "cluster__slice_ms": 1e9,
        "cluster__context_switch_ms": 0.0, "measure__period_ms": 1e9,
    }  # fmt: skip


def test_work_of_all_nodes_together_may_be_longer_than_64_bits(tmp_path):
    model = finished(**log(tmp_path, [0, 1, 2, 3]), cluster__exchange_period_ms=1e9)
    summary = model.summary()
    assert summary["jobs"]["finished"] == 16
    # Each node computes all the time, and no sum wraps around.
    assert summary["metrics"]["cpu_utilisation"] == pytest.approx(1.0, abs=1e-3)
    assert summary["metrics"]["makespan_ms"] == pytest.approx(YEARS_MS)
    assert float(model.datacollector.model_vars["cpu_utilisation"][-1]) == pytest.approx(1.0, abs=1e-3)
    json.dumps(summary)


def test_a_sum_of_times_does_not_wrap_around():
    assert total_ns(np.full(4, 2**62)) == 4.0 * 2**62


def test_one_node_with_more_than_64_bits_hold_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"all work together .* on the home node that has most: allowed is 4.6e.12"):
        ClusterModel(scenario(**log(tmp_path, [1, 1])), seed=1)


def test_a_pooled_cluster_books_all_work_as_one(tmp_path):
    with pytest.raises(InputError, match=r"pooled cluster .policy pooled."):
        ClusterModel(scenario(**log(tmp_path, [0, 1]), policy__name="pooled"), seed=1)


@pytest.mark.slow
def test_tasks_that_outlast_64_bits_are_told(tmp_path):
    """What the jobs announce fits; but an agent makes a node ten times slower."""
    model = ClusterModel(scenario(**log(tmp_path, [0, 1]), cluster__exchange_period_ms=1e9), seed=1)
    model.step()
    model.node_agents[1].cpu_speed = 0.1
    with pytest.raises(InputError, match="after 146 years of simulated time"):
        model.run()

"""A job chosen by one manager's view, whose own manager reaches no free core: it waits on."""

from __future__ import annotations

import pandas as pd
import pytest
from support import scenario

from cluster_abm import ClusterModel

# Links and nodes fail so often that what managers reach differs. Run 38 had jobs that fitted by the view of the head of
# the queue, and no free core by that of their own home.
OFTEN = {
    "cluster__nodes": 5, "cluster__cores": 2, "cluster__slice_ms": 1.0, "cluster__quantum_ms": 0.5,
    "cluster__context_switch_ms": 0.0, "cluster__memory_mb": 15.0, "cluster__buffer_mb": 0.0,
    "cluster__exchange_period_ms": 20.0, "workload__duration_s": 0.5, "workload__cpu_ms__kind": "exponential",
    "workload__cpu_ms__mean": 5.0, "workload__io_per_ms__mean": 0.0, "workload__tasks__parallel_share": 1.0,
    "workload__tasks__maximum": 4, "workload__home__kind": "uniform", "workload__arrivals__kind": "closed",
    "workload__arrivals__users_per_node": 3, "workload__arrivals__jobs_per_user": 5,
    "workload__arrivals__first_gap_s": 0.1, "workload__arrivals__think_s__mean": 0.0,
    "workload__requested_over_actual": {"kind": "uniform", "mean": 1.5}, "negotiation__mode": "papers",
    "negotiation__remote_execution_ms": 0.0, "interconnect__latency_ms": 0.2, "interconnect__kind": "complete",
    "interconnect__bandwidth_mbps": 10.0, "failures__on_failure": "restart", "failures__checkpoint_period_ms": 30.0,
    "failures__link": {"kind": "exponential", "mean_up_s": 0.2, "mean_down_s": 0.2},
    "failures__node": {"kind": "weibull", "mean_up_s": 0.3, "mean_down_s": 0.05, "repair": "exponential"},
    "run__until": 4000.0,
}  # fmt: skip


def ended(policy: str, compiled: bool) -> ClusterModel:
    """A run in which all jobs end."""
    model = ClusterModel(scenario(**OFTEN, policy__name=policy), seed=38, compile_decisions=compiled)
    model.run()
    jobs = model.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] == 75
    return model


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_a_job_whose_manager_reaches_no_free_core_waits_on_and_ends(policy: str) -> None:
    both = [ended(policy, compiled) for compiled in (True, False)]
    assert [model.decides_in_python == "" for model in both] == [True, False]
    pd.testing.assert_frame_equal(*(model.jobs_frame() for model in both))
    pd.testing.assert_frame_equal(*(model.decisions_frame() for model in both))

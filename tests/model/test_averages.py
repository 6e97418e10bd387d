"""Means of the last five seconds, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support import finished

from cluster_abm.model.knowing.averages import NAMES


def sampled(**overrides):
    """A lone job at time 0 on one node of 400 MB, of which the system keeps 40: columns by second, from the first."""
    given = {
        "cluster__nodes": 1, "cluster__memory_mb": 400.0, "cluster__system_mb": 40.0,
        "cluster__buffer_in_memory": False, "workload__arrivals__kind": "closed",
        "workload__arrivals__jobs_per_user": 1, "workload__cpu_ms__kind": "fixed", "workload__memory_mb__kind": "fixed",
        "workload__memory_mb__mean": 100.0, "measure__period_ms": 1000.0, "policy__name": "load-class",
        "run__until": 8000.0,
    }  # fmt: skip
    return finished(1, **given | overrides).nodes_frame()


def column(frame, name):
    return frame[f"load_{name}"].to_numpy()


@pytest.mark.slow
def test_a_third_of_a_second_of_cpu():
    frame = sampled(workload__cpu_ms__mean=300.0)
    assert np.allclose(column(frame, "cpu_percent"), [30, 30 / 2, 30 / 3, 30 / 4, 30 / 5, 0, 0, 0])
    assert not column(frame, "mean_queue").any()
    assert np.allclose(column(frame, "memory_percent"), 10)


def test_two_and_a_half_seconds_of_cpu():
    frame = sampled(workload__cpu_ms__mean=2500.0)
    cpu = [100, 100, 250 / 3, 250 / 4, 250 / 5, 150 / 5, 50 / 5, 0]
    assert np.allclose(column(frame, "cpu_percent"), cpu)
    assert np.allclose(column(frame, "mean_queue"), [1, 1, 2 / 3, 2 / 4, 2 / 5, 1 / 5, 0, 0])
    # 140 of 400 MB while the job is there, 40 without it.
    assert np.allclose(column(frame, "memory_percent"), [35, 35, 80 / 3, 90 / 4, 20, 15, 10, 10])


@pytest.mark.parametrize("cores", [2, 4, 1024])
def test_cpu_and_queue_are_of_all_cores(cores):
    """The job has one of them for two and a half seconds."""
    frame = sampled(workload__cpu_ms__mean=2500.0, cluster__cores=cores)
    cpu = np.array([100, 100, 250 / 3, 250 / 4, 250 / 5, 150 / 5, 50 / 5, 0])
    assert np.allclose(column(frame, "cpu_percent"), cpu / cores)
    assert np.allclose(column(frame, "mean_queue"), np.array([1, 1, 2 / 3, 2 / 4, 2 / 5, 1 / 5, 0, 0]) / cores)


@pytest.mark.slow
def test_memory_is_utilised_to_a_hundred_percent_at_most():
    frame = sampled(workload__cpu_ms__mean=1500.0, workload__memory_mb__mean=900.0, cluster__page_fault_rate_per_ms=0.0)
    assert np.allclose(column(frame, "memory_percent")[:3], [100, (100 + 10) / 2, (100 + 20) / 3])


def test_seconds_that_are_no_multiple_of_the_slice():
    """Samples are taken at the first border after each second, and are divided by the time that they are of."""
    frame = sampled(workload__cpu_ms__mean=100_000.0, cluster__slice_ms=7.3, cluster__context_switch_ms=0.0)
    assert np.allclose(column(frame, "cpu_percent"), 100)


def test_nobody_else_samples():
    frame = sampled(workload__cpu_ms__mean=2500.0, policy__name="queue-length")
    assert not {f"load_{name}" for name in NAMES} & set(frame.columns)

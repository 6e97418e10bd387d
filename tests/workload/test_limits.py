"""Work that 64 bits of nanoseconds do not hold is refused before anything is run."""

from __future__ import annotations

import pytest
from support import finished, scenario

from cluster_abm import ClusterModel, InputError

CLOSED = {"workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 6}


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"workload__jobs_per_s": 1e9}, "jobs per second"),
        ({"workload__duration_s": 1e12}, "jobs per second"),
        ({"workload__jobs": 10_000, "workload__tasks": {"parallel_share": 1.0, "maximum": 1_000_000}}, "tasks"),
        ({"workload__cpu_ms__mean": 1e12, "workload__jobs": 50}, "all work together"),
        ({"workload__io_per_ms__mean": 1e11}, "io_per_ms"),
        ({"workload__io_per_ms__mean": 1e5, "workload__request_kb__mean": 1e10, "workload__request_kb__kind": "fixed",
          "workload__jobs": 9}, "all work together"),
        ({"workload__memory_mb__mean": 1e12, "workload__memory_mb__kind": "exponential", "workload__jobs": 50},
         "memory_mb"),
        ({"workload__utilisation": None, "workload__jobs": 10, "workload__duration_s": 1e11},
         "submission of the last job reaches .* ms: allowed is 4.6e.12"),
        (CLOSED | {"workload__arrivals__think_s": {"kind": "fixed", "mean": 1e11}}, "think_s: the longest thought"),
        # Each thought of 32 years fits, and five of them do not.
        (CLOSED | {"workload__arrivals__think_s": {"kind": "fixed", "mean": 1e9}}, "all work together"),
        (CLOSED | {"workload__arrivals__users_per_node": 2_000, "workload__arrivals__first_gap_s": 1e6},
         "submission of the last job"),
    ],
)  # fmt: skip
def test_too_much_is_named(settings, named):
    with pytest.raises(InputError, match=named):
        ClusterModel(scenario(**settings), seed=1)


def test_twelve_endless_jobs_on_one_node_are_refused(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("arrival_ms,home,cpu_ms\n" + "0,0,1000000000000\n" * 12)
    with pytest.raises(InputError, match="all work together"):
        ClusterModel(scenario(workload__kind="trace", workload__trace__file=str(path)), seed=1)


def test_work_as_long_as_64_bits_hold_is_done():
    # 126 years of thinking, one second of work.
    given = CLOSED | {"workload__arrivals__think_s": {"kind": "fixed", "mean": 1e9}, "cluster__nodes": 1}
    given |= {"workload__arrivals__jobs_per_user": 5, "cluster__slice_ms": 1e9, "measure__period_ms": 1e9}
    model = finished(**given, cluster__exchange_period_ms=1e9)
    frame = model.jobs_frame()
    assert len(frame) == 5
    assert (frame["slowdown"] - 1.0).between(0.0, 0.01).all()
    assert (frame["arrival_ms"].diff()[1:] >= 1e12).all()


def test_a_task_that_would_travel_for_ever_is_refused(tmp_path):
    # 10^7 MB over 0.001 Mbps: 8 x 10^13 ms, and 63 bits of nanoseconds are 9.2 x 10^12.
    path = tmp_path / "heavy.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,initial_data_mb\n" + "0,0,9e3,0,1,1e7\n" * 2)
    given = {
        "workload__kind": "trace", "workload__trace__file": str(path), "interconnect__bandwidth_mbps": 0.001,
        "policy__name": "jsq",
    }  # fmt: skip
    with pytest.raises(InputError, match=r"initial_data_mb.* task \d would travel 8.* allowed is 1e.12"):
        finished(**given)


def test_a_rate_so_low_that_no_gap_fits_makes_no_access(tmp_path):
    path = tmp_path / "rare.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms\n0,0,10,1e-14\n")
    model = finished(workload__kind="trace", workload__trace__file=str(path))
    frame = model.jobs_frame()
    assert frame["io_requests"].tolist() == [0]
    assert frame["io_ms"].tolist() == [0.0]

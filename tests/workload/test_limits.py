"""Work that 64 bits of nanoseconds do not hold is refused before anything is run."""

from __future__ import annotations

import pytest
from support import finished, scenario

from cluster_abm import ClusterModel, InputError


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


def test_a_rate_so_low_that_no_gap_fits_makes_no_access(tmp_path):
    path = tmp_path / "rare.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms\n0,0,10,1e-14\n")
    model = finished(workload__kind="trace", workload__trace__file=str(path))
    frame = model.jobs_frame()
    assert frame["io_requests"].tolist() == [0]
    assert frame["io_ms"].tolist() == [0.0]

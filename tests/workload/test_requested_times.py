"""Requested run times: of traces, and drawn; no other attribute changes with them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.workload import job_table, work_of
from cluster_abm.workload.traces import read_trace, write_csv

CPU = {"workload__cpu_ms": {"kind": "exponential", "mean": 100.0}, "workload__jobs": 400}
IO = {"workload__io_per_ms": {"kind": "uniform", "mean": 0.05}, "workload__request_kb": {"kind": "fixed", "mean": 80.0}}


def swf_line(number: int, submit: int, run: int, requested: int) -> str:
    return f"{number} {submit} 0 {run} 1 -1 -1 1 {requested} -1 1 1 1 1 1 1 -1 -1\n"


def test_without_the_key_no_job_requests_any():
    assert work_of(scenario(**CPU), 1).requested_ms is None


@pytest.mark.parametrize("law", [
    {"kind": "fixed", "mean": 1.0}, {"kind": "uniform", "mean": 1.5}, {"kind": "lognormal", "mean": 3.0, "sd": 4.0},
    {"kind": "lifetime", "shape": 1.2, "minimum": 1.0, "maximum": 50.0},
])  # fmt: skip
def test_the_jobs_are_the_same_with_and_without(law):
    plain, work = scenario(**CPU, **IO), scenario(**CPU, **IO, workload__requested_over_actual=law)
    assert job_table(plain, 3).tobytes() == job_table(work, 3).tobytes()
    found = work_of(work, 3)
    assert found.requested_ms is not None
    jobs = found.jobs
    # Alone at speed 1, with 8.1 ms of seek and 40 MB/s, and one context switch.
    kind = work.cluster
    access_ms = kind.disk_seek_rotation_ms + jobs["request_kb"] / kind.disk_mb_per_s
    alone_ms = jobs["cpu_ms"] * (1.0 + jobs["io_per_ms"] * access_ms) + kind.context_switch_ms
    ratio = found.requested_ms / alone_ms
    assert ratio.min() >= 1.0 - 1e-12
    if law["kind"] == "fixed":
        assert np.allclose(ratio, 1.0)
    if law["kind"] == "uniform":
        # Uniform on 0..3, below 1 counted as 1: the mean is 1/3 + 4/3; its deviation is below 1.
        assert ratio.mean() == pytest.approx(5.0 / 3.0, abs=4.0 / np.sqrt(len(ratio)))
        assert np.isclose(ratio, 1.0).mean() == pytest.approx(1.0 / 3.0, abs=0.1)


def test_communication_and_the_slowest_node_count():
    """100 ms at speed 0.5 are 200; barriers after 30, 60 and 90 ms of CPU, 25 ms each; twice the sum."""
    setup = scenario(
        workload__cpu_ms={"kind": "fixed", "mean": 100.0}, workload__tasks__parallel_share=1.0,
        workload__tasks__barrier_ms=30.0, workload__tasks__communication_ms=25.0, cluster__context_switch_ms=0.0,
        cluster__group=[{"count": 1, "cpu_speed": 0.5}], workload__requested_over_actual__mean=2.0,
    )  # fmt: skip
    assert work_of(setup, 1).requested_ms == pytest.approx(2.0 * (200.0 + 3 * 25.0))


def test_a_request_is_no_less_than_the_run():
    for law, said in (
        ({"mean": 0.9}, r"requested_over_actual\.mean 0\.9: must be at least 1"),
        ({"kind": "lifetime", "minimum": 0.5, "maximum": 2.0}, r"requested_over_actual\.minimum 0\.5: must be"),
    ):
        with pytest.raises(InputError, match=said):
            scenario(workload__requested_over_actual=law)


def test_field_9_of_a_log(tmp_path: Path):
    """300 s, not known (-1), and 0, read as not known."""
    path = tmp_path / "log.swf"
    path.write_text("".join(swf_line(n, n, 100, requested) for n, requested in enumerate([300, -1, 0])))
    of_trace = {"workload": {"kind": "trace", "trace": {"file": str(path)}}}
    found = work_of(scenario(**of_trace), 1).requested_ms
    assert found is not None
    assert found[0] == 300_000.0
    assert np.isnan(found[1:]).all()
    # CPU times that are halved, and with them the requests; gaps are drawn: 50 s, and a switch, three times.
    scaled = scenario(
        **of_trace, workload__trace__cpu_scale=0.5, workload__requested_over_actual__mean=3.0,
        cluster__context_switch_ms=0.0,
    )  # fmt: skip
    assert work_of(scaled, 1).requested_ms == pytest.approx([150_000.0, 150_000.0, 150_000.0])
    path.write_text("".join(swf_line(n, n, 100, -1) for n in range(3)))
    assert work_of(scenario(**of_trace), 1).requested_ms is None


def test_a_column_of_a_csv(tmp_path: Path):
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(gzip.compress(b"arrival_ms,cpu_ms,requested_ms\n0,10,25.5\n5,10,\n7,10,3\n"))
    setup = scenario(workload={"kind": "trace", "trace": {"file": str(path)}})
    found = work_of(setup, 1).requested_ms
    assert found is not None
    assert found[[0, 2]].tolist() == [25.5, 3.0]
    assert np.isnan(found[1])
    path.write_bytes(gzip.compress(b"arrival_ms,cpu_ms,requested_ms\n0,10,0\n"))
    with pytest.raises(InputError, match="requested_ms = '0': allowed: a number above 0"):
        work_of(setup, 1)


def test_converting_a_log_keeps_them(tmp_path: Path):
    log, table = tmp_path / "log.swf", tmp_path / "jobs.csv"
    log.write_text(swf_line(1, 0, 100, 300) + swf_line(2, 1, 100, -1))
    write_csv(read_trace(log), table)
    assert table.read_text().splitlines() == [
        "arrival_ms,cpu_ms,tasks,requested_ms,recorded_wait_ms,user,group", "0.0,100000.0,1,300000.0,0.0,1,1",
        "1000.0,100000.0,1,,0.0,1,1",
    ]  # fmt: skip

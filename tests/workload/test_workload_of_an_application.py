"""An application replaces distributions of the workload; its numbers are easy to follow."""

from __future__ import annotations

import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.workload import applications, job_table
from cluster_abm.workload.applications import as_application
from cluster_abm.workload.drawing.draws import mean_of

# 1000 accesses of 64 KB take 8 ms of seek and 2 ms of transfer each: 10 s of I/O.
FACTS = {"request_kb": 64.0, "requests_per_process": 1000, "processes": 4, "cpu_share": 0.25, "write_share": 0.375}
CLUSTER = {"cluster__disk_seek_rotation_ms": 8.0, "cluster__disk_mb_per_s": 32.0}


@pytest.fixture(autouse=True)
def _facts(monkeypatch):
    monkeypatch.setattr(applications, "applications", lambda: {"cholesky": FACTS})


@pytest.mark.parametrize(("keys", "cpu_ms", "io_per_ms"), [
    # CPU is a quarter of the time, so it is a third of the I/O.
    ({}, 10_000 / 3, 0.3), ({"scale": 3.0}, 10_000.0, 0.3), ({"cpu_share": 0.5}, 10_000.0, 0.1),
    ({"cpu_share": 0.8, "scale": 0.5}, 20_000.0, 0.025),
])  # fmt: skip
def test_the_work_of_an_application(keys, cpu_ms, io_per_ms):
    setup = scenario(
        **CLUSTER, workload__application={"name": "cholesky", "scale": 1.0} | keys, workload__memory_mb__mean=7.0
    )
    found = as_application(setup.workload, setup.cluster)
    assert (found.cpu_ms.kind, found.cpu_ms.mean) == ("fixed", pytest.approx(cpu_ms))
    assert (found.io_per_ms.kind, found.io_per_ms.mean) == ("fixed", pytest.approx(io_per_ms))
    # Requests as in IOCM: gamma with a standard deviation of half of the mean.
    assert (found.request_kb.kind, found.request_kb.mean, found.request_kb.sd) == ("gamma", 64.0, 32.0)
    assert (found.write_share, mean_of(found.initial_data_mb)) == (0.375, 0.0)
    assert found.tasks.mean == 4.0
    # Other distributions stay.
    assert found.memory_mb == setup.workload.memory_mb


def test_all_processes_are_equal_and_have_accesses():
    setup = scenario(**CLUSTER, workload__application={"name": "cholesky", "scale": 1.0},
                     workload__no_io_share=0.5, workload__utilisation=None, workload__jobs=5)  # fmt: skip
    jobs = job_table(setup, 1)
    assert jobs["tasks"].tolist() == [4] * 5
    assert jobs["cpu_ms"] == pytest.approx([10_000 / 3] * 5)
    assert jobs["io_per_ms"] == pytest.approx([0.3] * 5)


def test_no_application_changes_nothing():
    setup = scenario()
    assert as_application(setup.workload, setup.cluster) is setup.workload


@pytest.mark.parametrize(("scale", "fits"), [(1e8, True), (3e8, True), (3.1e8, False)])
def test_a_scale_that_is_too_large(scale, fits):
    """1e4 / 3 ms x 3e8 = 1e12 ms, the largest CPU time."""
    setup = scenario(**CLUSTER, workload__application={"name": "cholesky", "scale": scale})
    if fits:
        assert as_application(setup.workload, setup.cluster).cpu_ms.mean == pytest.approx(scale * 1e4 / 3)
        return
    with pytest.raises(InputError, match=r"workload\.application\.scale = 3\.1e\+08: a task of it would compute"):
        as_application(setup.workload, setup.cluster)

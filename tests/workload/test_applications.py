"""IOCM's applications: what a job of each is."""

import numpy as np
import pytest
from support import scenario

from cluster_abm import ClusterModel, load_scenario
from cluster_abm.errors import InputError
from cluster_abm.workload.applications import applications, as_application

NAMES = sorted(applications())


def test_the_five():
    assert NAMES == ["cholesky", "dmine", "lu", "pgrep", "titan"]
    # LU: 8192 x 8192 doubles in 8,256 reads and 128 writes a process (SC 2008).
    lu = applications()["lu"]
    assert lu["requests_per_process"] == 8256 + 128
    assert lu["request_kb"] == pytest.approx((8256 * 353.037 + 128 * 524.544) / 8384, abs=0.01)
    assert lu["write_share"] == pytest.approx(128 / 8384, abs=1e-4)
    # Pgrep reads 475 MB in 18,655 files, Dmine 4 GB: eight processes each.
    assert applications()["pgrep"]["requests_per_process"] * 8 == pytest.approx(18_655, rel=1e-3)
    assert applications()["dmine"]["requests_per_process"] * 8 * 131.072 / 1e6 == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_a_job_computes_its_share_and_reads_its_data(name):
    chosen = load_scenario(
        "iocm-applications", {"workload.application": {"name": name, "cpu_share": 0.3, "scale": 0.02}}
    )
    workload = as_application(chosen.workload, chosen.cluster)
    facts = applications()[name]
    cpu_ms, rate = workload.cpu_ms.mean, workload.io_per_ms.mean
    assert cpu_ms * rate == pytest.approx(0.02 * facts["requests_per_process"])
    io_ms = cpu_ms * rate * (8.0 + facts["request_kb"] / 40.0)
    assert cpu_ms / (cpu_ms + io_ms) == pytest.approx(0.3)
    jobs = ClusterModel(
        chosen.model_copy(update={"workload": chosen.workload.model_copy(update={"jobs_per_s": 0.1})})
    ).jobs
    assert set(jobs["tasks"]) == {facts["processes"]}
    assert np.allclose(jobs["cpu_ms"], cpu_ms)
    assert not jobs["initial_data_mb"].any()
    assert np.allclose(jobs["barrier_ms"], 100.0)


def test_unknown_ones_and_impossible_shares_are_refused():
    with pytest.raises(InputError, match=r"workload\.application\.name"):
        scenario(workload__application__name="linpack")
    with pytest.raises(InputError, match="less than 1"):
        scenario(workload__application={"name": "lu", "cpu_share": 1.0})

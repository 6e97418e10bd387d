"""The load that a scenario offers, by hand."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from cluster_abm import ClusterModel
from cluster_abm.scenario import load_scenario, scenario_from
from cluster_abm.workload import RunJobs, job_table, offered_load, work_of
from cluster_abm.workload.offered import warnings_of


def two_jobs(tmp_path, last_ms=10_000, **cluster):
    """Two jobs within 10 s: 2 s of CPU and 20 accesses each, of 400 KB; 100 MB."""
    trace = tmp_path / "jobs.csv"
    lines = [f"{arrival},0,2000,0.01,100,400" for arrival in (0, last_ms)]
    trace.write_text("\n".join(["arrival_ms,home,cpu_ms,io_per_ms,memory_mb,request_kb", *lines]) + "\n")
    return scenario_from(
        {
            "cluster": {"nodes": 2, "buffer_mb": 0.0, "disk_seek_rotation_ms": 10.0, "disk_mb_per_s": 20.0, **cluster},
            "workload": {"kind": "trace", "trace": {"file": str(trace)}},
        }
    )


def load_of(scenario):
    return offered_load(scenario, work_of(scenario, 1))


def test_by_hand(tmp_path):
    """4 s of CPU in 10 s on two cores: 0.2. 40 requests of 10 + 20 ms: 1.2 s on two disks: 0.06. Each is alive for
    2 s and 20 x 30 ms = 2.6 s: 2 x 100 MB x 2.6 s in 10 s of 2 x 640 MB: 0.040625."""
    load = load_of(two_jobs(tmp_path))
    assert (load.cpu, load.disk, load.memory) == pytest.approx((0.2, 0.06, 0.040625))
    assert load.window_s == 10.0


def test_cores_and_channels(tmp_path):
    """Two nodes of 4 cores at speed 2: 4 s over 10 s of 16. On three channels seek and transfer take 40 x 30/3 ms of
    two disks' 20 s, transfers alone 40 x 20 ms, which is more."""
    load = load_of(two_jobs(tmp_path, cores=4, cpu_speed=2.0, disk_channels=3))
    assert load.cpu == pytest.approx(4 / 160)
    assert load.disk == pytest.approx(0.8 / 20)


@pytest.mark.slow
def test_the_jobs_of_a_scenario_offer_the_utilisation_that_it_asks_for():
    given = {"workload": {"utilisation": 0.6, "duration_s": 20_000.0}, "cluster": {"nodes": 4, "cores": 8}}
    assert load_of(scenario_from(given)).cpu == pytest.approx(0.6, rel=0.05)


def test_no_window_no_load(tmp_path):
    assert load_of(two_jobs(tmp_path, last_ms=0)) is None
    closed = {"workload": {"arrivals": {"kind": "closed", "users_per_node": 1, "jobs_per_user": 1}}}
    assert load_of(scenario_from(closed)) is None


def test_programs_count_by_their_phases():
    """The accesses, and the memory held in each phase, are those of the profiles."""
    scenario = load_scenario("memory-centric")
    jobs = job_table(scenario, 1)
    load = offered_load(scenario, RunJobs(jobs, None))
    cpu_ms = float((jobs["cpu_ms"] * jobs["tasks"]).sum())
    assert load.cpu == pytest.approx(cpu_ms / 1000 / scenario.cluster.nodes / load.window_s)
    assert load.memory > 1.0


def test_hits_of_the_buffer_are_left_out(tmp_path):
    """Re-accessed three times, all data in the buffer: 3 of 4 accesses are hits."""
    plain = two_jobs(tmp_path, buffer_mb=160.0)
    again = plain.model_copy(update={"workload": plain.workload.model_copy(update={"reaccess_rate": 3.0})})
    assert load_of(again).disk == pytest.approx(load_of(plain).disk / 4)


@pytest.mark.parametrize(
    ("cluster", "jobs", "said"),
    [
        ({}, 2.0, ["offered load: CPU 2"]),
        ({}, 0.5, []),
        ({"memory_mb": 200.0}, 0.9, ["literal law"]),
        ({"memory_mb": 200.0, "page_fault_ratio_cap": 1.5}, 0.9, []),
    ],
)
def test_what_is_said_before_the_run(cluster, jobs, said):
    given = {
        "cluster": {"nodes": 4, "buffer_mb": 0.0, **cluster},
        "workload": {
            "utilisation": jobs, "duration_s": 4000.0, "io_per_ms": {"kind": "fixed", "mean": 0.0},
            "memory_mb": {"kind": "fixed", "mean": 150.0},
        },
    }  # fmt: skip
    scenario = scenario_from(given)
    lines = warnings_of(scenario, load_of(scenario))
    assert len(lines) == len(said)
    for line, words in zip(lines, said, strict=True):
        assert words in line


def test_it_is_in_the_summary():
    model = ClusterModel("quickstart", seed=1)
    load = model.offered_load
    assert model.summary()["offered_load"] == {"cpu": load.cpu, "disk": load.disk, "memory": load.memory}
    assert np.isfinite(list(load)).all()


WHAT_IS_LEFT = runpy.run_path(str(Path(__file__).parents[2] / "scenarios" / "what_is_left.py"))


@pytest.mark.parametrize(("disk", "memory"), [(0.8, 0.05), (0.05, 0.4)])
@pytest.mark.parametrize("preset", WHAT_IS_LEFT["PRESETS"])
def test_the_presets_of_a_study_are_offered_the_same_loads(preset, disk, memory):
    settings = WHAT_IS_LEFT["work"](preset, disk=disk, memory=memory)
    load = load_of(load_scenario("cpu-bound", settings))
    # The demands of 9,000 jobs and more, exponential, and their number: three standard deviations are 4.5 %.
    assert (load.cpu, load.disk, load.memory) == pytest.approx((0.5, disk, memory), rel=0.05)

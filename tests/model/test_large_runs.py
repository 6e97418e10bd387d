"""Rows in files and in blocks change no result: runs small enough to be held against those in memory."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from support import busy, scenario

from cluster_abm import ClusterModel, large_tables
from cluster_abm.engine.tables import NEVER
from cluster_abm.errors import InputError
from cluster_abm.large_tables import mapping_of
from cluster_abm.model.observing import measurements
from cluster_abm.study.runner.measuring import load_over_time, measure_run

MEMORY_SHORT = {
    "cluster__memory_mb": 60.0, "cluster__buffer_in_memory": False, "cluster__swap_mb": 20.0,
    "workload__memory_mb__mean": 15.0,
    "workload__tasks__parallel_share": 0.5, "workload__tasks__maximum": 3, "workload__utilisation": 0.9,
    "workload__cpu_ms__mean": 400.0,
}  # fmt: skip
BARRIERS = {
    "workload__tasks__parallel_share": 0.6, "workload__tasks__maximum": 4, "workload__tasks__barrier_ms": 30.0,
    "workload__tasks__communication_ms": 3.0, "workload__io_per_ms__mean": 0.02, "workload__cpu_ms__mean": 200.0,
}  # fmt: skip
FAILING = {"kind": "exponential", "mean_up_s": 5.0, "mean_down_s": 1.0}
RUNS = {
    "everything": busy(),
    "barriers": BARRIERS,
    "barriers, pooled": BARRIERS | {"policy__name": "pooled"},
    "kills": MEMORY_SHORT | {"policy__name": "jsq"},
    "failures": busy(failures__node=FAILING, run__until=30_000.0),
    "users": {
        "workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 9,
        "workload__arrivals__users_per_node": 3,
    },
    "programs": {"workload__programs__mix": {"bit-r": 1.0, "metis": 1.0}, "workload__jobs": 30, "run__until": 9e4},
    "bursts": {"workload__arrivals__kind": "bursty", "workload__cpu_ms": {"kind": "hbd97", "mean": 300.0}},
    "no job ends": {"run__until": 10.0},
}  # fmt: skip


def made(settings):
    return ClusterModel(scenario(measure__period_ms=200.0, **settings), seed=5)


def results(model):
    frames = model.jobs_frame(), model.nodes_frame(), model.decisions_frame()
    return json.dumps(model.summary()), *(frame.to_csv() for frame in frames), json.dumps(measure_run(model))


def in_files(monkeypatch):
    monkeypatch.setattr(large_tables, "MOST_IN_MEMORY", 0)
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 11)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_rows_in_files_change_no_result(monkeypatch, name):
    plain = made(RUNS[name])
    plain.run()
    expected = results(plain)
    in_files(monkeypatch)
    model = made(RUNS[name])
    assert mapping_of(model.jobs) is not None
    assert mapping_of(model.engine.records) is not None
    model.run()
    assert results(model) == expected
    if name == "kills":
        assert model.summary()["jobs"]["killed"] > 0


@pytest.mark.slow
def test_nor_do_they_slice_by_slice(monkeypatch):
    plain = made(busy())
    plain.run()
    expected = results(plain)
    in_files(monkeypatch)
    model = made(busy())
    while model.running:
        model.step()
    assert results(model) == expected


@pytest.mark.slow
def test_of_summaries_on_the_way_each_is_up_to_date(monkeypatch):
    plain, counts = made(busy()), []
    in_files(monkeypatch)
    model = made(busy())
    for until_ms in (2000.0, 9000.0, None):
        plain.run(until_ms=until_ms)
        model.run(until_ms=until_ms)
        assert model.summary() == plain.summary()
        counts.append(model.summary()["jobs"]["finished"])
    assert counts == sorted(set(counts))


def test_agents_of_a_run_in_files_know_their_tasks(monkeypatch):
    in_files(monkeypatch)
    model = made(busy())
    model.run(until_ms=5000.0)
    jobs = list(model.agents_by_type[model.job_class])
    assert {job.width for job in jobs} == set(model.jobs["tasks"][[job.job for job in jobs]].tolist())
    assert all(job.state in ("running", "held") for job in jobs)
    model.run()
    assert not len(model.agents_by_type[model.job_class])
    assert {job.state for job in jobs} == {"finished"}


@pytest.mark.slow
def test_pieces_are_the_whole_frames(monkeypatch):
    model = made(busy())
    model.run()
    jobs, nodes = model.jobs_frame(), model.nodes_frame()
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 13)
    for pieces, whole in ((model.jobs_pieces(), jobs), (model.parts.measurements.pieces(), nodes)):
        found = list(pieces)
        assert {len(piece) for piece in found[:-1]} == {13}
        pd.testing.assert_frame_equal(pd.concat(found, ignore_index=True), whole)
    some = model.parts.measurements.frame(("node", "tasks"))
    pd.testing.assert_frame_equal(some, nodes[["node", "tasks"]])
    assert np.array(load_over_time(model)["tasks"]).shape[0] == 4


def test_measurements_that_are_thinned_out_are_the_same_in_files(monkeypatch):
    monkeypatch.setattr(measurements, "FEWEST_KEPT", 8)
    monkeypatch.setattr(measurements, "MOST_ROWS", 1)
    plain = made(busy())
    plain.run()
    expected = plain.nodes_frame()
    in_files(monkeypatch)
    model = made(busy())
    model.run()
    assert len(expected) < 8 * 4
    pd.testing.assert_frame_equal(model.nodes_frame(), expected)


def test_a_disk_that_is_full_in_the_middle_of_a_run_loses_no_measurement(monkeypatch):
    plain = made(busy())
    plain.run()
    expected = plain.nodes_frame()
    monkeypatch.setattr(large_tables, "MOST_IN_MEMORY", 50_000)
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 64)
    model = made(busy())

    def full(*_, **__):
        raise InputError("no room")

    monkeypatch.setattr(large_tables, "zeros", full)
    model.run()
    pd.testing.assert_frame_equal(model.nodes_frame(), expected)


def test_a_frame_that_does_not_fit_is_refused_and_its_pieces_are_not(monkeypatch):
    model = made(busy())
    model.run()
    monkeypatch.setattr("cluster_abm.limits.memory_bytes", lambda: 100_000.0)
    with pytest.raises(InputError, match=r"jobs_frame\(\), .* `run --out` .* rows take about .* fit"):
        model.jobs_frame()
    assert sum(len(piece) for piece in model.jobs_pieces()) == model.engine.finished


def test_jobs_of_one_task_have_no_barrier_to_wait_at():
    model = made({})
    assert not model.engine.tables.barriers["tasks"].any()
    assert len(model.engine.tables.pending_jobs) == 0
    model.run(until_ms=3000.0)
    for job in model.agents_by_type[model.job_class]:
        # Its step asks whether the job's tasks have all come.
        model.engine.open_barrier(job.job, model.now_ns)
    model.run()
    assert model.summary()["jobs"]["finished"] == len(model.jobs)


def test_the_schedule_is_that_of_the_table(monkeypatch):
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 3)
    model = made({"workload__jobs": 100})
    schedule, arrivals = model.parts.submissions.schedule, model.jobs["arrival_ns"].copy()
    rng = np.random.default_rng(3)
    for boundary in np.sort(rng.integers(0, arrivals[-1] + 10**9, 40)).tolist():
        before = schedule.submitted
        assert schedule.take(boundary).tolist() == list(range(before, int((arrivals < boundary).sum())))
        # Far ahead, and near again.
        for time in (boundary, boundary + int(rng.integers(10**10)), boundary - 1):
            coming = arrivals[arrivals > time]
            assert schedule.first_after(time) == (coming[0] if len(coming) else NEVER)


PEAK = """
import sys
from cluster_abm import ClusterModel
seconds = float(sys.argv[1])
model = ClusterModel("cpu-bound", seed=1, keep_decisions=False, cluster__nodes=1000, workload__utilisation=0.7,
                     workload__duration_s=seconds)
model.run()
model.summary()
# Not `ru_maxrss`, which begins with the size of the process that started this one.
peak_kb = int(next(line for line in open("/proc/self/status") if "VmHWM" in line).split()[1])
print(model.engine.finished, peak_kb // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_work():
    """Ten times the jobs: 210,000, of which all would be in memory, and 2.1 million."""

    def run(seconds):
        done = subprocess.run([sys.executable, "-c", PEAK, str(seconds)], capture_output=True, text=True, check=True)
        return [int(number) for number in done.stdout.split()]

    run(1)
    (few, small_mb), (many, large_mb) = run(300), run(3000)
    assert many > 9 * few
    # What a summary sums over: some columns of 8 bytes at a time. A row of the table of jobs alone has 128.
    assert large_mb - small_mb < (many - few) * 60 / 1e6
    assert large_mb < 600

"""Workflows by their run times: what is neither CPU nor disk is a pause, and the critical path takes what it took."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import PLAIN, finished, scenario

from cluster_abm import ClusterModel, limits
from cluster_abm.engine.tables import JOB
from cluster_abm.errors import InputError
from cluster_abm.study.fitting.log import read_log
from cluster_abm.workload import work_of
from cluster_abm.workload.laws.bound import mean_isolated_ms
from cluster_abm.workload.requests import alone_ms
from cluster_abm.workload.traces import LogReading, read_trace, trace_info
from cluster_abm.workload.traces.run_times import ACCESS_CPU_MS, pause_jobs

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
SLICE_MS = 10.0
Tasks = dict[str, tuple[list[str], dict[str, Any]]]

# a -> {b, c} -> d: by run time a, b, d are the longest chain, 10 + 30 + 5 s; by CPU time a, c, d, 10 + 20 + 0 s.
DIAMOND: Tasks = {
    "a": ([], {"runtimeInSeconds": 10.0, "avgCPU": 100.0}),
    "b": (["a"], {"runtimeInSeconds": 30.0, "avgCPU": 10.0}),
    "c": (["a"], {"runtimeInSeconds": 20.0, "avgCPU": 100.0}),
    "d": (["b", "c"], {"runtimeInSeconds": 5.0, "avgCPU": 0.0}),
}


def written(folder: Path, tasks: Tasks) -> Path:
    path = folder / "w.json"
    described = [{"name": name, "id": name, "parents": parents} for name, (parents, _) in tasks.items()]
    ran = [{"id": name} | fields for name, (_, fields) in tasks.items()]
    path.write_text(json.dumps({"workflow": {"specification": {"tasks": described}, "execution": {"tasks": ran}}}))
    return path


def keys_of(path: Path, **more: Any) -> dict[str, Any]:
    """Many nodes without any cost of their own, each task on one that is idle."""
    return PLAIN | {
        "workload__kind": "trace", "workload__trace__file": str(path), "workload__trace__cpu_time": "run",
        "cluster__nodes": 64, "cluster__cores": 64, "cluster__disk_channels": 1, "policy__name": "jsq",
        "cluster__memory_mb": 1e6,
    } | more  # fmt: skip


def makespan_s(path: Path, **more: Any) -> float:
    return float(finished(1, **keys_of(path, **more)).summary()["metrics"]["makespan_ms"]) / 1000.0


def test_the_makespan_is_the_critical_path_of_the_run_times(tmp_path: Path) -> None:
    """An end becomes known with its slice, twice on the way."""
    path = written(tmp_path, DIAMOND)
    assert makespan_s(path) == pytest.approx(45.0, abs=2 * SLICE_MS / 1000.0 + 1e-6)
    # By CPU time d is no job, and the others are over with c.
    assert makespan_s(path, workload__trace__cpu_time="used") == pytest.approx(30.0, abs=0.0101)


@pytest.mark.parametrize(
    ("busy", "tasks", "cpu_ms"), [(250.0, 3, 25_000.0), (400.0, 4, 30_000.0), (100.0, 1, 30_000.0)]
)
def test_a_task_that_kept_several_cores_busy_takes_its_run_time(
    tmp_path: Path, busy: float, tasks: int, cpu_ms: float
) -> None:
    """b is on the critical path, and as many tasks as it kept cores busy: each takes the 30 s, with its CPU time."""
    path = written(tmp_path, DIAMOND | {"b": (["a"], {"runtimeInSeconds": 30.0, "avgCPU": busy})})
    model = finished(1, **keys_of(path))
    frame = model.jobs_frame()
    assert float(frame["finish_ms"].max()) == pytest.approx(45_000.0, abs=2 * SLICE_MS + 1e-3)
    of_b = frame[(frame["finish_ms"] - frame["arrival_ms"] - 30_000.0).abs() < 2 * SLICE_MS]
    assert of_b["cpu_ms"].tolist() == pytest.approx([cpu_ms] * tasks, abs=1e-3)


def test_a_faster_cpu_shortens_the_cpu_time_alone(tmp_path: Path) -> None:
    """At speed 2: 5 s of a; 1.5 s of CPU and 27 s of pauses of b, which is longer than the 10 s of c; 5 s of d."""
    assert makespan_s(written(tmp_path, DIAMOND), cluster__cpu_speed=2.0) == pytest.approx(38.5, abs=0.021)


def test_all_times_are_scaled(tmp_path: Path) -> None:
    path = written(tmp_path, DIAMOND)
    assert makespan_s(path, workload__trace__cpu_scale=0.1) == pytest.approx(4.5, abs=0.021)


def test_what_a_run_time_explains_by_hand(tmp_path: Path) -> None:
    """CPU: 10 + 3 + 20 of 65 s; along a, b, d: 13 of 45 s. d used no CPU, and counts although it is no job."""
    path = written(tmp_path, DIAMOND)
    for cpu_time in ("used", "run"):
        found = trace_info(read_trace(path, reading=LogReading(cpu_time=cpu_time)))["run_time"]  # type: ignore[arg-type]
        assert found == {
            "total_s": 65.0, "cpu_s": pytest.approx(33.0, abs=1e-5), "cpu_share": pytest.approx(33 / 65, abs=1e-6),
            "critical_path_s": 45.0, "critical_path_cpu_s": pytest.approx(13.0, abs=1e-5),
            "critical_path_cpu_share": pytest.approx(13 / 45, abs=1e-6),
            "hint": 'CPU explains 29 % of the run times on the critical path: workload.trace.cpu_time = "run" takes '
            "the run times",
        }  # fmt: skip
    trace = read_trace(path)
    assert (trace.skipped, len(trace.jobs)) == ({"zero CPU time": 1}, 3)
    trace = read_trace(path, reading=LogReading(cpu_time="run"))
    assert (trace.skipped, trace.noted) == ({}, {"no CPU use, 1 us taken": 1})


def test_cpu_that_explains_enough_gives_no_hint(tmp_path: Path) -> None:
    fields = {"runtimeInSeconds": 10.0, "avgCPU": 50.0}
    found = trace_info(read_trace(written(tmp_path, {"a": ([], fields), "b": (["a"], fields)})))["run_time"]
    assert (found["cpu_share"], found["critical_path_cpu_share"], found["hint"]) == (0.5, 0.5, None)


def test_bytes_are_part_of_the_run_time(tmp_path: Path) -> None:
    """2 s of CPU and, at 10 MB/s, 3 s for all of 30 MB: 5 s of pauses. On a disk of 2 MB/s it is 15 s: 17 s in all."""
    fields = {"runtimeInSeconds": 10.0, "avgCPU": 20.0, "readBytes": 30_000_000}
    path = written(tmp_path, {"a": ([], fields)})
    disk = {
        "workload__trace__disk_read_share": 1.0, "cluster__disk_seek_rotation_ms": 0.0, "cluster__disk_mb_per_s": 10.0,
        "workload__request_kb__kind": "fixed", "workload__request_kb__mean": 100.0,
    }  # fmt: skip
    model = finished(1, **keys_of(path, **disk))
    row = model.jobs_frame().iloc[0]
    assert row["finish_ms"] == pytest.approx(10_000.0, abs=0.001)
    assert (row["cpu_ms"], row["io_ms"], row["barrier_ms"]) == pytest.approx((2000.0, 3000.0, 5000.0), abs=0.001)
    assert row["io_requests"] == 300
    assert row["slowdown"] == pytest.approx(1.0, abs=1e-6)
    assert model.parts.work.remarks == ()
    slow = finished(1, **keys_of(path, **disk | {"cluster__disk_mb_per_s": 2.0}))
    assert slow.jobs_frame()["finish_ms"][0] == pytest.approx(17_000.0, abs=0.001)
    assert slow.parts.work.remarks == (
        "run times: 1 jobs: CPU and bytes take longer than the run time on these disks: the bytes stay",
    )


def test_cpu_time_beyond_the_run_time_is_cut_to_it(tmp_path: Path) -> None:
    """1.05 cores for 10 s are one task: it takes its 10 s, and 1.5 cores are two tasks of 75 % each."""
    path = written(tmp_path, {"a": ([], {"runtimeInSeconds": 10.0, "avgCPU": 105.0})})
    model = finished(1, **keys_of(path))
    assert model.jobs_frame()["finish_ms"].tolist() == pytest.approx([10_000.0])
    assert model.parts.work.remarks == ("run times: 1 jobs: more CPU time than run time, cut to it",)
    path = written(tmp_path, {"a": ([], {"runtimeInSeconds": 10.0, "avgCPU": 150.0})})
    frame = finished(1, **keys_of(path)).jobs_frame()
    assert frame["finish_ms"].tolist() == pytest.approx([10_000.0] * 2)
    assert frame["cpu_ms"].tolist() == pytest.approx([7500.0] * 2)


def test_a_pausing_task_holds_its_memory_and_asks_for_no_cpu(tmp_path: Path) -> None:
    """Ten tasks of 5 %: 45 ms of CPU, then 950 ms without, and so on."""
    fields = {"runtimeInSeconds": 10.0, "avgCPU": 5.0, "memoryInBytes": 7_000_000}
    path = written(tmp_path, {f"t{number}": ([], fields) for number in range(10)})
    model = ClusterModel(scenario(**keys_of(path, cluster__nodes=1, cluster__cores=16)), seed=1)
    while model.now_ms < 500.0:
        model.step()
    node = model.engine.nodes[0]
    assert (node["tasks"], node["running"], node["ready_count"]) == (10, 0, 0)
    assert node["demand_kb"] == 70_000


def test_pauses_leave_the_core_to_others(tmp_path: Path) -> None:
    """Ten tasks of 5 % on one core: were their pauses CPU time, they would be over after 100 s."""
    fields = {"runtimeInSeconds": 10.0, "avgCPU": 5.0}
    path = written(tmp_path, {f"t{number}": ([], fields) for number in range(10)})
    frame = finished(1, **keys_of(path, cluster__nodes=1, cluster__cores=1)).jobs_frame()
    # Each may wait for all others' CPU time, no more.
    assert frame["finish_ms"].between(10_000.0 - 0.001, 10_000.0 + 9 * 500.0).all()
    assert frame["cpu_ms"].tolist() == pytest.approx([500.0] * 10)


def test_tables_of_ours_say_run_times_too(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms,home,recorded_run_ms\n0,1000,0,4000\n0,1000,1,\n0,1000,2,500\n")
    for cpu_time, ends_ms in (("run", [4000.0, 1000.0, 500.0]), ("used", [1000.0] * 3)):
        chosen = keys_of(path, policy__name="none", workload__trace__cpu_time=cpu_time)
        frame = finished(1, **chosen).jobs_frame().set_index("job").sort_index()
        assert frame["finish_ms"].tolist() == pytest.approx(ends_ms)


def test_what_a_task_takes_alone_is_known_before_the_run(tmp_path: Path) -> None:
    """It is what requested times are drawn in proportion to, and what the bound of slowdowns is taken from."""
    path = written(tmp_path, DIAMOND)
    chosen = scenario(**keys_of(path))
    work = work_of(chosen, 1)
    assert alone_ms(work.jobs, chosen, work.programs) == pytest.approx([10_000, 30_000, 20_000, 5000])
    assert mean_isolated_ms(chosen) == pytest.approx(65_000 / 4)


def test_profiles_that_do_not_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "memory_bytes", lambda: 1000.0)
    jobs = np.ones(30, JOB)
    with pytest.raises(InputError, match=r'workload\.trace\.cpu_time = "run": 20 jobs with a run time take about'):
        pause_jobs(jobs, np.array([5.0] * 20 + [np.nan] * 10), scenario().cluster)


def test_pauses_are_nothing_to_fit(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "arrival_ms,cpu_ms,recorded_run_ms\n" + "".join(f"{number * 1000},10,20\n" for number in range(500))
    )
    with pytest.raises(InputError, match=r'cpu_time = "run": its tasks pause.* allowed for a fit: "used"'):
        read_log(scenario(**keys_of(path)))


def test_profiles_of_programs_and_run_times_exclude_each_other(tmp_path: Path) -> None:
    path = written(tmp_path, DIAMOND)
    with pytest.raises(InputError, match=r'workload\.trace\.cpu_time = "run".*workload\.programs must hold nothing'):
        work_of(scenario(**keys_of(path, workload__programs__mix={"bit-r": 1.0})), 1)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cpu_ms=st.floats(0.001, 5000.0), run_ms=st.floats(0.001, 20_000.0), disk_mb=st.floats(0.0, 40.0),
    request_kb=st.floats(1.0, 500.0),
)  # fmt: skip
def test_alone_a_task_takes_its_run_time_or_what_it_has_to_do(
    tmp_path: Path, cpu_ms: float, run_ms: float, disk_mb: float, request_kb: float
) -> None:
    """Whatever its numbers: no bytes are lost, no CPU is added beyond what accesses need, and pauses fill the rest."""
    path = tmp_path / "jobs.csv"
    path.write_text(
        f"arrival_ms,cpu_ms,home,recorded_run_ms,disk_mb,request_kb\n0,{cpu_ms},0,{run_ms},{disk_mb},{request_kb}\n"
    )
    chosen = keys_of(path, policy__name="none", cluster__nodes=1, workload__request_kb={"kind": "fixed", "per": "job"})
    model = finished(1, **chosen)
    job, row = model.parts.work.jobs[0], model.jobs_frame().iloc[0]
    kind = model.setup.cluster
    accesses = row["io_requests"]
    assert accesses * job["request_kb"] == pytest.approx(disk_mb * 1000.0, rel=1e-9)
    own_ms = min(cpu_ms, run_ms)
    assert own_ms - 1e-6 <= row["cpu_ms"] <= max(own_ms, 0.001 + accesses * ACCESS_CPU_MS) + 1e-6
    disk_ms = accesses * kind.disk_seek_rotation_ms + disk_mb * 1000.0 / kind.disk_mb_per_s
    # A nanosecond for each access, phase and CPU demand.
    rounding_ms = (accesses + 30) * 1e-6
    assert row["finish_ms"] == pytest.approx(max(run_ms, row["cpu_ms"] + disk_ms), abs=rounding_ms)
    phases = model.parts.work.phases
    assert phases["cpu_ms"].sum() == pytest.approx(job["cpu_ms"])
    assert (phases["accesses"].sum(), len(phases)) == (accesses, job["phases"])
    assert np.ptp(phases["accesses"]) <= 1


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), size=st.integers(2, 12))
def test_any_workflow_takes_its_critical_path(tmp_path: Path, data: st.DataObject, size: int) -> None:
    """Jobs of one to four tasks, some side by side: up to a slice for each job of the longest chain of run times."""
    tasks: Tasks = {}
    ends_s: dict[str, float] = {}
    depths: dict[str, int] = {}
    for number in range(size):
        name, before = f"t{number}", list(tasks)
        parents = data.draw(st.lists(st.sampled_from(before), unique=True, max_size=3)) if before else []
        run_s, busy = data.draw(st.integers(1, 40)) / 4.0, data.draw(st.sampled_from([0.0, 30.0, 100.0, 180.0, 390.0]))
        tasks[name] = (parents, {"runtimeInSeconds": run_s, "avgCPU": busy})
        ends_s[name] = run_s + max((ends_s[one] for one in parents), default=0.0)
        depths[name] = 1 + max((depths[one] for one in parents), default=0)
    took_s, path_s = makespan_s(written(tmp_path, tasks)), max(ends_s.values())
    assert path_s - 0.001 <= took_s <= path_s + max(depths.values()) * SLICE_MS / 1000.0


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the real workflows are not here; CLUSTER_ABM_DATA says where")
@pytest.mark.parametrize("name", [
    "bacass-dirt02-001", "blast-chameleon-small-001", "bwa-chameleon-small-001", "hic-dirt02-001",
    "methylseq-dirt02-001", "rnaseq-dirt02-001", "sarek-dirt02-001", "scrnaseq-dirt02-001",
])  # fmt: skip
def test_real_workflows_take_their_critical_path(name: str) -> None:
    """On many nodes, whose disks take no time: up to a slice for each job of a chain."""
    path = DATA / "wfinstances" / f"{name}.json.xz"
    info = trace_info(read_trace(path, reading=LogReading(cpu_time="run")))
    path_s, depth = info["run_time"]["critical_path_s"], info["dependence"]["depth"]
    took_s = makespan_s(path, cluster__disk_seek_rotation_ms=0.0, cluster__disk_mb_per_s=1e6)
    assert path_s - 0.001 <= took_s <= path_s + depth * SLICE_MS / 1000.0

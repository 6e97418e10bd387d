"""`sacct --json`: jobs and steps by hand, in the spellings of several versions, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import LogReading, read_trace, trace_info

BEGIN = 1_700_000_000


def tres(kind: str, count: int, name: str = "") -> dict[str, Any]:
    return {"type": kind, "name": name, "id": 1, "count": count}


def seconds(value: int, micro: int = 0) -> dict[str, int]:
    return {"seconds": value, "microseconds": micro}


def job(number: int, submit: int, wait: int, run: int, cpus: int, **more: Any) -> dict[str, Any]:
    start = BEGIN + submit + wait
    return {
        "job_id": number, "name": "a", "user": "ann", "group": "phys", "account": "acc", "partition": "short",
        "state": {"current": "COMPLETED", "reason": "None"}, "required": {"CPUs": cpus},
        "time": {"submission": BEGIN + submit, "start": start, "end": start + run, "elapsed": run, "limit": 30,
                 "total": seconds(0)},
        "tres": {"allocated": [tres("cpu", cpus), tres("mem", 500), tres("gres", 2, "gpu")], "requested": []},
        "steps": [],
    } | more  # fmt: skip


STEP = {
    "time": {"total": seconds(20, 1_500_000)}, "tasks": {"count": 2}, "step": {"id": "1.0", "name": "x"},
    "tres": {
        "requested": {"max": [tres("cpu", 9), tres("mem", 4_000_000), tres("fs", 10_000_000, "disk"), tres("fs", 7)]},
        "consumed": {"max": [tres("energy", -2), tres("fs", 1_000_000, "disk")]},
    },
}  # fmt: skip


def write(folder: Path, jobs: Any, **more: Any) -> Path:
    path = folder / "jobs.json"
    path.write_text(json.dumps({"meta": {"jobs": []}, "jobs": jobs} | more))
    return path


def test_jobs_and_steps_by_hand(tmp_path: Path) -> None:
    path = write(tmp_path, [job(1, 0, 10, 60, 4, steps=[STEP, STEP | {"tasks": {"count": 1}}]), job(2, 5, 0, 30, 1)])
    trace = read_trace(path, reading=LogReading(disk_read_share=1.0, disk_write_share=1.0))
    expected = pd.DataFrame({
        "arrival_ms": [0.0, 5000.0],
        # Two steps of 21.5 s on four processors; a job without a step that says 0 is left out below.
        "cpu_ms": [43_000.0 / 4, 30_000.0],
        # 4 MB of two tasks on four; 2 + 1 tasks read 10 MB and write 1 MB each.
        "memory_mb": [2.0, float("nan")],
        "tasks": [4.0, 1.0],
        "write_share": [3 / 33, float("nan")],
        "requested_ms": [1_800_000.0] * 2,
        "disk_mb": [33.0 / 4, float("nan")],
        "recorded_wait_ms": [10_000.0, 0.0],
        "name": ["a"] * 2, "user": ["ann"] * 2, "group": ["phys"] * 2, "partition": ["short"] * 2,
        "resources": ["gpu:2"] * 2,
    })  # fmt: skip
    assert (trace.rows, trace.skipped) == (4, {"step of a job, counted with it": 2, "zero CPU time": 1})
    pd.testing.assert_frame_equal(trace.jobs, expected[:1], rtol=1e-12)
    by_run_time = read_trace(path, reading=LogReading("run", disk_read_share=1.0, disk_write_share=1.0))
    expected["cpu_ms"] = [60_000.0, 30_000.0]
    pd.testing.assert_frame_equal(by_run_time.jobs, expected, rtol=1e-12)


def test_the_least_that_is_read(tmp_path: Path) -> None:
    """Neither steps nor TRES: the run time on the processors that were requested."""
    least = {
        "job_id": 1, "state": ["COMPLETED"], "required": {"CPUs": 2},
        "time": {"submission": BEGIN, "start": BEGIN + 10, "end": BEGIN + 610, "elapsed": 600},
    }  # fmt: skip
    trace = read_trace(write(tmp_path, [least]))
    assert trace.jobs[["cpu_ms", "tasks", "recorded_wait_ms"]].to_numpy().tolist() == [[600_000.0, 2.0, 10_000.0]]
    assert trace.noted["no processors allocated, those requested used"] == 1
    assert trace.format == "sacct"


def number(value: int, is_set: bool = True, infinite: bool = False) -> dict[str, Any]:
    return {"set": is_set, "infinite": infinite, "number": value}


@pytest.mark.parametrize(
    ("limit", "requested_ms"),
    [
        (30, 1_800_000.0), (number(30), 1_800_000.0), (number(30, is_set=False), None),
        (number(0, infinite=True), None), (4_294_967_295, None), (4_294_967_294, None), (None, None), ("x", None),
    ],
)  # fmt: skip
def test_spellings_of_a_time_limit(tmp_path: Path, limit: Any, requested_ms: float | None) -> None:
    one = job(1, 0, 0, 60, 1)
    one["time"] |= {"limit": limit, "total": seconds(5)}
    found = read_trace(write(tmp_path, [one])).jobs
    assert found.get("requested_ms", pd.Series([None])).tolist() == [requested_ms]


@pytest.mark.parametrize("state", ["FAILED", ["FAILED"], {"current": "FAILED"}, {"current": ["FAILED", "X"]}])
def test_spellings_of_a_state(tmp_path: Path, state: Any) -> None:
    one = job(1, 0, 0, 60, 1, state=state, steps=[STEP])
    cut_short = "cut short (failed, cancelled, out of time or memory, ...), its work counts"
    assert read_trace(write(tmp_path, [one])).noted[cut_short] == 1


def test_jobs_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    waiting = job(2, 0, 0, 0, 1, state={"current": ["PENDING"]})
    waiting["time"] |= {"start": 0, "end": 0, "elapsed": 0}
    no_submission = job(3, 0, 0, 5, 1, steps=[STEP])
    no_submission["time"]["submission"] = 0
    none = job(4, 0, 0, 5, 0, tres={"allocated": []}, steps=[STEP])
    odd = {"job_id": 5, "state": 7, "time": [], "tres": "x", "steps": {}, "required": None}
    trace = read_trace(write(tmp_path, [job(1, 0, 0, 5, 1, steps=[STEP]), waiting, no_submission, none, odd, {}]))
    assert trace.skipped == {
        "step of a job, counted with it": 3, "no job id": 1, "had not started": 1, "no submit time": 1,
        "no processors": 1, "state not known": 1,
    }  # fmt: skip
    assert trace.rows == 9


def test_other_json_is_told(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"nodes": []}')
    with pytest.raises(InputError, match=r"JSON, but not of `sacct --json`: allowed is a list `jobs`"):
        read_trace(path, format="sacct")


def test_ids_of_arrays_and_parts(tmp_path: Path) -> None:
    """Each line of an array, and each part of a heterogeneous job, is a job of its own."""
    of_array = [job(7, 0, 0, 5, 1, array={"job_id": 6, "task_id": number(task)}, steps=[STEP]) for task in (1, 2)]
    parts = [job(9, 1, 0, 5, 1, het={"job_id": 9, "job_offset": number(part)}, steps=[STEP]) for part in (0, 1)]
    again = [job(9, 1, 0, 5, 1, array={"job_id": 0, "task_id": None}, het={"job_id": 0}, steps=[STEP])] * 2
    assert "job id seen before (requeued)" not in read_trace(write(tmp_path, [*of_array, *parts])).noted
    assert read_trace(write(tmp_path, again)).noted["job id seen before (requeued)"] == 1


def test_waits_and_resources_are_shown(tmp_path: Path) -> None:
    info = trace_info(read_trace(write(tmp_path, [job(1, 0, 10, 5, 1, steps=[STEP])])))
    assert info["recorded_wait_s"]["mean"] == 10.0
    assert info["resources"] == {"gpu": {"jobs": 1, "total": 2.0}}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"jobs": [{"job_id": 1, "submission": 5}', r"line 1: not JSON: .*\(cut off\?\)"),
        ('{"jobs": [{"job_id": 1, "submission": 5}]', r"line 1: not JSON: .*\(cut off\?\)"),
        ('{"jobs": [{"job_id": 1, "submission": 5}]} x', "line 1: not JSON: Extra data"),
        ('{"jobs": [{"job_id": 1, "submission": 5} {}]}', "line 1: not JSON: Expecting ','"),
        ('{"jobs": [7, {"job_id": 1, "submission": 5}]}', r"jobs\[0\] = '7': allowed: an object for each job"),
        ('{"x": {"jobs": 1, "job_id": 1, "submission": 5}}', "no job: its list `jobs` is empty, or not there"),
        ('{7: "jobs", "job_id": 1, "submission": 5}', "not JSON: Expecting a name"),
        ('{"jobs": [{"job_id": 1, "submission": 5}]}', "none of its 1 rows is a job that ran"),
        ('{"jobs": [{"job_id": 1, "submission": ' + "9" * 5000 + "}]}", "a number has too many digits"),
        ('{"jobs": [{"job_id": 1, "submission": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "jobs.json"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        read_trace(path)

"""SWIM's samples: jobs with bytes and nothing of CPU."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.workload import job_table
from cluster_abm.workload.traces import LogReading, read_trace, trace_info, write_csv

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "swim"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real samples are not here; CLUSTER_ABM_DATA says where")

ROWS = """job0\t2\t2\t60000000\t30000000\t10000000
job1\t2\t0\t0\t0\t0
job2\t3\t1\t-5\t0\t0
job3\t4\t1\t9223372036854775808\t0\t0
job4\t-1\t1\t5\t0\t0
job5\t5\t1\t\t0\t0
job6\t7\t2\t1000000\t0\t0
"""


def put(folder: Path, text: str = ROWS) -> Path:
    path = folder / "FB.tsv"
    path.write_text(text)
    return path


def test_the_jobs_by_hand(tmp_path: Path) -> None:
    trace = read_trace(put(tmp_path))
    expected = pd.DataFrame(
        {
            "arrival_ms": [2000.0, 2000.0, 7000.0],
            "tasks": [1.0] * 3,
            "write_share": [0.4, float("nan"), 0.0],
            "disk_mb": [100.0, 0.0, 1.0],
        }
    )
    pd.testing.assert_frame_equal(trace.jobs, expected)
    assert (trace.format, trace.rows) == ("swim", 7)
    assert trace.skipped == {
        "negative submit time": 1, "bytes not known": 1, "negative bytes": 1, "bytes beyond 2^63": 1,
    }  # fmt: skip
    info = trace_info(trace)
    assert (info["cpu_s"], info["kept_busy"]) == ({"mean": None, "max": None}, {"cores": None, "memory_mb": None})
    assert "workload.trace.cpu_ms_per_mb" in info["filled"]["cpu_ms"]


def test_cpu_by_the_bytes_and_tasks_by_the_bytes(tmp_path: Path) -> None:
    reading = LogReading(cpu_ms_per_mb=20.0, task_mb=30.0, max_tasks=3)
    trace = read_trace(put(tmp_path), reading=reading)
    # 100 MB need 2,000 ms and four tasks, of which three are allowed; all of the work stays.
    assert trace.jobs["tasks"].tolist() == [3.0, 1.0]
    assert trace.jobs["cpu_ms"].tolist() == pytest.approx([2000 / 3, 20.0])
    assert (trace.jobs["disk_mb"] * trace.jobs["tasks"]).tolist() == pytest.approx([100.0, 1.0])
    assert trace.skipped["no bytes, hence no CPU time"] == 1
    write_csv(trace, tmp_path / "o.csv")
    pd.testing.assert_frame_equal(read_trace(tmp_path / "o.csv").jobs, trace.jobs, check_exact=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ROWS + "job7\t8\t1\t5\t0\n", "line 8: 5 values where there are 6 columns (cut off?)"),
        (ROWS + "job7\t8\t1\t5\t0\tmany\n", "line 8: output_bytes = 'many': allowed: a number"),
        ("job0\t0\t0\t-1\t0\t0\n", "none of its 1 rows is a job"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_trace(put(tmp_path, text))
    assert words in caught.value.problems[0]


def test_keys_of_swim_are_refused_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("arrival_ms,cpu_ms\n0,1\n")
    with pytest.raises(InputError, match=r"workload\.trace\.task_mb = 5\.0: allowed for these formats alone: swim"):
        read_trace(path, reading=LogReading(task_mb=5.0))


@needs_data
def test_the_samples_are_accounted_for() -> None:
    for path in sorted(DATA.glob("*.tsv.xz")):
        real = pd.read_csv(path, sep="\t", header=None)
        trace = read_trace(path)
        assert trace.rows == len(real) == len(trace.jobs) + sum(trace.skipped.values())
        assert trace.jobs["disk_mb"].sum() == pytest.approx(real[[3, 4, 5]].sum().sum() / 1e6)
        assert trace.jobs["arrival_ms"].tolist() == (real[1] * 1000.0).tolist()


def test_paths_behind_the_bytes_are_passed_over(tmp_path: Path) -> None:
    """As in SWIM's samples with input paths: columns beyond the sixth, as many as each line has."""
    lines = ROWS.splitlines()
    more = [f"{line}\tinputPath{number}" + "\t" * (number % 3) for number, line in enumerate(lines[:-1])]
    trace = read_trace(put(tmp_path, "\n".join([*more, lines[-1]]) + "\n"))
    plain = read_trace(put(tmp_path))
    pd.testing.assert_frame_equal(trace.jobs, plain.jobs)
    assert trace.skipped == plain.skipped
    assert trace.noted == plain.noted | {"more than 6 columns (paths), the rest ignored": 6}


@pytest.mark.parametrize(("keys", "tasks", "cpu_ms"), [
    # 100 MB and 1 MB; the job without bytes has no CPU time, and is left out.
    ({}, [1, 1], [2000.0, 20.0]),
    ({"workload__trace__task_mb": 30.0}, [4, 1], [500.0, 20.0]),
    # All of the work stays, of whatever width the job is ...
    ({"workload__trace__task_mb": 30.0, "workload__trace__max_tasks": 3}, [3, 1], [2000 / 3, 20.0]),
    # ... and a job of one task is not cut.
    ({"workload__trace__max_tasks": 3}, [1, 1], [2000.0, 20.0]),
])  # fmt: skip
def test_a_scenario_hands_its_keys_on(tmp_path: Path, keys: dict[str, float], tasks: list[int], cpu_ms: list[float]):
    given = {"workload__kind": "trace", "workload__trace__file": str(put(tmp_path)), **keys}
    jobs = job_table(scenario(**given, workload__trace__cpu_ms_per_mb=20.0), 1)
    assert jobs["tasks"].tolist() == tasks
    assert jobs["cpu_ms"].tolist() == pytest.approx(cpu_ms)

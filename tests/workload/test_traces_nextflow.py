"""Nextflow's `trace.txt` and Lotaru's table of its fields: what each row becomes, worked out by hand."""

from __future__ import annotations

import lzma
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import COLUMNS, LogReading, Trace, read_task_runs, read_trace, trace_info, write_csv

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "lotaru"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real tables are not here; CLUSTER_ABM_DATA says where")

NAMES = [
    *("task_id", "hash", "native_id", "name", "status", "exit", "submit", "duration", "realtime", "%cpu", "cpus"),
    *("peak_rss", "rchar", "wchar", "read_bytes", "write_bytes"),
]
START = "2023-03-29 10:00:0"
# One clean row of each kind, then each thing that can be wrong with one.
ROWS = [
    f"1 aa/1 11 ALIGN_(s1) COMPLETED 0 {START}0.500 41s 40s 250.0% 4 3_GB 9_GB 2_GB 1_GB 512_MB",
    f"2 aa/2 12 ALIGN_(s2) COMPLETED 0 {START}1.000 1m 345ms 100.0% 1 0 1_KB 1_KB 0 0",
    f"3 aa/3 13 COUNT FAILED 1 {START}1.750 1m 2m_5s 80% 1 - 10_MB 20_MB - -",
    f"4 aa/4 14 COUNT COMPLETED 0 {START}2.000 1m 1m - 2 1_MB - - - -",
    f"5 aa/5 15 COUNT CACHED 0 {START}2.500 1m 1m 50% 2 1_MB - - 0 0",
    f"6 aa/6 16 COUNT ABORTED - {START}3.000 - - - 2 - - - - -",
    f"7 aa/7 17 COUNT COMPLETED 0 {START}3.500 1m 0ms 50% 2 1_MB - - 0 0",
    f"8 aa/8 18 COUNT COMPLETED 0 {START}3.500 1m -5s 50% 2 1_MB - - 0 0",
    f"9 aa/9 19 COUNT COMPLETED 0 {START}3.500 1m 5s 0.0% 2 1_MB - - 0 0",
    f"10 bb/1 20 COUNT COMPLETED 0 {START}3.500 1m 5s 50% 2 1_MB - - 9_EB 0",
    "11 bb/2 21 COUNT COMPLETED 0 - 1m 5s 50% 2 1_MB - - 0 0",
    f"12 bb/3 22 COUNT COMPLETED 0 {START}3.500 1m 5s 50% 2 1_MB - - -1 0",
    f"13 bb/4 23 COUNT WHAT 0 {START}3.500 1m 5s 50% 2 1_MB - - 0 0",
]


def table(rows: list[str]) -> str:
    """The rows with tabs between their cells, and spaces in them."""
    lines = ["\t".join(NAMES)]
    for row in rows:
        # The day and the time of day are one cell.
        cells = re.sub(r"(-\d\d) ", r"\1_", row).split(" ")
        lines.append("\t".join(cell.replace("_", " ") for cell in cells))
    return "\n".join(lines) + "\n"


def read(folder: Path, rows: list[str], **options: object) -> Trace:
    path = folder / "trace.txt"
    path.write_text(table(rows))
    return read_trace(path, **options)  # type: ignore[arg-type]


def test_the_jobs_by_hand(tmp_path: Path) -> None:
    trace = read(tmp_path, ROWS)
    nan = float("nan")
    assert trace.format == "nextflow"
    gb, mb = 2.0**30 / 1e6, 2.0**20 / 1e6
    expected = pd.DataFrame(
        {
            "arrival_ms": [0.0, 500.0, 1250.0, 1500.0],
            # 40 s at 2.5 cores on three tasks; 345 ms on one; 125 s at 0.8; no %cpu: the minute itself.
            "cpu_ms": [round(100_000.0 / 3, 6), 345.0, 100_000.0, 60_000.0],
            "memory_mb": [gb, nan, nan, mb],
            "tasks": [3.0, 1.0, 1.0, 1.0],
            # 512 MB of 1.5 GB; nothing moved; 37 % of 20 MB beside 10 % of 10 MB; nothing known.
            "write_share": [1 / 3, nan, 7.4 / 8.4, nan],
            "disk_mb": [gb / 2, 0.0, 8.4 * mb, nan],
            "recorded_run_ms": [40_000.0, 345.0, 125_000.0, 60_000.0],
            "name": ["ALIGN", "ALIGN", "COUNT", "COUNT"],
        }
    )
    pd.testing.assert_frame_equal(trace.jobs, expected, rtol=1e-12)


def test_every_row_is_accounted_for(tmp_path: Path) -> None:
    trace = read(tmp_path, ROWS)
    assert trace.skipped == {
        "cached: did not run": 1,
        "status not known": 1,
        "no run time": 1,
        "zero run time": 1,
        "negative run time": 1,
        "zero CPU time": 1,
        "bytes beyond 2^63": 1,
        "negative bytes": 1,
        "no submit time": 1,
    }
    assert trace.rows == 13 == len(trace.jobs) + sum(trace.skipped.values())
    assert trace.noted == {
        "memory 0, read as not known": 1,
        "failed, its work counts": 1,
        "no %cpu, run time taken as CPU time": 1,
        "bytes of the disk not known, shares of those of calls used": 1,
    }
    info = trace_info(trace)
    assert "0.1 x rchar + 0.37 x wchar" in info["filled"]["disk_mb"]
    assert info["filled"]["home"] == "in no row: by workload.home"
    assert info["filled"]["memory_mb"] == "in 50.0% of the rows; else by workload.memory_mb"
    assert info["dependence"] is None


def test_the_shares_of_the_disk_are_the_scenarios(tmp_path: Path) -> None:
    trace = read(tmp_path, ROWS, reading=LogReading(disk_read_share=0.5, disk_write_share=1.0))
    assert trace.jobs["disk_mb"][2] == pytest.approx(25 * 2**20 / 1e6)
    assert trace.jobs["disk_mb"][0] == pytest.approx(2**30 / 2 / 1e6)  # known: no share


def test_task_runs_give_the_cleaned_rows(tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    path.write_text(table(ROWS))
    runs = read_task_runs(path)
    # Without a submit time a row is no job of a trace, but a run of a task.
    assert runs.rows == 13 == len(runs.frame) + sum(runs.skipped.values())
    first = runs.frame.iloc[0]
    assert (first["task"], first["realtime_ms"], first["cpu_percent"], first["cpus"]) == ("ALIGN", 40_000.0, 250.0, 4.0)
    assert (first["read_mb"], first["call_written_mb"]) == (2**30 / 1e6, 2**31 / 1e6)
    assert runs.frame["line"].tolist() == [2, 3, 4, 5, 12]


def test_by_run_time_rows_without_cpu_are_jobs(tmp_path: Path) -> None:
    """Only the row of 5 s at 0.0 % is one more. 345 ms of 345 ms; 100 of 125 s; 60 of 60 s; 0 of 5 s; and of the first
    one 100/3 s on each of three tasks, of 40 s."""
    trace = read(tmp_path, ROWS, reading=LogReading(cpu_time="run"))
    assert "zero CPU time" not in trace.skipped
    assert trace.noted["no CPU use, 1 us taken"] == 1
    assert trace.jobs["cpu_ms"].tolist()[-1] == 0.001
    assert trace.jobs["recorded_run_ms"].tolist() == [40_000.0, 345.0, 125_000.0, 60_000.0, 5000.0]
    total_s, cpu_s = 230.345, 100 / 3 + 0.345 + 100 + 60
    for reading in (LogReading(cpu_time="run"), LogReading()):
        found = trace_info(read(tmp_path, ROWS, reading=reading))["run_time"]
        assert found["total_s"] == pytest.approx(total_s)
        assert found["cpu_s"] == pytest.approx(cpu_s, abs=1e-5)
        assert found["cpu_share"] == pytest.approx(cpu_s / total_s)
        assert found["critical_path_s"] is None
        assert found["hint"] is None


LOTARU = """Label,Machine,Workflow,NumberSequences,Task,WorkflowInputSize,Realtime,%cpu,rss,rchar,wchar,cpus,\
read_bytes,write_bytes,vmem,memory,peak_rss,TaskInputSize,TaskInputSizeUncompressed,WorkflowInputUncompressed
train-1,m1,w,10,A:FASTQC,100,5000,271.4,1000000,300,200,8,4096,4000000,1,2,3000000,55,66,77
train-2,m1,w,10,A:SORT,100,9000,50,1000000,300,200,8,0,0,1,2,0,55,66,77
train-2,m1,w,10,A:SORT,100,-1,50,1000000,300,200,8,0,0,1,2,0,55,66,77
"""


def test_lotarus_table(tmp_path: Path) -> None:
    path = tmp_path / "lotaru-m1-w.csv"
    path.write_text(LOTARU)
    trace = read_trace(path)
    assert (trace.format, trace.rows, trace.skipped) == ("nextflow", 3, {"negative run time": 1})
    assert trace.jobs["arrival_ms"].tolist() == [0.0, 0.0]
    assert trace.jobs["cpu_ms"].tolist() == pytest.approx([5000 * 2.714 / 3, 4500.0])
    assert trace.jobs["memory_mb"].tolist()[0] == 1.0
    assert trace.jobs["disk_mb"].tolist() == [4.004096 / 3, 0.0]
    assert trace.filled["arrival_ms"].startswith("in no row: all are submitted at 0")
    frame = read_task_runs(path).frame
    assert frame[["label", "machine", "workflow", "task"]].iloc[1].tolist() == ["train-2", "m1", "w", "A:SORT"]
    assert frame["task_input_size_uncompressed"].tolist() == [66.0, 66.0]


def test_run_times_from_stamps_and_zones(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    head = "name\tstatus\tstart\tcomplete\trealtime\t%cpu\n"
    # The second ends an hour after it starts, in another zone; the third ends before.
    path.write_text(
        head
        + "a\tCOMPLETED\t2023-05-01T10:00:00Z\t2023-05-01T10:00:10Z\t-\t100%\n"
        + "b\tCOMPLETED\t2023-05-01T12:00:05+02:00\t2023-05-01T11:00:05Z\t-\t100%\n"
        + "c\tCOMPLETED\t2023-05-01T10:00:20Z\t2023-05-01T10:00:10Z\t5s\t100%\n"
    )
    trace = read_trace(path)
    assert trace.jobs["arrival_ms"].tolist() == [0.0, 5000.0]
    assert trace.jobs["cpu_ms"].tolist() == [10_000.0, 3_600_000.0]
    assert trace.skipped == {"ends before it starts": 1}
    assert trace.noted["times in several time zones, compared as instants"] == 2
    path.write_text(head + "a\tCOMPLETED\t2023-05-01T10:00:00Z\t2023-05-01T10:00:10\t-\t100%\n")
    with pytest.raises(InputError, match=r"line 2: complete = .*no time zone where '2023-05-01T10:00:00Z' has one"):
        read_trace(path)


def test_what_cannot_be_read_is_named_by_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, [ROWS[0].replace("40s", "forty"), ROWS[1], ROWS[2].replace("10_MB", "10_XB")])
    assert [problem.partition("trace.txt, ")[2].partition(":")[0] for problem in caught.value.problems] == [
        "line 2", "line 4",
    ]  # fmt: skip
    assert "realtime = 'forty': allowed: a time as 3h 2m 1s" in caught.value.problems[0]
    with pytest.raises(InputError, match="15 values where the header names 16 columns"):
        read(tmp_path, [ROWS[0], ROWS[1].rpartition(" ")[0]])
    with pytest.raises(InputError, match="none of its 1 rows is a job that ran"):
        read(tmp_path, [ROWS[4]])


def test_times_further_apart_than_a_simulation_lasts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"submissions from 2023-03-29.* to 2099-03-29.*allowed up to 32 years"):
        read(tmp_path, [ROWS[0], ROWS[1].replace("2023", "2099")])


@needs_data
def test_lotarus_tables_are_accounted_for(tmp_path: Path) -> None:
    for path in sorted(DATA.glob("lotaru-*-bacass.csv.xz")):
        trace = read_trace(path)
        with lzma.open(path) as file:
            real = pd.read_csv(file)
        assert trace.rows == len(real) == len(trace.jobs) + sum(trace.skipped.values())
        jobs = trace.jobs
        assert (jobs["cpu_ms"] * jobs["tasks"]).sum() == pytest.approx((real["Realtime"] * real["%cpu"]).sum() / 100)
        disk = (jobs["disk_mb"] * jobs["tasks"]).sum()
        assert disk == pytest.approx((real["read_bytes"] + real["write_bytes"]).sum() / 1e6)
        assert (jobs["cpu_ms"] <= np.maximum(real["Realtime"], 0) * 1.1001).all()
        for column, rule in COLUMNS.items():
            if column in jobs:
                assert rule.holds(jobs[column].dropna().to_numpy(float)).all(), column
    write_csv(trace, tmp_path / "o.csv")
    pd.testing.assert_frame_equal(read_trace(tmp_path / "o.csv").jobs, jobs, check_exact=True)

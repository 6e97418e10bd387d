"""Slurm's `sacct -P`: jobs and their steps merged by hand, states, units, and rows that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import LogReading, Trace, read_trace, trace_info
from cluster_abm.workload.traces.slurm.accounting import COMMAND

HEAD = (
    "JobID|JobName|State|Submit|Start|End|ElapsedRaw|NCPUS|NTasks|TotalCPU|MaxRSS|MaxDiskRead|MaxDiskWrite|TimelimitRaw"
)
DAY = "2023-05-01T"
# A job with three steps; one whose line says no CPU; one without any; then what cannot be used.
ROWS = [
    f"100|mpi|COMPLETED|{DAY}10:00:00|{DAY}10:00:10|{DAY}10:01:40|90|4||05:20.500||||10",
    f"100.batch|batch|COMPLETED|{DAY}10:00:10|{DAY}10:00:10|{DAY}10:01:40|90|4|1|00:20.500|2000K|1M|0|",
    f"100.extern|extern|COMPLETED|{DAY}10:00:10|{DAY}10:00:10|{DAY}10:01:40|90|4|1|00:00:00|0|0|0|",
    f"100.0|mpi|COMPLETED|{DAY}10:00:10|{DAY}10:00:10|{DAY}10:01:40|90|4|4|05:00|1.50M|10M|5M|",
    f"101|one|CANCELLED by 1234|{DAY}10:00:05|{DAY}10:00:10|{DAY}10:00:40|30|1||||||UNLIMITED",
    f"101.batch|batch|CANCELLED|{DAY}10:00:05|{DAY}10:00:10|{DAY}10:00:40|30|1|1|00:25|1G|||",
    f"102|none|TIMEOUT|{DAY}10:00:07|{DAY}10:00:10|{DAY}10:00:40|30|2||||||1",
    f"103|much|FAILED|{DAY}10:00:08|{DAY}10:00:10|{DAY}10:00:20|10|2||01:00|0|||1",
    f"104|p|PENDING|{DAY}10:00:09|Unknown|Unknown|0|1||00:00:00||||1",
    f"105|c|CANCELLED by 0|{DAY}10:00:09|None|{DAY}10:00:09|0|0||00:00:00||||1",
    f"106|r|RUNNING|{DAY}10:00:09|{DAY}10:00:10|Unknown|50|1||00:00:00||||1",
    f"107|back|COMPLETED|{DAY}10:00:09|{DAY}10:00:10|{DAY}09:00:20|10|1||00:05||||1",
    f"108|idle|COMPLETED|{DAY}10:00:09|{DAY}10:00:10|{DAY}10:00:20|10|1||00:00:00||||1",
    f"109|neg|COMPLETED|{DAY}10:00:09|||-10|1||00:05||||1",
    f"110|big|COMPLETED|{DAY}10:00:09|||10|1||00:05||9E||1",
    f"111|odd|DREAMING|{DAY}10:00:09|||10|1||00:05||||1",
    "112|sub|COMPLETED|Unknown|||10|1||00:05||||1",
    f"99.batch|batch|COMPLETED|{DAY}10:00:09|||10|1|1|00:05|1K|||",
    f"113|zero|COMPLETED|{DAY}10:00:09|{DAY}10:00:10|{DAY}10:00:10|0|1||00:00:00||||1",
    f"114|width|COMPLETED|{DAY}10:00:09|||10|0||00:05||||1",
]


def read(folder: Path, rows: list[str], head: str = HEAD, **options: object) -> Trace:
    path = folder / "jobs.txt"
    path.write_text("\n".join([head, *rows]) + "\n")
    return read_trace(path, **options)  # type: ignore[arg-type]


def test_the_jobs_by_hand(tmp_path: Path) -> None:
    trace = read(tmp_path, ROWS)
    nan, mb = float("nan"), 2.0**20 / 1e6
    # 10 + 1 MB read x 4 + 1 tasks, 5 MB written x 4: 10 % and 37 % of them.
    read_mb, written_mb = (4 * 10 + 1) * mb * 0.1, 4 * 5 * mb * 0.37
    expected = pd.DataFrame(
        {
            "arrival_ms": [0.0, 5000.0, 7000.0, 8000.0],
            # Of its line; of its step; the run time on each of two processors; cut to the run time.
            "cpu_ms": [320_500.0 / 4, 25_000.0, 30_000.0, 10_000.0],
            # Four tasks of 1.5 MB are more than 2,000 KB; 0 is not known.
            "memory_mb": [1.5 * mb, 1024 * mb, nan, nan],
            "tasks": [4.0, 1.0, 2.0, 2.0],
            "write_share": [written_mb / (read_mb + written_mb), nan, nan, nan],
            "requested_ms": [600_000.0, nan, 60_000.0, 60_000.0],
            "disk_mb": [(read_mb + written_mb) / 4, nan, nan, nan],
            "recorded_wait_ms": [10_000.0, 5000.0, 3000.0, 2000.0],
            "name": ["mpi", "one", "none", "much"],
        }
    )
    pd.testing.assert_frame_equal(trace.jobs, expected, rtol=1e-12)
    assert trace.format == "sacct"


def test_waits_users_and_groups(tmp_path: Path) -> None:
    """Waits of 10 s and 0; one that starts before it is submitted, and one whose start is not known, have none."""
    starts = (f"{DAY}10:00:10", f"{DAY}10:00:00", f"{DAY}09:59:00", "Unknown")
    rows = [
        f"{number}|COMPLETED|{DAY}10:00:00|{start}|60|1|ann|physics|acc" for number, start in enumerate(starts, start=1)
    ]
    head = "JobID|State|Submit|Start|ElapsedRaw|NCPUS|User|Group|Account"
    trace = read(tmp_path, rows, head)
    assert trace.table["recorded_wait_ms"].tolist()[:2] == [10_000.0, 0.0]
    assert trace.table["recorded_wait_ms"].isna().tolist() == [False, False, True, True]
    assert set(trace.table["user"]) == {"ann"}
    assert set(trace.table["group"]) == {"physics"}
    noted = {"starts before it is submitted": 1, "wait not known": 1}
    assert noted.items() <= trace.noted.items()
    # Without groups the accounts stand in.
    assert set(read(tmp_path, rows, head.replace("Group", "Nice")).table["group"]) == {"acc"}


def test_every_row_is_accounted_for(tmp_path: Path) -> None:
    trace = read(tmp_path, ROWS)
    assert trace.skipped == {
        "step of a job, counted with it": 4,
        "step without the line of its job": 1,
        "state not known": 1,
        "had not started": 1,
        "was still running": 1,
        "ends before it starts": 1,
        "negative run time": 1,
        "cancelled before it ran": 1,
        "zero run time": 1,
        "no submit time": 1,
        "no processors": 1,
        "zero CPU time": 1,
        "bytes beyond 2^63": 1,
    }
    assert trace.rows == len(ROWS) == len(trace.jobs) + sum(trace.skipped.values())
    assert trace.noted == {
        "CPU time not known, run time used": 1,
        "CPU time above that of its processors, cut to it": 1,
        "cut short (failed, cancelled, out of time or memory, ...), its work counts": 3,
        "bytes of calls, shares of them taken for the disk's": 1,
    }
    filled = trace_info(trace)["filled"]
    assert filled["cpu_ms"] == "in 1 rows without TotalCPU the run time on all processors"
    assert "bytes of calls, not of the disk: 0.1 x MaxDiskRead + 0.37 x MaxDiskWrite" in filled["disk_mb"]


@pytest.mark.parametrize(
    ("between", "form"),
    [(",", "with commas between its columns"), ("\t", "with tabs between its columns"),
     (";", "with semicolons between its columns"), ("  ", "in columns of fixed width (long cells are cut off)")],
)  # fmt: skip
@pytest.mark.parametrize("options", [{}, {"format": "sacct"}])
def test_other_forms_are_told_in_one_line(tmp_path: Path, between: str, form: str, options: dict[str, str]) -> None:
    with pytest.raises(InputError) as told:
        read(tmp_path, [row.replace("|", between) for row in ROWS], HEAD.replace("|", between), **options)
    assert len(told.value.problems) == 1
    assert f"jobs.txt: Slurm's sacct {form}: allowed is | between them: `sacct -P --format=JobID," in str(told.value)


def test_the_command_that_messages_name_is_the_documentations() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "traces.md"
    assert COMMAND in page.read_text().replace("\\\n", "")


def test_the_shares_of_the_disk_are_the_scenarios(tmp_path: Path) -> None:
    trace = read(tmp_path, ROWS, reading=LogReading(disk_read_share=1.0, disk_write_share=1.0))
    assert trace.jobs["disk_mb"][0] == pytest.approx(61 * 2**20 / 1e6 / 4)


def test_other_columns_zones_and_a_bar_at_the_end(tmp_path: Path) -> None:
    """`sacct -p` ends each line with a bar; SLURM_TIME_FORMAT may add zones; Elapsed instead of ElapsedRaw."""
    head = "JobID|State|Submit|Elapsed|AllocCPUS|TotalCPU|"
    rows = [
        "1_7|COMPLETED|2023-05-01T10:00:00+0200|1-00:00:00|2|1-00:00:00|",
        "1_8|OUT_OF_MEMORY|2023-05-01T08:00:01Z|00:00:10|1|00:08.250|",
        "1_8|COMPLETED|2023-05-01T08:00:02Z|00:00:10|1|00:09|",
    ]
    trace = read(tmp_path, rows, head)
    assert trace.jobs["arrival_ms"].tolist() == [0.0, 1000.0, 2000.0]
    assert trace.jobs["cpu_ms"].tolist() == [43_200_000.0, 8250.0, 9000.0]
    assert trace.noted == {
        "cut short (failed, cancelled, out of time or memory, ...), its work counts": 1,
        "job id seen before (requeued)": 1,
        "times in several time zones, compared as instants": 2,
    }
    rows[1] = rows[1].replace("01Z", "01")
    with pytest.raises(InputError, match=r"line 3: Submit = .*no time zone where '2023-05-01T10:00:00\+0200' has one"):
        read(tmp_path, rows, head)


@pytest.mark.parametrize(
    ("rows", "head", "words"),
    [
        (
            ["1|COMPLETED"],
            "JobID|State|ExitCode|Submit",
            "column missing: ElapsedRaw (or Elapsed), AllocCPUS (or NCPUS)",
        ),
        ([ROWS[0].replace("05:20.500", "5 min")], HEAD, "line 2: TotalCPU = '5 min': allowed: a time as 1-02:03:04"),
        ([ROWS[0], ROWS[1].replace("2000K", "2000Q")], HEAD, "line 3: MaxRSS = '2000Q': allowed: bytes"),
        ([ROWS[0].replace("mpi", "m|pi")], HEAD, "line 2: 15 values where the header names 14 columns"),
        ([ROWS[0][:40]], HEAD, "values where the header names 14 columns (cut off?)"),
        ([ROWS[8]], HEAD, "none of its 1 rows is a job that ran (1: had not started)"),
    ],
)
def test_what_is_refused(tmp_path: Path, rows: list[str], head: str, words: str) -> None:
    rows = [row + "|" * (head.count("|") - row.count("|")) if head != HEAD else row for row in rows]
    with pytest.raises(InputError) as caught:
        read(tmp_path, rows, head)
    assert words in caught.value.problems[0]


def test_a_limit_that_is_the_partitions_is_not_known(tmp_path: Path) -> None:
    rows = [f"{row[0]}|a|COMPLETED|{DAY}10:00:0{row[0]}|||10|1||00:05||||{row[1]}" for row in ("1P", "2U", "3T")]
    limits = {"P": "Partition_Limit", "U": "UNLIMITED", "T": "2"}
    jobs = read(tmp_path, [row[:-1] + limits[row[-1]] for row in rows]).jobs
    assert jobs["requested_ms"].isna().tolist() == [True, True, False]
    assert jobs["requested_ms"].iloc[2] == 120_000.0


def test_a_job_may_hold_its_processors_for_its_run_time(tmp_path: Path) -> None:
    jobs = read(tmp_path, ROWS, reading=LogReading(cpu_time="run")).jobs
    # ElapsedRaw of 100 to 103, and of the one that computed nothing, which held its processor nevertheless.
    assert jobs["cpu_ms"].tolist() == [90_000.0, 30_000.0, 30_000.0, 10_000.0, 10_000.0]
    assert jobs["tasks"].tolist() == [4.0, 1.0, 2.0, 2.0, 1.0]


def test_a_requeued_job_that_ran_counts(tmp_path: Path) -> None:
    """sacct -D: a line for each time that a job ran; here 01:04:42 and 00:59:00 of CPU, then it waits again."""
    head = "JobID|State|Submit|Start|End|ElapsedRaw|NCPUS|NTasks|TotalCPU"
    rows = [
        f"7|REQUEUED|{DAY}08:00:00|{DAY}08:10:00|{DAY}09:14:49|3889|1||01:04:42",
        f"7.0|FAILED|{DAY}08:10:00|{DAY}08:10:02|{DAY}09:14:49|3887|1|1|01:04:41",
        f"7|COMPLETED|{DAY}09:15:00|{DAY}09:20:00|{DAY}10:20:00|3600|1||00:59:00",
        f"8|REQUEUED|{DAY}09:15:00|Unknown|Unknown|0|1||00:00:00",
        f"9|RESIZING|{DAY}09:15:00|{DAY}09:20:00|{DAY}09:20:10|10|4||00:20",
        f"9|COMPLETED|{DAY}09:15:00|{DAY}09:20:10|{DAY}09:20:20|10|2||00:08",
        f"10|RESIZING|{DAY}09:15:00|{DAY}09:20:10|Unknown|10|2||00:08",
    ]
    trace = read(tmp_path, rows, head)
    assert (trace.jobs["cpu_ms"] * trace.jobs["tasks"]).tolist() == [3_882_000.0, 3_540_000.0, 20_000.0, 8000.0]
    assert trace.skipped == {
        "step of a job, counted with it": 1, "had not started": 1, "was still running": 1,
    }  # fmt: skip
    assert trace.noted["cut short (failed, cancelled, out of time or memory, ...), its work counts"] == 2
    assert trace.noted["job id seen before (requeued)"] == 2


def test_logs_without_any_cpu_time_say_the_key_for_it(tmp_path: Path) -> None:
    rows = [f"{number}|COMPLETED|{DAY}10:00:00|10|1|00:00:00" for number in (1, 2)]
    with pytest.raises(
        InputError, match=r'\(2: zero CPU time\); workload\.trace\.cpu_time = "run" takes the run times'
    ):
        read(tmp_path, rows, "JobID|State|Submit|ElapsedRaw|NCPUS|TotalCPU")

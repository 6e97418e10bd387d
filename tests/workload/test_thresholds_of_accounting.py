"""Lines of sacct, just below, at, and just above what can be used; and jobs with several steps, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster_abm.workload.traces import LogReading, Trace, read_trace

HEAD = (
    "JobID|State|Submit|Start|End|ElapsedRaw|NCPUS|NTasks|TotalCPU|MaxRSS|MaxDiskRead|MaxDiskWrite|TimelimitRaw|"
    "Timelimit"
)
MB = 2**20 / 1e6
DAY = "2023-05-01T"
PLAIN = LogReading()


def line(job: object = 1, **values: object) -> str:
    """A job of 10 s on one processor, of which it used 5 s."""
    usual = {"State": "COMPLETED", "Submit": f"{DAY}10:00:00", "ElapsedRaw": 10, "NCPUS": 1, "TotalCPU": "00:05"}
    given = {"JobID": job} | usual | values
    return "|".join(str(given.get(name, "")) for name in HEAD.split("|"))


def step(job: object, **values: object) -> str:
    return line(job, **{"TotalCPU": ""} | values)


def read(folder: Path, *rows: str, reading: LogReading = PLAIN) -> Trace:
    path = folder / "jobs.txt"
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return read_trace(path, reading=reading)


@pytest.mark.parametrize(("values", "reason"), [
    ({"ElapsedRaw": 0}, "zero run time"), ({"ElapsedRaw": 1}, None), ({"ElapsedRaw": -1}, "negative run time"),
    ({"ElapsedRaw": ""}, "no run time"), ({"ElapsedRaw": 0, "State": "CANCELLED by 7"}, "cancelled before it ran"),
    ({"ElapsedRaw": 1, "State": "CANCELLED by 7"}, None),
    ({"ElapsedRaw": "", "State": "CANCELLED"}, "cancelled before it ran"),
    ({"ElapsedRaw": 0, "State": "REQUEUED"}, "had not started"), ({"ElapsedRaw": 1, "State": "REQUEUED"}, None),
    ({"State": "PENDING"}, "had not started"), ({"State": "RUNNING"}, "was still running"),
    ({"State": "RESIZING"}, "was still running"), ({"State": "RESIZING", "End": f"{DAY}10:00:10"}, None),
    ({"State": "completed+"}, None), ({"State": ""}, "state not known"), ({"State": "COMPLETE"}, "state not known"),
    ({"Start": f"{DAY}10:00:05", "End": f"{DAY}10:00:04"}, "ends before it starts"),
    ({"Start": f"{DAY}10:00:05", "End": f"{DAY}10:00:05"}, None), ({"Submit": "Unknown"}, "no submit time"),
    ({"NCPUS": 0}, "no processors"), ({"NCPUS": 1}, None), ({"NCPUS": ""}, "no processors"),
    ({"NCPUS": -1}, "no processors"), ({"TotalCPU": "00:00"}, "zero CPU time"), ({"TotalCPU": "00:00.001"}, None),
    # 8 EiB are 2^63 bytes, and 8191 PiB less than that.
    ({"MaxRSS": "8E"}, "bytes beyond 2^63"), ({"MaxDiskRead": "8E"}, "bytes beyond 2^63"),
    ({"MaxDiskWrite": "8E"}, "bytes beyond 2^63"), ({"MaxDiskWrite": "1P"}, None), ({"JobID": ""}, "no job id"),
])  # fmt: skip
def test_what_can_be_used(tmp_path, values, reason):
    trace = read(tmp_path, line(7), line(**values))
    assert trace.skipped == ({} if reason is None else {reason: 1})


@pytest.mark.parametrize(("total", "cpu_ms", "noted"), [
    # Two processors for 10 s.
    ("00:19.999", 9999.5, {}), ("00:20", 10_000.0, {}),
    ("00:20.001", 10_000.0, {"CPU time above that of its processors, cut to it": 1}),
    ("", 10_000.0, {"CPU time not known, run time used": 1}),
])  # fmt: skip
def test_the_time_of_all_processors(tmp_path, total, cpu_ms, noted):
    trace = read(tmp_path, line(NCPUS=2, TotalCPU=total))
    assert trace.jobs["cpu_ms"].tolist() == [cpu_ms]
    assert trace.noted == noted
    of_run = read(tmp_path, line(NCPUS=2, TotalCPU=total), reading=LogReading(cpu_time="run"))
    assert of_run.jobs["cpu_ms"].tolist() == [10_000.0]


def test_steps_are_added_and_the_largest_memory_counts(tmp_path):
    """4 + 3 s of CPU; of 3 tasks of 2 MB and 1 of 5 MB the larger; 3 x 10 + 20 MB read, 4 MB written.

    The job's own line goes before its steps for the CPU time, behind them for the rest. Steps of a requeued job are
    those of the line above them.
    """
    rows = [
        line(1, TotalCPU="", NCPUS=2, MaxRSS="90M", MaxDiskRead="90M"),
        step("1.0", TotalCPU="00:04", NTasks=3, MaxRSS="2M", MaxDiskRead="10M"),
        step("1.1", TotalCPU="00:03", MaxRSS="5M", MaxDiskRead="20M", MaxDiskWrite="4M"),
        line(1, TotalCPU="00:02", Submit=f"{DAY}10:00:09", MaxRSS="3M"),
        step("1.0", TotalCPU="00:09", NTasks=0, MaxDiskWrite="8M"),
        step("2.0", MaxRSS="1M"),
    ]
    trace = read(tmp_path, *rows, reading=LogReading(disk_read_share=0.5, disk_write_share=0.25))
    jobs = trace.jobs
    assert jobs["cpu_ms"].tolist() == [3500.0, 2000.0]
    assert jobs["memory_mb"].tolist() == pytest.approx([3 * MB, 3 * MB])
    assert jobs["disk_mb"].tolist() == pytest.approx([(0.5 * 50 + 0.25 * 4) * MB / 2, 0.25 * 8 * MB])
    assert jobs["write_share"].tolist() == pytest.approx([1 / 26, 1.0])
    assert trace.skipped == {"step of a job, counted with it": 3, "step without the line of its job": 1}
    assert trace.noted == {
        "job id seen before (requeued)": 1, "bytes of calls, shares of them taken for the disk's": 2,
    }  # fmt: skip


@pytest.mark.parametrize(("values", "requested"), [
    ({"TimelimitRaw": 2}, 120_000.0), ({"TimelimitRaw": 2, "Timelimit": "00:05:00"}, 120_000.0),
    ({"Timelimit": "00:05:00"}, 300_000.0), ({"TimelimitRaw": 0}, None), ({"Timelimit": "UNLIMITED"}, None),
])  # fmt: skip
def test_a_limit_of_time(tmp_path, values, requested):
    jobs = read(tmp_path, line(**values)).jobs
    assert ("requested_ms" in jobs) == (requested is not None)
    assert requested is None or jobs["requested_ms"].tolist() == [requested]


@pytest.mark.parametrize(("start", "early"), [("09:59:59", True), ("10:00:00", False), ("10:00:01", False)])
def test_a_start_before_the_submission(tmp_path, start, early):
    trace = read(tmp_path, line(Start=f"{DAY}{start}"))
    assert trace.noted == ({"starts before it is submitted": 1} if early else {})

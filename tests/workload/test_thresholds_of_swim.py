"""Lines of samples of SWIM at the bounds of usable values, and the words about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster_abm.workload.traces import LogReading, Trace, read_trace
from cluster_abm.workload.traces.formats.swim import looks_like_swim

PLAIN = LogReading()
MOST = 2**63


def read(folder: Path, *lines: str, reading: LogReading = PLAIN) -> Trace:
    path = folder / "FB.tsv"
    path.write_text("".join(line.replace(" ", "\t") + "\n" for line in lines))
    return read_trace(path, reading=reading)


USUAL = "job0 0 0 2000000 1000000 1000000"


@pytest.mark.parametrize(("line", "reason"), [
    ("job1 0 0 1 0 0", None), ("job1 -1 0 1 0 0", "negative submit time"), ("job1 - 0 1 0 0", "no submit time"),
    ("job1 5 - 1 0 0", None), ("job1 5 0 0 0 0", None),
    ("job1 5 0 -1 5 0", "negative bytes"), ("job1 5 0 5 -1 0", "negative bytes"), ("job1 5 0 5 0 -1", "negative bytes"),
    ("job1 5 0 - 0 0", "bytes not known"), ("job1 5 0 0 - 0", "bytes not known"), ("job1 5 0 0 0 -", "bytes not known"),
    (f"job1 5 0 {MOST} 0 0", "bytes beyond 2^63"), (f"job1 5 0 0 {MOST} 0", "bytes beyond 2^63"),
    (f"job1 5 0 0 0 {MOST}", "bytes beyond 2^63"), (f"job1 5 0 {MOST // 2} 0 0", None),
])  # fmt: skip
def test_usable_lines(tmp_path, line, reason):
    trace = read(tmp_path, USUAL, line)
    assert trace.skipped == ({} if reason is None else {reason: 1})
    assert trace.noted == ({"no bytes at all": 1} if line == "job1 5 0 0 0 0" else {})


@pytest.mark.parametrize(("task_mb", "most", "tasks"), [
    # The job has 4 MB.
    (4.0, None, 1), (3.9, None, 2), (2.0, None, 2), (1.9, None, 3), (100.0, None, 1), (1.0, 4, 4), (1.0, 3, 3),
    (1.0, 5, 4), (None, None, 1),
])  # fmt: skip
def test_a_job_has_a_task_for_each_task_mb(tmp_path, task_mb, most, tasks):
    trace = read(tmp_path, USUAL, reading=LogReading(cpu_ms_per_mb=50.0, task_mb=task_mb, max_tasks=most))
    assert trace.jobs["tasks"].tolist() == [tasks]
    assert trace.jobs["cpu_ms"].tolist() == pytest.approx([200.0 / tasks])
    assert trace.jobs["disk_mb"].tolist() == pytest.approx([4.0 / tasks])
    # Bytes of the shuffle and of the output are written: 2 of 4 MB.
    assert trace.jobs["write_share"].tolist() == [0.5]
    words = trace.filled["tasks"]
    assert (f"one for each {task_mb:g} MB" in words) if task_mb else words.startswith("one each")
    assert (f"at most {most}" in words) == (most is not None)
    assert trace.filled["cpu_ms"].startswith("50 ms for each MB")


def test_a_job_without_bytes_has_one_task(tmp_path):
    trace = read(tmp_path, USUAL, "job1 5 0 0 0 0", reading=LogReading(task_mb=1.0))
    assert trace.jobs["tasks"].tolist() == [4.0, 1.0]


@pytest.mark.parametrize(("cells", "is_swim"), [
    (["job0", "0", "0", "1", "1", "1"], True), (["job_0", "0", "0", "1", "1", "1"], True),
    (["job0", "0", "0", "1", "1"], False), (["task0", "0", "0", "1", "1", "1"], False),
    # A path may follow the numbers. Then all five have to be numbers.
    (["job0", "0", "0", "1", "1", "1", "/a"], True), (["job0", "0", "0", "1", "1", "/a", "1"], False),
    (["job0", "x", "0", "1", "1", "1", "/a"], False), (["job0", "x", "0", "1", "1", "1"], True),
])  # fmt: skip
def test_a_first_line_of_swim(cells, is_swim):
    assert looks_like_swim(cells) == is_swim

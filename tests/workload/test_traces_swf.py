"""SWF logs: each trap of real logs on a line of its own, and every line accounted for."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import LogReading, Trace, read_trace, trace_info

HEADER = "; Version: 2.2\n; MaxRecords: {rows}\n"
# A job that ran 100 s on 4 processors, used 80.5 s of CPU and 2,500 KB on each, and asked for 200 s.
PLAIN = {
    "number": 1,
    "submit": 0,
    "wait": 5,
    "run": 100,
    "allocated": 4,
    "cpu": 80.5,
    "memory": 2500,
    "requested": 4,
    "requested_time": 200,
    "requested_memory": -1,
    "status": 1,
    "user": 1,
    "group": 1,
    "program": 1,
    "queue": 1,
    "partition": 1,
    "preceding": -1,
    "think": -1,
}


def line(**changes: object) -> str:
    assert set(changes) <= set(PLAIN)
    return " ".join(str(value) for value in (PLAIN | changes).values()) + "\n"


def read(folder: Path, *lines: str, header: str | None = None, name: str = "log.swf") -> Trace:
    path = folder / name
    text = (HEADER.format(rows=len(lines)) if header is None else header) + "".join(lines)
    path.write_bytes(text.encode())
    trace = read_trace(path)
    assert trace.rows == len(trace.jobs) + sum(trace.skipped.values())
    return trace


def problems(folder: Path, *lines: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(folder, *lines)
    return caught.value.problems


def only(trace: Trace) -> dict[str, float]:
    assert len(trace.jobs) == 1
    return trace.jobs.iloc[0].to_dict()


def test_a_plain_job(tmp_path: Path) -> None:
    trace = read(tmp_path, line(submit=12))
    # 12 s, 80.5 s and 200 s in ms; 2,500 KB are 2.5 MB; the home is not said.
    told = {"arrival_ms": 12_000.0, "cpu_ms": 80_500.0, "memory_mb": 2.5, "tasks": 4.0, "requested_ms": 200_000.0}
    told |= {"recorded_wait_ms": 5000.0, "user": "1", "group": "1"}
    assert only(trace) == told
    assert (trace.format, trace.rows, trace.skipped, trace.noted) == ("swf", 1, {}, {})
    assert (trace.fields["home"], trace.fields["tasks"]) == (0.0, 1.0)


def test_waits_users_and_groups(tmp_path: Path) -> None:
    """Waits of 5 and 0 s are known; -1 is not known, and -7 cannot be: both are left out, and counted."""
    trace = read(
        tmp_path, line(), line(number=2, wait=0, user=23), line(number=3, wait=-1, user=-1, group=-1),
        line(number=4, wait=-7, group=9),
    )  # fmt: skip
    waits_ms = trace.table["recorded_wait_ms"].tolist()
    assert waits_ms[:2] == [5000.0, 0.0]
    assert all(map(math.isnan, waits_ms[2:]))
    assert trace.table["user"].tolist() == ["1", "23", "", "1"]
    assert trace.table["group"].tolist() == ["1", "1", "", "9"]
    assert trace.noted == {"wait time not known": 1, "negative wait time, left out": 1}
    waits = {"jobs": 2, "mean": 2.5, "median": 2.5, "p95": 4.75}
    by = {"by_width": {"2-4": waits}, "by_hour": None}
    assert trace_info(trace)["recorded_wait_s"] == waits | {"max": 5.0} | by


def test_a_log_without_waits_and_users_has_no_such_columns(tmp_path: Path) -> None:
    trace = read(tmp_path, line(wait=-1, user=-1, group=-1))
    assert not {"recorded_wait_ms", "user", "group"} & set(trace.table)
    assert trace.noted == {}
    assert trace_info(trace)["recorded_wait_s"] is None


def test_decimal_seconds_become_exact_milliseconds(tmp_path: Path) -> None:
    # 2.01 * 1000 is 2009.9999999999998 in floating point.
    assert only(read(tmp_path, line(cpu=2.01)))["cpu_ms"] == 2010.0


@pytest.mark.parametrize(
    ("changes", "expected", "remark"),
    [
        ({"cpu": -1}, {"cpu_ms": 100_000.0}, "CPU time not known, run time used"),
        ({"cpu": 101}, {"cpu_ms": 100_000.0}, "CPU time above run time, cut to it"),
        ({"run": -1}, {"cpu_ms": 80_500.0}, "run time 0 or not known, CPU time used"),
        ({"run": 0}, {"cpu_ms": 80_500.0}, "run time 0 or not known, CPU time used"),
        ({"allocated": -1, "requested": 8}, {"tasks": 8.0}, "allocated processors not known, requested used"),
        ({"allocated": 0, "requested": 8}, {"tasks": 8.0}, "allocated processors not known, requested used"),
        ({"requested_time": 99}, {"cpu_ms": 80_500.0}, "run time above requested time"),
        ({"memory": -1, "requested_memory": 9000}, {"cpu_ms": 80_500.0}, "memory not known"),
        ({"memory": 0}, {"cpu_ms": 80_500.0}, "memory 0, read as not known"),
        ({"status": 0}, {"cpu_ms": 80_500.0}, "failed, its work counts"),
        ({"status": 5}, {"cpu_ms": 80_500.0}, "cancelled while it ran, its work counts"),
        ({"status": 3}, {"cpu_ms": 80_500.0}, "part of a job without a line of its own"),
        ({"requested_time": -7}, {"cpu_ms": 80_500.0}, "negative value other than -1, read as not known"),
    ],
)
def test_remarkable_jobs_are_kept_and_counted(
    tmp_path: Path, changes: dict[str, float], expected: dict[str, float], remark: str
) -> None:
    trace = read(tmp_path, line(**changes))
    assert trace.noted == {remark: 1}
    assert trace.skipped == {}
    job = only(trace)
    assert {name: job[name] for name in expected} == expected
    assert ("memory_mb" in job) == (not remark.startswith("memory"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"run": -1, "cpu": -1, "allocated": -1, "status": 5}, "cancelled before it ran"),
        ({"run": 0, "cpu": -1, "status": 5}, "cancelled before it ran"),
        ({"run": 0, "cpu": -1}, "zero run time"),
        ({"run": 0, "cpu": 0}, "zero run time"),
        ({"run": -1, "cpu": -1}, "no run time and no CPU time"),
        ({"cpu": 0}, "zero CPU time"),
        ({"allocated": -1, "requested": -1}, "no processors"),
        ({"allocated": 0, "requested": 0}, "no processors"),
        ({"submit": -1}, "no submit time"),
    ],
)
def test_rows_that_are_no_work_are_skipped_by_reason(tmp_path: Path, changes: dict[str, float], reason: str) -> None:
    trace = read(tmp_path, line(), line(number=2, **changes))
    assert trace.skipped == {reason: 1}
    assert trace.noted == {}
    assert only(trace)["cpu_ms"] == 80_500.0


def test_parts_of_a_job_do_not_count_beside_the_whole(tmp_path: Path) -> None:
    parts = [line(run=50, cpu=40, status=2), line(run=50, cpu=40.5, status=3)]
    trace = read(tmp_path, line(), *parts)
    assert trace.skipped == {"part of a job that has a line of its own": 2}
    assert only(trace)["cpu_ms"] == 80_500.0


def test_known_and_unknown_memory_in_one_log(tmp_path: Path) -> None:
    trace = read(tmp_path, line(), line(number=2, memory=-1))
    memory = trace.jobs["memory_mb"].to_numpy()
    assert memory[0] == 2.5
    assert np.isnan(memory[1])
    assert trace.fields["memory_mb"] == 0.5


def test_submissions_out_of_order_are_sorted_and_noted(tmp_path: Path) -> None:
    order = [(30, 1), (10, 2), (20, 3), (10, 4)]  # two of them lie before the row above
    trace = read(tmp_path, *(line(number=tasks, submit=at, allocated=tasks) for at, tasks in order))
    assert trace.jobs["arrival_ms"].tolist() == [10_000.0, 10_000.0, 20_000.0, 30_000.0]
    assert trace.jobs["tasks"].tolist() == [2.0, 4.0, 3.0, 1.0]
    assert trace.noted == {"submitted before the row above, sorted": 2}


def test_sorting_keeps_the_order_of_equal_submissions(tmp_path: Path) -> None:
    trace = read(tmp_path, *(line(number=row, submit=row % 3, allocated=row + 1) for row in range(300)))
    expected = [row + 1 for second in range(3) for row in range(second, 300, 3)]
    assert trace.jobs["tasks"].tolist() == expected


def test_a_run_as_long_as_requested_or_as_its_cpu_time_is_nothing_remarkable(tmp_path: Path) -> None:
    assert read(tmp_path, line(requested_time=100, cpu=100)).noted == {}


def test_job_numbers_seen_before_are_noted(tmp_path: Path) -> None:
    assert read(tmp_path, line(), line(), line()).noted == {"job number seen before": 2}


def test_indented_header_inner_remarks_blank_lines_and_tabs(tmp_path: Path) -> None:
    header = "  ;  Computer: A\tcluster\n;\n; Note: cleaned\n;    user=2 (3 jobs removed)\n; Note: twice\n\n"
    first = "   " + line().replace(" ", "\t")
    trace = read(tmp_path, first, "; in between\n", line(number=2).replace("\n", " ; why\r\n"), "\n", header=header)
    assert trace.rows == 2
    assert trace.header == {"Computer": "A\tcluster", "Note": "cleaned\nuser=2 (3 jobs removed)\ntwice"}
    assert trace.noted == {}


def test_an_address_in_the_header_is_no_key(tmp_path: Path) -> None:
    trace = read(tmp_path, line(), header="; Information: http://a/\n;    http://b/\n; Empty:\n")
    assert trace.header == {"Information": "http://a/\nhttp://b/", "Empty": ""}


def test_no_header_and_a_wrong_count_are_noted(tmp_path: Path) -> None:
    assert read(tmp_path, line(), header="").noted == {"no header": 1}
    differs = read(tmp_path, line(), header="; MaxRecords: 42\n")
    assert differs.noted == {"rows more or less than the header's MaxRecords": 41}


def test_fields_beyond_the_eighteenth_are_noted(tmp_path: Path) -> None:
    trace = read(tmp_path, line(), line(number=2).replace("\n", " 7 8\n"))
    assert trace.noted == {"more than 18 fields, the rest ignored": 1}
    assert trace.jobs["cpu_ms"].tolist() == [80_500.0, 80_500.0]


def test_a_header_in_an_old_encoding(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_bytes("; Acknowledge: Åke\n".encode("latin-1") + line().encode())
    assert read_trace(path).header == {"Acknowledge": "Åke"}


def test_lines_cut_off_and_cells_that_are_no_numbers_are_errors_by_line(tmp_path: Path) -> None:
    found = problems(
        tmp_path, line(), line(cpu="x"), line(allocated=2.5), line(submit="nan"), "1 2 3\n", line()[:-4] + "\n"
    )
    where = f"{tmp_path / 'log.swf'}, line "
    assert [problem.removeprefix(where)[:2] for problem in found] == ["4:", "5:", "6:", "7:", "8:"]
    assert "average CPU time = 'x': allowed: a number up to 1000000000, -1 if not known" in found[0]
    assert "allocated processors = '2.5': allowed: a whole number" in found[1]
    assert "submit time = 'nan'" in found[2]
    assert "3 fields (cut off?): allowed: 18 numbers" in found[3]
    assert "17 fields (cut off?): allowed: 18 numbers" in found[4]


def test_a_log_without_a_job_that_ran(tmp_path: Path) -> None:
    found = problems(tmp_path, line(run=-1, cpu=-1, status=5), line(run=0, cpu=0))
    assert "none of its 2 rows is a job that ran" in found[0]
    assert "1: cancelled before it ran; 1: zero run time" in found[0]


def test_a_log_of_remarks_only(tmp_path: Path) -> None:
    assert "no job in the log" in problems(tmp_path)[0]


@pytest.mark.parametrize("said", ["²", "٣", "-1", "9" * 5000])
def test_a_number_of_rows_that_is_none_says_nothing(tmp_path: Path, said: str) -> None:
    assert read(tmp_path, line(), header=f"; MaxRecords: {said}\n").noted == {}


@pytest.mark.slow
def test_a_value_continued_over_many_lines(tmp_path: Path) -> None:
    # Joined one by one they would be copied 300,000 times.
    trace = read(tmp_path, line(), header="; Note: first\n" + "; next\n" * 300_000)
    assert trace.header["Note"] == "first" + "\nnext" * 300_000


@pytest.mark.parametrize("most", [2**31 - 1, 2**32 - 1])
@pytest.mark.parametrize("field", ["requested_time", "requested", "requested_memory"])
def test_a_request_of_all_there_is_is_not_known(tmp_path: Path, most: int, field: str) -> None:
    """CEA-Curie has 3 among 312,826 jobs with such a requested time."""
    path = tmp_path / "log.swf"
    path.write_text(line(**{field: most}, allocated=3) + line(number=2, submit=1, requested_memory=2000))
    trace = read_trace(path, reading=LogReading(memory="requested"))
    assert trace.noted["a request of 2^31 - 1 or 2^32 - 1, read as not known"] == 1
    job = trace.jobs.iloc[0]
    assert job["tasks"] == 3
    assert np.isnan(job["requested_ms"]) == (field == "requested_time")
    assert np.isnan(job["memory_mb"])
    # Other numbers beyond the bounds are still wrong.
    with pytest.raises(InputError, match=r"line 1: requested time = '2147483646': allowed: a number up to 1000000000,"):
        read(tmp_path, line(requested_time=2**31 - 2), header="")


def test_a_request_for_all_processors_is_no_number_of_processors(tmp_path: Path) -> None:
    assert read(tmp_path, line(), line(allocated=-1, requested=2**31 - 1)).skipped == {"no processors": 1}


def test_job_numbers_are_names_and_memory_may_be_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(line(number=6_251_812_952, memory=68_719_476_736, requested_memory=2**33) + line(number="7e11"))
    assert read_trace(path).jobs["memory_mb"].tolist() == [68_719_476.736, 2.5]
    trace = read_trace(path, reading=LogReading(memory="requested"))
    assert trace.jobs["memory_mb"].iloc[0] == 8_589_934.592
    with pytest.raises(InputError, match=r"line 1: job number = 'x': allowed: a number, -1 if not known"):
        read(tmp_path, line(number="x"), header="")


def test_unix_submit_times_are_counted_from_the_first_job(tmp_path: Path) -> None:
    at = 1_356_996_147
    rows = [
        line(submit=at - 5, run=-1, cpu=-1),
        line(submit=at),
        line(submit=at + 60.5),
        line(submit=0),
        line(submit=-1),
    ]
    trace = read(tmp_path, *rows)
    assert trace.jobs["arrival_ms"].tolist() == [0.0, 60_500.0]
    assert trace.skipped == {"no run time and no CPU time": 1, "no submit time": 2}
    assert trace.noted["submit times are Unix times, counted from the first"] == 2
    # The hours of the day follow from it, whatever the header says of the log's begin.
    assert trace.header["UnixStartTime"] == str(at)
    # A job long after the log's begin is none of it.
    assert read(tmp_path, line(submit=4e8)).jobs["arrival_ms"].tolist() == [4e11]


@pytest.mark.parametrize(
    ("submits", "words"),
    [
        ((0, 1_356_996_147), "line 4: submit time = '1356996147': allowed: a number up to 1000000000, -1 if not"),
        ((1_356_996_147, 60), "line 4: submit time = '60': allowed: a number up to 100000000000 (s since 1970, from "),
        ((1_356_996_147_000, 1_356_996_148_000), "line 3: submit time = '1356996147000'"),
        ((6e8, 1e10), "submissions from 1989-01-05T10:40:00.000 to 2286-11-20T17:46:40.000: allowed up to 32 years"),
    ],
)
def test_submit_times_that_fit_no_clock(tmp_path: Path, submits: tuple[float, float], words: str) -> None:
    assert words in problems(tmp_path, *(line(submit=submit) for submit in submits))[0]


def test_jobs_that_come_after_others_are_counted(tmp_path: Path) -> None:
    rows = [
        line(),
        line(number=2, preceding=1, think=30),
        line(number=3, preceding=2, think=0),
        line(number=4, preceding=0),
    ]
    noted = "preceding job given, not followed; workload.trace.dependences = true follows it"
    assert read(tmp_path, *rows).noted == {noted: 2}
    # What nothing is made of is not checked.
    assert read(tmp_path, line(preceding="x", think="y")).noted == {}


RUN_TIMES = 'hardly what the jobs used; workload.trace.cpu_time = "run" takes the run times'


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ([(56_011, 1), (1_164_297, 1)], "CPU times are all 1 s"),
        ([(1000, 2), (5000, 0.5)], "CPU times are less than 1% of the run times in all"),
        # Jobs of one length may well use the same; jobs that wait use little.
        ([(100, 80), (100, 80)], ""),
        ([(5000, 1), (100, 80)], ""),
        ([(100, -1), (200, -1)], ""),
    ],
)
def test_cpu_times_that_are_a_placeholder_are_noted(
    tmp_path: Path, jobs: list[tuple[float, float]], words: str
) -> None:
    rows = [line(number=number, run=run, cpu=cpu, requested_time=-1) for number, (run, cpu) in enumerate(jobs)]
    noted = {remark: count for remark, count in read(tmp_path, *rows).noted.items() if "hardly" in remark}
    assert noted == ({f"{words}: {RUN_TIMES}": 2} if words else {})
    taken = read_trace(tmp_path / "log.swf", reading=LogReading(cpu_time="run"))
    assert taken.jobs["cpu_ms"].tolist() == [run * 1000.0 for run, _ in jobs]
    assert not any("hardly" in remark for remark in taken.noted)


def test_a_log_of_no_cpu_time_says_the_key_for_it(tmp_path: Path) -> None:
    assert problems(tmp_path, line(cpu=0))[0].endswith(
        '(1: zero CPU time); workload.trace.cpu_time = "run" takes the run times'
    )

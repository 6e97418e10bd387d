"""Preceding jobs and think times of an SWF log: which are followed, what becomes of the others, and what is kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import PLAIN, finished, scenario

from cluster_abm.errors import InputError
from cluster_abm.workload import work_of
from cluster_abm.workload.traces import LogReading, Trace, read_trace, trace_info, write_csv, write_parquet
from cluster_abm.workload.traces.preceding import ITSELF, LATER, SKIPPED, UNKNOWN

FOLLOWED = LogReading(dependences=True)
INPUTS = (
    Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data")).parent / "inputs"
)
ON = {"workload__trace__dependences": True}


def line(number: object, submit: object, run: object, preceding: object = -1, think: object = -1) -> str:
    """A job of one processor, which computes for its run time."""
    return f"{number} {submit} 0 {run} 1 {run} -1 1 {run} -1 1 1 1 1 1 -1 {preceding} {think}\n"


def read(folder: Path, *lines: str, reading: LogReading = FOLLOWED, **options: Any) -> Trace:
    path = folder / "log.swf"
    path.write_text("; Version: 2.2\n" + "".join(lines))
    return read_trace(path, reading=reading, **options)


def by_job(file: Path, column: str, **more: Any) -> list[float]:
    """A column of each job's last task, on nodes without any cost of their own, in the order of the table [s]."""
    keys = {"workload__kind": "trace", "workload__trace__file": str(file), "policy__name": "none", "cluster__nodes": 4}
    frame = finished(1, **PLAIN | {"cluster__cores": 8} | keys | more).jobs_frame()
    return (frame.groupby("job")[column].max() / 1000.0).tolist()


# The first job ends at 60 s. The second one's user thinks for 30 s, the third one's not at all.
PRECEDED = (line(1, 0, 60), line(2, 10, 60, 1, 30), line(3, 20, 60, 2, 0))
SLICE_S = 0.01


def test_jobs_follow_each_other_by_their_think_times(tmp_path: Path) -> None:
    """An end becomes known with its slice of 10 ms: what follows at once begins up to a slice later."""
    read(tmp_path, *PRECEDED)
    file = tmp_path / "log.swf"
    assert by_job(file, "finish_ms", **ON) == pytest.approx([60, 150, 210], abs=1.001 * SLICE_S)
    assert by_job(file, "finish_ms") == [60, 70, 80]


@pytest.mark.skipif(not INPUTS.is_dir(), reason="the shared inputs are not here")
def test_the_shared_input_ends_as_said() -> None:
    file = INPUTS / "swf-precjob.swf"
    assert by_job(file, "finish_ms", **ON) == pytest.approx([60, 150, 210], abs=1.001 * SLICE_S)


def test_a_think_time_counts_whenever_the_log_had_the_job_submitted(tmp_path: Path) -> None:
    """The first ends at 60 s. With a think time of 5 s: 65 s, though the log says 500 s. Without one: not before the
    log's own 500 s, and not before the end."""
    read(tmp_path, line(1, 0, 60), line(2, 20, 1, 1, -1), line(3, 500, 1, 1, 5), line(4, 500, 1, 1, -1))
    assert by_job(tmp_path / "log.swf", "arrival_ms", **ON) == pytest.approx([0, 60, 65, 500], abs=1.001 * SLICE_S)


def test_what_is_not_followed_is_counted_by_why(tmp_path: Path) -> None:
    rows = (
        line(1, 0, 60), line(2, 1, 60, 2, 5), line(3, 2, 60, 4, 5), line(4, 3, 60, 3, 5), line(5, 4, 0, -1, -1),
        line(6, 5, 60, 5, 5), line(7, 6, 60, 99, 5), line(8, 7, 60, 0, 5), line(9, 8, 60, 1, 5),
    )  # fmt: skip
    trace = read(tmp_path, *rows)
    # 3 and 4 wait for each other: only 4 stands behind the other one. 0 is no job number.
    assert {name: trace.noted[name] for name in (ITSELF, LATER, SKIPPED, UNKNOWN)} == dict.fromkeys(
        (ITSELF, LATER, SKIPPED, UNKNOWN), 1
    )
    assert trace.skipped == {"zero run time": 1}
    assert trace.jobs["after"].tolist() == ["", "", "", "3", "", "", "", "1"]
    np.testing.assert_array_equal(trace.jobs["think_ms"], [np.nan] * 3 + [5000.0] + [np.nan] * 3 + [5000.0])
    assert trace_info(trace)["dependence"] == {
        "jobs_with_parents": 2, "dependences": 2, "depth": 2, "critical_path_s": 120.0,
    }  # fmt: skip
    assert "workload.trace.dependences" not in str(trace.noted)
    plain = read(tmp_path, *rows, reading=LogReading())
    assert plain.parents is None
    assert plain.noted["preceding job given, not followed; workload.trace.dependences = true follows it"] == 6


def test_of_equal_numbers_the_last_one_before_precedes_and_rows_out_of_order_are_sorted(tmp_path: Path) -> None:
    trace = read(tmp_path, line(3, 50, 1, 7, 2), line(7, 0, 1), line(7, 10, 1), line(7, 60, 1, 3, 1))
    assert trace.jobs["arrival_ms"].tolist() == [0, 10_000, 50_000, 60_000]
    assert trace.jobs["job"].tolist() == ["7", "7_2", "3", "7_3"]
    assert trace.jobs["after"].tolist() == ["", "", "7_2", "3"]
    assert trace.parents is not None
    assert trace.parents.parent.tolist() == [1, 2]
    assert trace.parents.counts.tolist() == [0, 0, 1, 1]


def test_nothing_to_follow_makes_no_columns(tmp_path: Path) -> None:
    trace = read(tmp_path, line(1, 0, 60), line(2, 1, 60))
    assert trace.parents is None
    assert not {"job", "after", "think_ms"} & set(trace.jobs)


@pytest.mark.parametrize(("fields", "words"), [
    (("x", 5), "line 2: preceding job = 'x': allowed: a number, -1 if not known"),
    ((1, "y"), "line 2: think time = 'y': allowed: a number up to 1000000000, -1 if not known"),
    ((1, 1e10), "line 2: think time = '10000000000.0'"),
])  # fmt: skip
def test_fields_that_count_are_checked(tmp_path: Path, fields: tuple[object, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, line(1, 0, 1, *fields))
    assert words in caught.value.problems[0]
    assert read(tmp_path, line(1, 0, 1, *fields), reading=LogReading()).rows == 1


def test_think_times_beyond_the_clock_are_refused_before_the_run(tmp_path: Path) -> None:
    """Each up to 1e12 ms; five in a chain are more than 64 bits of nanoseconds hold, five beside each other are not."""
    rows = [line(1, 0, 1), *(line(number, 0, 1, number - 1, 1e9) for number in range(2, 8))]
    read(tmp_path, *rows)
    with pytest.raises(InputError, match="all work together of the jobs reaches 6e"):
        by_job(tmp_path / "log.swf", "finish_ms", **ON)
    read(tmp_path, line(1, 0, 1), *(line(number, 0, 1, 1, 9e8) for number in range(2, 8)))
    chosen = {"workload__kind": "trace", "workload__trace__file": str(tmp_path / "log.swf"), "cluster__nodes": 4}
    assert work_of(scenario(**chosen, **ON), 1).jobs["think_ns"].max() == 900_000_000 * 10**9


def test_a_part_of_a_log_follows_what_is_in_it(tmp_path: Path) -> None:
    """From 10 s on: the first is left out, so the second comes at its own time, and the third after it."""
    read(tmp_path, *PRECEDED)
    came = by_job(tmp_path / "log.swf", "arrival_ms", workload__trace__start_s=10.0, **ON)
    assert came == pytest.approx([0, 60], abs=1.001 * SLICE_S)


def test_a_sample_keeps_jobs_that_follow_each_other_together(tmp_path: Path) -> None:
    """Pairs: half of them are kept, whole, and no job of the rest."""
    rows = [line(number, number, 1, number - 1 if number % 2 == 0 else -1, 3) for number in range(1, 401)]
    trace = read(tmp_path, *rows, sample=0.5)
    assert 0 < len(trace.jobs) < 400
    numbers = trace.jobs["job"].astype(int)
    assert set(numbers[numbers % 2 == 0] - 1) == set(numbers[numbers % 2 == 1])
    assert trace.parents is not None
    assert len(trace.parents.parent) == len(trace.jobs) / 2


def test_tables_keep_what_is_followed(tmp_path: Path) -> None:
    trace = read(tmp_path, *PRECEDED)
    write_csv(trace, tmp_path / "o.csv")
    write_parquet(trace, tmp_path / "o.parquet")
    expected = by_job(tmp_path / "log.swf", "finish_ms", **ON)
    for name in ("o.csv", "o.parquet"):
        pd.testing.assert_frame_equal(read_trace(tmp_path / name).jobs, trace.jobs, check_exact=True)
        assert by_job(tmp_path / name, "finish_ms", workload__trace__homes="drawn") == expected


def test_a_think_time_needs_a_job_that_it_follows(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms,job,after,think_ms\n0,1,a,,\n0,1,b,a,5\n0,1,c,,5\n")
    with pytest.raises(InputError, match="line 4: think_ms: allowed only where after names a job"):
        read_trace(path)
    path.write_text("arrival_ms,cpu_ms,think_ms\n0,1,5\n")
    with pytest.raises(InputError, match="column 'after' is missing"):
        read_trace(path)


def test_other_formats_name_those_that_have_such_fields(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms\n0,1\n")
    words = "workload.trace.dependences = true: allowed for these formats alone: swf; this is a csv trace"
    with pytest.raises(InputError, match=words):
        read_trace(path, reading=FOLLOWED)


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(1, 40), st.integers(0, 12), st.integers(-1, 20)),
        min_size=1,
        max_size=10,
    )
)
def test_submissions_are_those_of_the_standard(tmp_path: Path, jobs: list[tuple[int, int, int, int]]) -> None:
    """Whatever precedes whatever: each job's submission follows from the end of its preceding job alone."""
    rows = [line(number, *job) for number, job in enumerate(jobs, 1)]
    trace = read(tmp_path, *rows)
    after = trace.jobs["after"].tolist() if "after" in trace.jobs else [""] * len(jobs)
    ids = trace.jobs["job"].tolist() if "job" in trace.jobs else [""] * len(jobs)
    file, many = tmp_path / "log.swf", {"cluster__cores": 16}
    came, ended = (by_job(file, column, **ON | many) for column in ("arrival_ms", "finish_ms"))
    for row, before in enumerate(after):
        logged_s = trace.jobs["arrival_ms"][row] / 1000.0
        if not before:
            assert came[row] == pytest.approx(logged_s)
            continue
        end_s = ended[ids.index(before)]
        think_s = trace.jobs["think_ms"][row] / 1000.0
        due_s = max(logged_s, end_s) if np.isnan(think_s) else end_s + think_s
        assert due_s - 1e-9 <= came[row] <= due_s + 1.001 * SLICE_S

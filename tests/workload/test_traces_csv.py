"""Our CSV: what is read, what is refused and in which words, and that writing it loses no digit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import COLUMNS, Trace, read_trace, write_csv
from cluster_abm.workload.traces.parts.resources import resources_text
from cluster_abm.workload.traces.table import job_frame

SMALL = """arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name
0,3,100,0.05,4,sh
2.5,0,7.25,,1.5,"a, b"
2.5,1,1e3,0,,
"""


def read(folder: Path, text: str, name: str = "jobs.csv") -> Trace:
    path = folder / name
    path.write_bytes(text.encode())
    return read_trace(path)


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(folder, text)
    assert all("jobs.csv" in problem for problem in caught.value.problems)
    return caught.value.problems


def test_columns_values_and_gaps(tmp_path: Path) -> None:
    trace = read(tmp_path, SMALL)
    nan = float("nan")
    expected = pd.DataFrame(
        {
            "arrival_ms": [0.0, 2.5, 2.5],
            "home": [3.0, 0.0, 1.0],
            "cpu_ms": [100.0, 7.25, 1000.0],
            "io_per_ms": [0.05, nan, 0.0],
            "memory_mb": [4.0, 1.5, nan],
            "name": ["sh", "a, b", ""],
        }
    )
    pd.testing.assert_frame_equal(trace.jobs, expected, check_exact=True)
    assert (trace.format, trace.rows, trace.skipped, trace.noted) == ("csv", 3, {}, {})
    assert trace.fields["io_per_ms"] == pytest.approx(2 / 3)
    assert trace.fields["name"] == pytest.approx(2 / 3)
    assert trace.fields["tasks"] == 0.0


def test_two_columns_are_enough(tmp_path: Path) -> None:
    assert list(read(tmp_path, "cpu_ms,arrival_ms\n5,0\n").jobs.columns) == ["arrival_ms", "cpu_ms"]


def test_equal_arrivals_keep_their_order(tmp_path: Path) -> None:
    rows = "".join(f"{row // 50},{row + 1}\n" for row in range(100))
    assert read(tmp_path, "arrival_ms,cpu_ms\n" + rows).jobs["cpu_ms"].tolist() == list(range(1, 101))


def test_byte_order_mark_crlf_and_spaces_are_harmless(tmp_path: Path) -> None:
    trace = read(tmp_path, "\ufeffarrival_ms , cpu_ms\r\n 0 , 5\r\n1,6\r\n")
    assert trace.jobs["cpu_ms"].tolist() == [5.0, 6.0]


def test_blank_lines_and_a_missing_line_end_are_noted(tmp_path: Path) -> None:
    trace = read(tmp_path, "arrival_ms,cpu_ms\n0,5\n\n1,6")
    assert trace.rows == 2
    assert trace.noted == {"blank lines": 1, "last line without a line end (cut off?)": 1}


def test_what_jobs_gives_out_is_the_callers_own(tmp_path: Path) -> None:
    trace = read(tmp_path, SMALL)
    jobs = trace.jobs
    jobs["cpu_ms"] = 1.0
    assert trace.jobs["cpu_ms"].tolist() == [100.0, 7.25, 1000.0]


@pytest.mark.parametrize(
    ("column", "value", "allowed"),
    [
        ("arrival_ms", "-1", "a number from 0 to 1e+12"),
        ("arrival_ms", "nan", "a number from 0"),
        ("arrival_ms", "", "a number from 0"),
        ("arrival_ms", "2e12", "a number from 0 to 1e+12"),
        ("cpu_ms", "0", "a number above 0"),
        ("cpu_ms", "-3", "a number above 0"),
        ("cpu_ms", "inf", "a number above 0"),
        ("cpu_ms", "ten", "a number above 0"),
        ("cpu_ms", "1_0", "a number above 0"),
        ("cpu_ms", " ", "a number above 0"),
        ("home", "-1", "a whole number from 0"),
        ("home", "1.5", "a whole number from 0"),
        ("home", "3000000000", "a whole number from 0 to 2147483647"),
        ("io_per_ms", "-0.1", "a number from 0"),
        ("io_per_ms", "NaN", "a number from 0"),
        ("memory_mb", "-4", "a number from 0"),
        ("memory_mb", "4 MB", "a number from 0"),
        ("tasks", "0", "a whole number from 1"),
        ("tasks", "2.5", "a whole number from 1"),
        ("request_kb", "0", "a number above 0"),
        ("initial_data_mb", "-inf", "a number from 0"),
        ("write_share", "1.1", "a number from 0 to 1"),
        ("reaccess_rate", "-1", "a number from 0"),
    ],
)
def test_a_wrong_value_names_line_column_value_and_what_is_allowed(
    tmp_path: Path, column: str, value: str, allowed: str
) -> None:
    good = {"arrival_ms": "0", "cpu_ms": "5"} | ({column: "1"} if column not in ("arrival_ms", "cpu_ms") else {})
    bad = good | {column: value}
    text = "\n".join(",".join(row) for row in (good, good.values(), bad.values())) + "\n"
    (problem,) = problems(tmp_path, text)
    assert f"line 3: {column} = {value!r}: allowed: {allowed}" in problem


def test_a_quoted_line_break_does_not_shift_line_numbers(tmp_path: Path) -> None:
    text = 'arrival_ms,cpu_ms,name\n0,5,"two\nlines"\n1,-6,x\n'
    (problem,) = problems(tmp_path, text)
    assert "line 4: cpu_ms = '-6'" in problem


def test_several_problems_are_listed_by_line(tmp_path: Path) -> None:
    found = problems(tmp_path, "arrival_ms,home,cpu_ms\n0,0,x\n1,-2,5\n2,1\n3,0,5,9\n")
    assert [problem.split("line ")[1][0] for problem in found] == ["2", "3", "4", "5"]
    assert "2 values where the header names 3 columns" in found[2]
    assert "4 values where the header names 3 columns" in found[3]


def test_many_problems_are_counted(tmp_path: Path) -> None:
    found = problems(tmp_path, "arrival_ms,cpu_ms\n" + "0,x\n" * 25)
    assert len(found) == 11
    assert "15 more problems" in found[-1]


def test_the_first_row_that_goes_back_is_named(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "arrival_ms,cpu_ms\n0,1\n5,1\n4,1\n6,1\n1,1\n")
    assert "line 4: arrival_ms = 4.0 goes back (5.0 before it, 2 such rows)" in problem


def test_order_is_judged_across_a_wrong_row(tmp_path: Path) -> None:
    found = problems(tmp_path, "arrival_ms,cpu_ms\n5,1\nx,1\n4,1\n")
    assert "line 3" in found[0]
    assert "line 4: arrival_ms = 4.0 goes back" in found[1]


def test_a_cut_off_last_line(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "arrival_ms,home,cpu_ms\n0,0,5\n1,0")
    assert "line 3: 2 values where the header names 3 columns (cut off?)" in problem


def test_unknown_columns_with_the_nearest_and_missing_ones_together(tmp_path: Path) -> None:
    unknown, missing = problems(tmp_path, "arival_ms,cpu_ms\n0,5\n")
    assert "unknown column 'arival_ms' (did you mean 'arrival_ms'?)" in unknown
    assert "column 'arrival_ms' is missing" in missing


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("\n \n", "empty"),
        ("arrival_ms,cpu_ms\n", "no job, only a header line"),
        ("arrival_ms,cpu_ms,cpu_ms\n0,1,2\n", "more than once: 'cpu_ms'"),
        ('arrival_ms,cpu_ms,name\n0,5,"never closed\n1,5,x\n', "line 2: not CSV"),
        ("0,5\n1,6\n", "not recognised: a table of 2 columns with commas, and no header: '0,5';"),
        ("arrival_ms;cpu_ms\n0;5\n", "not recognised: a table of 2 columns (arrival_ms, cpu_ms), with semicolons"),
    ],
)
def test_files_that_are_no_trace(tmp_path: Path, text: str, words: str) -> None:
    assert words in problems(tmp_path, text)[0]


def cells(name: str) -> st.SearchStrategy[float]:
    column = COLUMNS[name]
    if column.whole:
        numbers = st.integers(int(column.low), int(column.high)).map(float)
    else:
        high = min(column.high, 1e300)
        numbers = st.floats(column.low, high, exclude_min=column.above)
    return numbers if name in ("arrival_ms", "cpu_ms") else numbers | st.just(float("nan"))


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    optional = [name for name in COLUMNS if name not in ("arrival_ms", "cpu_ms", "think_ms")]
    names = ["arrival_ms", "cpu_ms", *draw(st.lists(st.sampled_from(optional), unique=True))]
    if "io_per_ms" in names and "disk_mb" in names:
        names.remove(draw(st.sampled_from(["io_per_ms", "disk_mb"])))
    rows = draw(st.integers(1, 8))
    columns = {name: draw(st.lists(cells(name), min_size=rows, max_size=rows)) for name in names}
    if draw(st.booleans()):
        word = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
        columns["name"] = draw(st.lists(word, min_size=rows, max_size=rows))
    if draw(st.booleans()):
        amounts = st.dictionaries(st.sampled_from(["gpu", "gpu:a100", "x/y"]), st.integers(1, 9).map(lambda n: n / 4))
        columns["resources"] = draw(st.lists(amounts.map(resources_text), min_size=rows, max_size=rows))
        columns["partition"] = draw(st.lists(st.sampled_from(["", "short", "a,b"]), min_size=rows, max_size=rows))
    if draw(st.booleans()):
        # Each after some of those above it: no cycle.
        columns["job"] = [f"j{row}" for row in range(rows)]
        above = [draw(st.sets(st.integers(0, row - 1), max_size=3)) if row else set() for row in range(rows)]
        columns["after"] = [" ".join(f"j{parent}" for parent in sorted(parents)) for parents in above]
        if draw(st.booleans()):
            nothing = float("nan")
            columns["think_ms"] = [draw(cells("think_ms")) if parents else nothing for parents in above]
    return Trace("made", "csv", rows, job_frame(columns))


@pytest.mark.slow
@given(trace=traces(), suffix=st.sampled_from([".csv", ".csv.gz", ".csv.xz"]))
@settings(max_examples=100)
def test_written_and_read_is_the_same_to_the_digit(
    trace: Trace, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("round") / f"out{suffix}"
    write_csv(trace, path)
    pd.testing.assert_frame_equal(read_trace(path).jobs, trace.jobs, check_exact=True)


def test_what_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    write_csv(read(tmp_path, SMALL), out)
    assert out.read_bytes().decode() == (
        "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name\n"
        "0.0,3,100.0,0.05,4.0,sh\n"
        '2.5,0,7.25,,1.5,"a, b"\n'
        "2.5,1,1000.0,0.0,,\n"
    )


@pytest.mark.parametrize("word", ["", "a,b", 'say "x"', "two\nlines", "\r", "a\r0,1,2", " spaced ", "nan", "'"])
def test_any_name_survives(tmp_path: Path, word: str) -> None:
    table = job_frame({"arrival_ms": np.array([0.0]), "cpu_ms": np.array([1.0]), "name": [word]})
    write_csv(Trace("made", "csv", 1, table), tmp_path / "out.csv")
    assert read_trace(tmp_path / "out.csv").jobs["name"].tolist() == [word]


def test_equal_jobs_give_equal_compressed_bytes(tmp_path: Path) -> None:
    trace = read(tmp_path, SMALL)
    write_csv(trace, tmp_path / "a.csv.gz")
    write_csv(trace, tmp_path / "b.csv.gz")
    data = (tmp_path / "a.csv.gz").read_bytes()
    assert data == (tmp_path / "b.csv.gz").read_bytes()
    assert data[4:8] == bytes(4)  # RFC 1952: no time of writing


def test_an_unwritable_output_is_named(tmp_path: Path) -> None:
    trace = read(tmp_path, SMALL)
    with pytest.raises(InputError, match="cannot be written") as caught:
        write_csv(trace, tmp_path / "nowhere" / "out.csv")
    assert str(tmp_path / "nowhere" / "out.csv") in caught.value.problems[0]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", pytest.param(".csv.xz", marks=pytest.mark.slow)])
def test_a_long_trace_is_written_whole(tmp_path: Path, suffix: str) -> None:
    trace = read(tmp_path, "arrival_ms,cpu_ms\n" + "".join(f"{row},{row + 0.5}\n" for row in range(120_001)))
    write_csv(trace, tmp_path / f"out{suffix}")
    assert read_trace(tmp_path / f"out{suffix}").jobs.equals(trace.jobs)


def test_what_is_written_over_stays_where_the_writing_fails(tmp_path: Path) -> None:
    trace = read(tmp_path, SMALL)
    out = tmp_path / "out.csv"
    out.write_text("good")
    trace.table["name"] = [1, 2, 3]  # cannot be spelled
    with pytest.raises(TypeError):
        write_csv(trace, out)
    assert out.read_text() == "good"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["jobs.csv", "out.csv"]

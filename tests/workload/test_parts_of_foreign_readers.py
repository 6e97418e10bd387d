"""Shared parts of the readers of foreign formats: bytes of disks, clocks, columns, order of rows, and dates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces import LogReading, Trace
from cluster_abm.workload.traces.gathering import NumberColumn, Order, WordColumn
from cluster_abm.workload.traces.parts.fields import CellRule, read_fields
from cluster_abm.workload.traces.parts.finishing import disk_columns, finished, no_job, on_own_clock
from cluster_abm.workload.traces.parts.missing import in_words
from cluster_abm.workload.traces.parts.stamps import Stamps
from cluster_abm.workload.traces.parts.units import plain

NAN = math.nan
DAY_MS = 86_400_000.0


@pytest.mark.parametrize(("disk", "calls", "disk_mb", "share", "assumed"), [
    # Bytes of the disk are divided by two tasks. Bytes of calls are ignored then.
    ((30.0, 10.0), (400.0, 400.0), 20.0, 0.25, False), ((30.0, 10.0), (NAN, NAN), 20.0, 0.25, False),
    # Only read or written bytes are known: the others count as 0.
    ((30.0, NAN), (400.0, 400.0), 15.0, 0.0, False), ((NAN, 10.0), (400.0, 400.0), 5.0, 1.0, False),
    # 0 is a known number.
    ((0.0, 0.0), (400.0, 400.0), 0.0, NAN, False), ((0.0, NAN), (400.0, NAN), 0.0, NAN, False),
    # No bytes of the disk are known: half of the bytes read by calls, and a quarter of those written.
    ((NAN, NAN), (40.0, 80.0), 20.0, 0.5, True), ((NAN, NAN), (40.0, NAN), 10.0, 0.0, True),
    ((NAN, NAN), (NAN, 80.0), 10.0, 1.0, True), ((NAN, NAN), (0.0, 0.0), 0.0, NAN, True),
    ((NAN, NAN), (NAN, NAN), NAN, NAN, False),
])  # fmt: skip
def test_bytes_of_the_disk_or_shares_of_those_of_calls(disk, calls, disk_mb, share, assumed):
    reading = LogReading(disk_read_share=0.5, disk_write_share=0.25)
    (read, written), (by_calls, written_by_calls) = ([np.array([mb]) for mb in pair] for pair in (disk, calls))
    columns, found = disk_columns((read, written), (by_calls, written_by_calls), reading, np.array([2.0]))
    assert columns["disk_mb"].tolist() == pytest.approx([disk_mb], nan_ok=True)
    assert columns["write_share"].tolist() == pytest.approx([share], nan_ok=True)
    assert found.tolist() == [assumed]


def test_the_clock_begins_at_the_first_submission():
    assert on_own_clock(np.array([5e11 + 3.5, 5e11, 5e11 + 1.0]), "f").tolist() == [3.5, 0.0, 1.0]
    assert on_own_clock(np.zeros(0), "f").tolist() == []
    # Up to 1e12 ms, 32 years, are allowed.
    assert on_own_clock(np.array([1e12, 0.0]), "f").tolist() == [1e12, 0.0]
    with pytest.raises(InputError, match=r"^f: submissions from 1970-01-01.* to 2001-09-09.*: allowed up to 32 years"):
        on_own_clock(np.array([1e12 + 1.0, 0.0]), "f")


def test_rows_outside_the_bounds_and_empty_columns_are_left_out():
    columns = {
        "arrival_ms": np.array([5.0, -1.0, 4.0, 4.0, 4.0]), "cpu_ms": np.array([1.0, 1.0, 0.0, NAN, 3.0]),
        "memory_mb": np.array([NAN, 7.0, 7.0, NAN, NAN]), "tasks": np.array([NAN, 1.0, 1.0, 2.0, 1.0]),
    }  # fmt: skip
    words: dict[str, Any] = {
        "name": np.array(["a", "b", "c", "", "e"], object),
        "job": np.array(["", "x", "y", "", ""], object),
    }
    trace = finished("f", "sacct", 9, columns, words, {"before": 5, "never": 0}, {"blank lines": 0}, {"k": "v"})
    # The rows that are left have no memory and no ids. Equal arrivals are in order.
    expected = pd.DataFrame(
        {"arrival_ms": [4.0, 4.0, 5.0], "cpu_ms": [NAN, 3.0, 1.0], "tasks": [2.0, 1.0, NAN], "name": ["", "e", "a"]}
    )
    pd.testing.assert_frame_equal(trace.jobs, expected)
    assert (trace.rows, trace.format, trace.filled) == (9, "sacct", {"k": "v"})
    assert trace.skipped == {
        "before": 5,
        "arrival_ms not a number from 0 to 1e+12": 1,
        "cpu_ms not a number above 0 to 1e+12": 1,
    }
    assert trace.noted == {"submitted before the row above, sorted": 1}


@pytest.mark.parametrize(("reading", "skipped", "hint"), [
    (LogReading(), {"zero CPU time": 2}, True), (LogReading(), {"no run time": 2}, False),
    (LogReading(cpu_time="run"), {"zero CPU time": 2}, False), (None, {"zero CPU time": 2}, False),
])  # fmt: skip
def test_a_file_without_jobs_may_be_read_by_its_run_times(reading, skipped, hint):
    text = str(no_job("f", 2, skipped | {"never": 0}, reading))
    assert text.startswith(f"f: none of its 2 rows is a job that ran (2: {next(iter(skipped))})")
    assert ('workload.trace.cpu_time = "run"' in text) == hint


def trace_of(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"arrival_ms": [0.0] * 4} | columns)


FULL = {name: [1.0] * 4 for name in (
    "cpu_ms", "home", "memory_mb", "tasks", "request_kb", "initial_data_mb", "write_share", "reaccess_rate",
)}  # fmt: skip


@pytest.mark.parametrize(("columns", "filled"), [
    (FULL | {"io_per_ms": [1.0] * 4}, {}),
    # Bytes replace the rate of accesses, row by row.
    (FULL | {"disk_mb": [1.0] * 4}, {}), (FULL | {"io_per_ms": [1.0, NAN, 1.0, NAN], "disk_mb": [NAN, 1.0] * 2}, {}),
    (FULL | {"disk_mb": [1.0, NAN, NAN, NAN]}, {"io_per_ms": "in 25.0% of the rows; else by workload.io_per_ms"}),
    (FULL, {"io_per_ms": "in no row: by workload.io_per_ms"}),
    (FULL | {"disk_mb": [1.0] * 4, "home": [NAN] * 4}, {"home": "in no row: by workload.home"}),
    (FULL | {"disk_mb": [1.0] * 4, "tasks": [1.0, 1.0, 1.0, NAN]},
     {"tasks": "in 75.0% of the rows; else by workload.tasks"}),
])  # fmt: skip
def test_words_about_values_that_a_trace_lacks(columns, filled):
    assert in_words(Trace("f", "csv", 4, trace_of(**columns))) == filled


def test_words_of_the_reader_and_values_of_profiles_are_not_repeated():
    table = trace_of(tasks=[NAN] * 4, name=["a", "b", "", ""], home=[0.0] * 4)
    said = {"tasks": "one each"}
    trace = Trace("f", "gwa", 4, table, filled=said, profiles=pd.DataFrame())
    # Profiles give CPU, memory and accesses.
    assert set(in_words(trace)) == {"tasks", "request_kb", "initial_data_mb", "write_share", "reaccess_rate"}
    assert in_words(trace)["tasks"] == "one each"
    # A job without a name has no profile.
    unnamed = Trace("f", "gwa", 4, table.assign(name=""), profiles=pd.DataFrame())
    assert {"cpu_ms", "memory_mb", "io_per_ms"} <= set(in_words(unnamed))
    assert {"cpu_ms", "memory_mb", "io_per_ms"} <= set(in_words(Trace("f", "gwa", 4, table)))


def test_columns_grow_block_by_block():
    numbers, words = NumberColumn(), WordColumn()
    for block in ([1.5, NAN], [], [-3.0]):
        numbers.extend(np.array(block))
        words.extend(map(str, block))
    assert numbers.column().tolist() == pytest.approx([1.5, NAN, -3.0], nan_ok=True)
    assert words.column().tolist() == ["1.5", "nan", "-3.0"]
    assert WordColumn().column().tolist() == []


@pytest.mark.parametrize(("blocks", "said"), [
    # Equal values are in order, and rows without a value are skipped.
    ([[1.0, 1.0, NAN, 2.0], [NAN], [2.0]], ""),
    # Out of order within a block, between two blocks, and both: the first row is named.
    ([[3.0, NAN, 2.0]], "line 3: t = 2.0 goes back (3.0 before it, 1 such rows)"),
    ([[3.0], [NAN, 2.0]], "line 3: t = 2.0 goes back (3.0 before it, 1 such rows)"),
    ([[3.0, 2.0], [1.0, 5.0], [4.0]], "line 2: t = 2.0 goes back (3.0 before it, 3 such rows)"),
])  # fmt: skip
def test_the_first_row_out_of_order_and_their_number(blocks, said):
    order, problems, line = Order("t"), Problems("f"), 1
    for block in blocks:
        order.see(np.array(block), range(line, line + len(block)))
        line += len(block)
    order.note(problems)
    if not said:
        problems.refuse()
        return
    with pytest.raises(InputError) as caught:
        problems.refuse()
    assert caught.value.problems == [f"f, {said}: allowed: rows sorted by arrival"]


@pytest.mark.parametrize(("cell", "ms"), [
    # Numbers are seconds since 1970, or milliseconds from 1e11 on. Times within the first day mean "never".
    ("0", NAN), ("86399", NAN), ("86400", DAY_MS), ("99999999999", 99_999_999_999_000.0),
    ("100000000000", 100_000_000_000.0), ("1682942400.25", 1_682_942_400_250.0),
    ("1970-01-01T23:59:59", NAN), ("1970-01-02T00:00:00", DAY_MS), ("1969-12-31T00:00:01", NAN),
    ("1969-12-31T00:00:00", -DAY_MS), ("1970-01-02T00:00:00,5", DAY_MS + 500.0),
    ("1970-01-03T00:01", 2 * DAY_MS + 60_000.0), ("1970-01-03 01:00:00.000000001", 2 * DAY_MS + 3_600_000.000001),
])  # fmt: skip
def test_a_stamp_in_milliseconds(cell, ms):
    assert Stamps().read(cell) == pytest.approx(ms, rel=1e-15, nan_ok=True)


@pytest.mark.parametrize("zone", ["Z", "z", " UTC", "+00:00", "+0000"])
def test_zones_are_subtracted(zone):
    stamps = Stamps()
    assert stamps.read(f"1970-01-03T00:00:00{zone}") == 2 * DAY_MS
    assert stamps.read("1970-01-03T00:00:00+05:30") == 2 * DAY_MS - 19_800_000.0
    assert stamps.read("1970-01-03T00:00:00-01:00") == 2 * DAY_MS + 3_600_000.0
    assert stamps.zones == {0.0, 330.0, -60.0}
    # A stamp that means "never" gives no zone.
    fresh = Stamps()
    assert math.isnan(fresh.read("1970-01-01T00:00:00Z"))
    assert fresh.zones == set()
    assert fresh.read("1970-01-03T00:00:00") == 2 * DAY_MS


def fields_of(text: str, *names: str, words: tuple[str, ...] = ()):
    cells = CsvCells(Lines([text.encode()], "f"))
    return read_fields(cells, dict.fromkeys(names, CellRule(plain, "a number")), words)


def test_a_column_is_filled_from_the_next_ones():
    fields = fields_of("A,b,W,x\n1,9,p,?\n-,8, q ,?\n,-,,?\n1,9,p,?\n", "a", "b", "c", words=("v", "w", "x"))
    assert fields.number("a", "b").tolist() == pytest.approx([1, 8, NAN, 1], nan_ok=True)
    assert fields.number("b", "a").tolist() == pytest.approx([9, 8, NAN, 9], nan_ok=True)
    assert np.isnan(fields.number("c")).all()
    assert fields.word("v", "w", "x").tolist() == ["p", "q", "", "p"]
    assert fields.word("v").tolist() == [""] * 4
    assert fields.lines.tolist() == [2, 3, 4, 5]
    assert fields.names == {"a", "b", "w", "x"}


def test_very_large_numbers_are_clipped_at_1e100():
    assert fields_of("a,b\n1e300,1\n-1e300,1\n1e100,1\n", "a").number("a").tolist() == [1e100, -1e100, 1e100]


def test_every_wrong_cell_is_named():
    with pytest.raises(InputError) as caught:
        fields_of("a,b\nx,1\n1,1\nx,y\n", "a", "b")
    assert caught.value.problems == [
        "f, line 2: a = 'x': allowed: a number", "f, line 4: a = 'x': allowed: a number",
        "f, line 4: b = 'y': allowed: a number",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"line 1: column named more than once: 'A'"):
        fields_of("a,A\n1,2\n", "a")

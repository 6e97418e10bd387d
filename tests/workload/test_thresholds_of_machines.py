"""Samples of GWA-T-12 just below, at, and just above each threshold, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_traces_gwa import put, row

from cluster_abm.workload.traces import Trace, read_trace
from cluster_abm.workload.traces.parts.fields import beyond_counting
from cluster_abm.workload.traces.parts.finishing import tasks_for

# A sample that can be used whatever stands beside it: 300 s later, one core, 40 % of it.
T = 1_000_000


def usual(number: int) -> str:
    return row(T + 300 * number, 1, 40, 1000, 0, 0)


def of(folder: Path, *rows: str) -> Trace:
    return read_trace(put(folder, rows="".join(rows)))


def profile(trace: Trace) -> pd.DataFrame:
    assert trace.profiles is not None
    return trace.profiles


@pytest.mark.parametrize(("sample", "reason"), [
    (row(0, 1, 40, 1000, 0, 0), "no time"), (row(1, 1, 40, 1000, 0, 0), None), (row(-1, 1, 40, 1000, 0, 0), "no time"),
    (row(T - 1, 1, 40, 1000, 0, 0), None), (row(T - 300, 0.999, 40, 1000, 0, 0), "no cores (the VM was off)"),
    (row(T - 300, 1, 40, 1000, 0, 0), None), (row(T - 300, 1, 0, 1000, 0, 0), None),
    (row(T - 300, 1, -1e-9, 1000, 0, 0), "negative value"), (row(T - 300, 1, 40, 0, 0, 0), None),
    (row(T - 300, 1, 40, -1, 0, 0), "negative value"), (row(T - 300, 1, 40, 1, -1e-9, 0), "negative value"),
    (row(T - 300, 1, 40, 1, 0, -1e-9), "negative value"), (row(T - 300, "", 40, 1, 0, 0), "a field is empty"),
    (row(T - 300, 1, 40, "", 0, 0), "a field is empty"), (row(T - 300, 1, 40, 1, "", 0), "a field is empty"),
    (row(T - 300, 1, 40, 1, 0, ""), "a field is empty"),
    # 2^63 bytes are 2^53 of their KB.
    (row(T - 300, 1, 40, 2**53, 0, 0), "bytes beyond 2^63"), (row(T - 300, 1, 40, 1, 2**53, 0), "bytes beyond 2^63"),
    (row(T - 300, 1, 40, 1, 0, 2**53), "bytes beyond 2^63"),
])  # fmt: skip
def test_what_can_be_used(tmp_path, sample, reason):
    trace = of(tmp_path, sample, usual(0), usual(1))
    assert trace.skipped == ({} if reason is None else {reason: 1})
    assert trace.used == (3 if reason is None else 2)


@pytest.mark.parametrize(("then", "is_later"), [(T, False), (T - 1, False), (T + 1, True)])
def test_a_sample_is_later_than_all_above(tmp_path, then, is_later):
    trace = of(tmp_path, usual(0), row(then, 1, 40, 1000, 0, 0), usual(1))
    assert trace.skipped == ({} if is_later else {"not later than the row above": 1})


@pytest.mark.parametrize(("at", "after", "is_ms"), [
    # As seconds, 1e11 would lie in the year 5138.
    (99_999_999_000, 99_999_999_300, False), (100_000_000_000, 100_000_300_000, True),
])  # fmt: skip
def test_seconds_and_milliseconds(tmp_path, at, after, is_ms):
    trace = of(tmp_path, *(row(time, 1, 50, 1000, 0, 0) for time in (at, after)))
    assert profile(trace)["cpu_ms"].tolist() == [150_000.0, 150_000.0]
    assert trace.noted == ({"timestamps in ms, not in s": 2} if is_ms else {})


@pytest.mark.parametrize(("use", "cpu_ms", "noted"), [
    # Of 300 s; nothing is a microsecond, more than all is all.
    (0, 0.001, {"no CPU use, 1 us taken": 1}), (1e-9, 0.001, {}), (1e-6, 0.003, {}), (99.9, 299_700.0, {}),
    (100, 300_000.0, {}),
    (100.1, 300_000.0, {"CPU use above 100 %, cut to it": 1}),
])  # fmt: skip
def test_the_use_of_a_core(tmp_path, use, cpu_ms, noted):
    trace = of(tmp_path, row(T - 300, 1, use, 1000, 0, 0), usual(0), usual(1))
    assert profile(trace)["cpu_ms"][0] == pytest.approx(cpu_ms)
    assert trace.noted == noted


@pytest.mark.parametrize(("gap_s", "cpu_ms", "pause_ms"), [
    # Half as much again counts as an interval, more as a pause behind one of the usual ones, all at 40 %.
    (300, 120_000.0, 180_000.0), (450, 180_000.0, 270_000.0), (451, 120_000.0, 331_000.0), (10, 4_000.0, 6_000.0),
])  # fmt: skip
def test_a_gap(tmp_path, gap_s, cpu_ms, pause_ms):
    last = [row(T + 900 + gap_s, 1, 40, 1000, 0, 0), row(T + 1200 + gap_s, 1, 40, 1000, 0, 0)]
    trace = of(tmp_path, usual(0), usual(1), usual(2), usual(3), *last)
    assert profile(trace)["cpu_ms"][3] == pytest.approx(cpu_ms)
    assert profile(trace)["pause_ms"][3] == pytest.approx(pause_ms)
    assert trace.noted == ({"gap behind it, taken as a pause": 1} if gap_s == 451 else {})
    # Behind the last sample a usual interval is counted, and no pause.
    assert profile(trace)["cpu_ms"].iloc[-1] == 120_000.0
    assert profile(trace)["pause_ms"].iloc[-1] == 0.0


@pytest.mark.parametrize(("accesses", "kept", "noted"), [
    (1_000_000, 1e6, {}), (1_000_001, 1e6, {"more than a million accesses, cut to it": 1}), (999_999, 999_999.0, {}),
])  # fmt: skip
def test_a_million_accesses(tmp_path, accesses, kept, noted):
    """64 KB each, of 1.024 KB that the file calls one, in 300 s."""
    rate = (accesses + 0.5) * 64 / 1.024 / 300
    trace = of(tmp_path, row(T - 300, 1, 40, 1000, rate / 4, rate * 3 / 4), usual(0), usual(1))
    assert profile(trace)["accesses"].tolist() == [kept, 0.0, 0.0]
    assert trace.noted == noted
    assert trace.jobs["write_share"][0] == pytest.approx(0.75)


@pytest.mark.parametrize(("gap_s", "pause_ms", "noted"), [
    # 120 s of it are computed.
    (1_000_120, 1e9, {}), (1_000_119, 999_999_000.0, {}), (1_000_121, 1e9, {"pause longer than 1e9 ms, cut to it": 1}),
])  # fmt: skip
def test_the_longest_pause(tmp_path, gap_s, pause_ms, noted):
    last = [row(T + 600 + gap_s + 300 * number, 1, 40, 1000, 0, 0) for number in range(3)]
    trace = of(tmp_path, usual(0), usual(1), usual(2), *last)
    assert profile(trace)["pause_ms"][2] == pause_ms
    assert trace.noted == {"gap behind it, taken as a pause": 1} | noted


def test_cores_that_change_and_parts_of_them(tmp_path):
    """2.9 cores are 2, then 4.2 are 4 tasks: 50 % of two cores are a quarter of each of four."""
    trace = of(tmp_path, row(T, 2.9, 50, 4000, 0, 0), row(T + 300, 4.2, 50, 4000, 0, 0))
    assert trace.jobs["tasks"].tolist() == [4.0]
    assert profile(trace)["cpu_ms"].tolist() == [75_000.0, 150_000.0]
    assert profile(trace)["memory_mb"].tolist() == pytest.approx([1.024, 1.024])
    # Nothing is read or written.
    assert "write_share" not in trace.jobs


@pytest.mark.parametrize(("busy", "most", "tasks"), [
    # A tenth of a core aside, rounded up; one at least, and no more than the row may have, of which whole ones count.
    (0.0, None, 1), (1.1, None, 1), (1.100001, None, 2), (1.1000001, None, 1), (2.1, None, 2), (2.2, None, 3),
    (3.9, 2.0, 2), (3.9, 2.9, 2), (3.9, 0.5, 1), (3.9, math.nan, 4), (3.9, 9.0, 4),
])  # fmt: skip
def test_tasks_for_cores_that_were_busy(busy, most, tasks):
    assert tasks_for(np.array([busy]), None if most is None else np.array([most])).tolist() == [tasks]


def test_bytes_that_a_counter_holds():
    just = math.nextafter(2.0**63, 0.0)
    rows = np.array([just, 2.0**63, -(2.0**63), math.inf, 0.0])
    assert beyond_counting(rows).tolist() == [False, True, True, True, False]
    assert beyond_counting(np.zeros(5), rows).tolist() == [False, True, True, True, False]
    assert not beyond_counting(np.array([math.nan])).any()

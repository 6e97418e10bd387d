"""Waits in a log by width and by hour of submission, and when logs begin: by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cluster_abm.workload.traces import Trace, read_trace
from cluster_abm.workload.traces.formats.swf import begins_at_ms
from cluster_abm.workload.traces.logged import recorded_waits, waits_by_width
from cluster_abm.workload.traces.table import job_frame

HOUR = 3_600_000.0


@pytest.mark.parametrize(
    ("tasks", "band"),
    [
        (1, "1"), (2, "2-4"), (4, "2-4"), (5, "5-16"), (16, "5-16"), (17, "17-64"), (64, "17-64"), (65, "65-256"),
        (2**31 - 1, "1073741825-4294967296"),
    ],
)  # fmt: skip
def test_bands_are_powers_of_four(tasks: int, band: str) -> None:
    found = waits_by_width(np.array([3000.0]), np.array([float(tasks)]))
    assert found == {band: {"jobs": 1, "mean": 3.0, "median": 3.0, "p95": 3.0}}


def test_jobs_without_a_wait_or_a_width_are_in_no_band() -> None:
    nan = float("nan")
    found = waits_by_width(np.array([1000.0, nan, 3000.0, 5000.0]), np.array([3.0, 3.0, nan, 2.0]))
    # 1 and 5 s: 95 % of the way between.
    assert found == {"2-4": {"jobs": 2, "mean": 3.0, "median": 3.0, "p95": 4.8}}
    assert waits_by_width(np.array([nan]), np.array([3.0])) is None
    assert waits_by_width(np.array([1.0]), np.array([nan])) is None


def trace_of(begins: float | None) -> Trace:
    arrivals = np.array([0.0, 0.5, 25.0, 26.5]) * HOUR
    table = job_frame({"arrival_ms": arrivals, "recorded_wait_ms": np.array([1000.0, 3000.0, 5000.0, np.nan])})
    return Trace("log", "x", 4, table, begins_at_ms=begins)


def test_waits_by_hour_of_submission() -> None:
    """The log begins at 23:45: jobs come at 23:45, 0:15, 0:45 on the second day, and 2:15 without a known wait."""
    found = recorded_waits(trace_of(10 * 24 * HOUR + 23.75 * HOUR))
    assert found is not None
    assert found["by_width"] is None
    assert found["by_hour"] == {
        "0": {"jobs": 2, "mean": 4.0, "median": 4.0, "p95": pytest.approx(4.9)},
        "23": {"jobs": 1, "mean": 1.0, "median": 1.0, "p95": 1.0},
    }
    unknown = recorded_waits(trace_of(None))
    assert unknown is not None
    assert unknown["by_hour"] is None


# 1,000,000,000 s are 2001-09-09 01:46:40 UTC.
@pytest.mark.parametrize(
    ("header", "offset_h"),
    [
        ({}, None), ({"TimeZoneString": "Europe/Rome"}, 2), ({"TimeZoneString": "US/Pacific"}, -7),
        ({"TimeZoneString": "Asia/Kolkata (IST)"}, 5.5), ({"TimeZone": "3600"}, 1),
        ({"TimeZone": "3600", "TimeZoneString": "UTC"}, 0), ({"TimeZone": "3600", "TimeZoneString": "no/where"}, 1),
        ({"TimeZone": "90000"}, 0), ({"TimeZone": "x", "TimeZoneString": "../x"}, 0), ({"TimeZoneString": "\0"}, 0),
    ],
)  # fmt: skip
def test_when_a_log_of_swf_begins(header: dict[str, str], offset_h: float | None) -> None:
    begins = begins_at_ms({"UnixStartTime": "1000000000 s"} | header)
    assert begins == 1e12 + (offset_h or 0) * HOUR


@pytest.mark.parametrize("start", ["", "0", "-1", "x", "nan", "1e12", "inf"])
def test_a_begin_that_is_not_known(start: str) -> None:
    assert begins_at_ms({"UnixStartTime": start, "TimeZoneString": "UTC"}) is None


def test_formats_say_when_they_begin(tmp_path: Path) -> None:
    """Each has its first job at 10:15 of a day, on its own clock; our CSV does not know."""
    at = 1_683_022_500.0  # 2023-05-02 10:15:00
    swf = "{submit} 5 10 1 10 -1 1 10 -1 1 1 1 1 1 1 -1 -1"
    sacct = "JobID|State|Submit|Start|ElapsedRaw|NCPUS\n1|COMPLETED|2023-05-02T10:15:00{zone}|Unknown|5|1\n"
    lines = {
        "unix.swf": f"1 {swf.format(submit=int(at))}\n",
        "start.swf": f"; UnixStartTime: {int(at) - 60}\n1 {swf.format(submit=60)}\n",
        "sacct.txt": sacct.format(zone=""),
        "zoned.txt": sacct.format(zone="Z"),
        "trace.txt": "submit\trealtime\t%cpu\n2023-05-02 10:15:00.000\t5s\t100\n",
    }
    for name, text in lines.items():
        path = tmp_path / name
        path.write_text(text)
        trace = read_trace(path)
        assert trace.begins_at_ms is not None, name
        assert trace.begins_at_ms + trace.jobs["arrival_ms"][0] == at * 1000.0, name
    ours = tmp_path / "jobs.csv"
    ours.write_text("arrival_ms,cpu_ms\n0,1\n")
    assert read_trace(ours).begins_at_ms is None

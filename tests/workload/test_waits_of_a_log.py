"""Waits in a log by width and by hour of submission, and when logs begin: by hand."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces import Trace, read_trace
from cluster_abm.workload.traces.formats.swf import clock_of
from cluster_abm.workload.traces.logged import recorded_waits, waits_by_width
from cluster_abm.workload.traces.table import job_frame

HOUR = 3_600_000.0
DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
SP2 = DATA / "SDSC-SP2-1998-4.2-cln.swf.xz"


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


def trace_of(begins: float | None, zone: str | None = None, hours: tuple[float, ...] = (0.0, 0.5, 25.0)) -> Trace:
    """Jobs so many hours after the log's begin, and a last one without a wait."""
    arrivals = np.array([*hours, 26.5]) * HOUR
    waits = np.array([1000.0 + 2000.0 * job for job in range(len(hours))] + [np.nan])
    table = job_frame({"arrival_ms": arrivals, "recorded_wait_ms": waits})
    return Trace("log", "x", len(arrivals), table, begins_at_ms=begins, zone=zone)


def jobs_by_hour(trace: Trace) -> dict[str, int]:
    found = recorded_waits(trace)
    assert found is not None
    return {hour: part["jobs"] for hour, part in found["by_hour"].items()}


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


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        # 2023-03-26 00:30 UTC and one, 12 and 24 hours later. In Berlin clocks go from 2 to 3 o'clock at 01:00 UTC.
        ("Europe/Berlin", {"1": 1, "2": 1, "3": 1, "14": 1}), ("UTC", {"0": 2, "1": 1, "12": 1}),
        # Half an hour is not lost.
        ("Asia/Kolkata", {"6": 2, "7": 1, "18": 1}), (None, {"0": 2, "1": 1, "12": 1}),
    ],
)  # fmt: skip
def test_hours_are_those_of_the_site_with_summer_time(zone: str | None, expected: dict[str, int]) -> None:
    assert jobs_by_hour(trace_of(1_679_790_600_000.0, zone, (0.0, 1.0, 12.0, 24.0))) == expected


def test_an_hour_that_a_clock_shows_twice() -> None:
    """2023-10-29 00:30 and 01:30 UTC are both 2:30 in Berlin, the day's last millisecond is hour 23."""
    trace = trace_of(1_698_539_400_000.0, "Europe/Berlin", (0.0, 1.0, 22.5 - 1e-3 / 3600))
    assert jobs_by_hour(trace) == {"2": 2, "23": 1}


def test_a_log_of_swf_over_a_change_of_clocks(tmp_path: Path) -> None:
    """It begins at 1998-04-04 23:30 in California (UTC-8), a day before summer time: a day later is 0:30."""
    path = tmp_path / "log.swf"
    job = "{} {} 5 10 1 10 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n"
    path.write_text(
        "; UnixStartTime: 891761400\n; TimeZone: -28800\n; TimeZoneString: US/Pacific\n"
        + "".join(job.format(number, day * 86_400) for number, day in enumerate((0, 1, 2), 1))
    )
    trace = read_trace(path)
    assert (trace.begins_at_ms, trace.zone) == (891_761_400_000.0, "US/Pacific")
    assert jobs_by_hour(trace) == {"0": 2, "23": 1}


TOKYO = {"column": "queued", "zone": "Asia/Tokyo"}


@pytest.mark.slow
@pytest.mark.skipif(not SP2.is_file(), reason="the real log is not here; CLUSTER_ABM_DATA says where")
def test_hours_of_a_log_of_two_years() -> None:
    """1,038 jobs came between 0 and 1 o'clock, which another program counted too; each hour by Python's calendar."""
    trace = read_trace(SP2)
    begin_s = float(trace.header["UnixStartTime"])
    there = ZoneInfo(trace.header["TimeZoneString"])
    known = trace.table[trace.table["recorded_wait_ms"].notna()]
    by_hand = Counter(
        str(datetime.fromtimestamp(begin_s + at_ms / 1000, there).hour) for at_ms in known["arrival_ms"].tolist()
    )
    assert by_hand["0"] == 1038
    assert jobs_by_hour(trace) == by_hand


@pytest.mark.parametrize(
    "submit",
    # Seconds since 1970 are instants; their zone says by what clock hours are.
    [TOKYO, {"column": "unix", "zone": "Asia/Tokyo"}, {"column": "none", "otherwise": TOKYO}],
)
def test_hours_of_a_map_are_those_of_its_zone(tmp_path: Path, submit: dict[str, object]) -> None:
    """00:30 in Tokyo is 15:30 UTC of the day before."""
    path = tmp_path / "jobs.csv"
    path.write_text("queued,unix,run,none\n2023-05-02 00:30:00,1682955000,9,\n")
    fields = {"submit": submit, "start": {"expr": "unix + 5"}, "run": "run"}
    trace = read_trace(path, columns=ColumnMap.model_validate(fields))
    assert (trace.begins_at_ms, trace.zone) == (1_682_955_000_000.0, "Asia/Tokyo")
    assert jobs_by_hour(trace) == {"0": 1}


def test_hours_of_a_map_without_a_zone_are_those_of_its_texts(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("queued,began,run\n2023-05-02 00:30:00,2023-05-02 00:30:05,9\n")
    columns = ColumnMap.model_validate({"submit": "queued", "start": "began", "run": "run"})
    trace = read_trace(path, columns=columns)
    assert trace.zone is None
    assert jobs_by_hour(trace) == {"0": 1}


def test_hours_of_events_are_those_of_the_zone_of_their_time(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("id,what,at\na,S,2023-05-02 00:30:00\na,B,2023-05-02 00:30:05\na,E,2023-05-02 00:31:00\n")
    events = {
        "kind": "what", "time": {"column": "at", "zone": "Asia/Tokyo"}, "submit": ["S"], "start": ["B"], "end": ["E"]
    }  # fmt: skip
    trace = read_trace(path, columns=ColumnMap.model_validate({"job": "id", "events": events}))
    assert (trace.begins_at_ms, trace.zone) == (1_682_955_000_000.0, "Asia/Tokyo")
    assert jobs_by_hour(trace) == {"0": 1}


# 1,000,000,000 s are 2001-09-09 01:46:40 UTC.
@pytest.mark.parametrize(
    ("header", "offset_h", "zone"),
    [
        ({}, 0, None), ({"TimeZoneString": "Europe/Rome"}, 0, "Europe/Rome"),
        ({"TimeZone": "3600", "TimeZoneString": "US/Pacific"}, 0, "US/Pacific"),
        ({"TimeZoneString": "Asia/Kolkata (IST)"}, 0, "Asia/Kolkata"), ({"TimeZone": "3600"}, 1, None),
        ({"TimeZone": "3600", "TimeZoneString": "no/where"}, 1, None), ({"TimeZone": "90000"}, 0, None),
        ({"TimeZone": "x", "TimeZoneString": "../x"}, 0, None), ({"TimeZoneString": "\0"}, 0, None),
    ],
)  # fmt: skip
def test_when_a_log_of_swf_begins(header: dict[str, str], offset_h: float, zone: str | None) -> None:
    assert clock_of({"UnixStartTime": "1000000000 s"} | header) == (1e12 + offset_h * HOUR, zone)


@pytest.mark.parametrize("start", ["", "0", "-1", "x", "nan", "1e12", "inf"])
def test_a_begin_that_is_not_known(start: str) -> None:
    assert clock_of({"UnixStartTime": start, "TimeZoneString": "UTC"}) == (None, None)


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

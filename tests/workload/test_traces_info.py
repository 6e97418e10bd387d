"""`trace info` in numbers, and what the real logs hold, where they are at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.workload.traces import COLUMNS, read_trace, trace_info, write_csv

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real logs are not here; CLUSTER_ABM_DATA says where")


def test_the_document(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms,memory_mb\n500,1000,\n1000,2000,4\n4500,6000,\n4500,3000,\n\n")
    info = trace_info(read_trace(path))
    absent = dict.fromkeys([*COLUMNS, "name", "job", "after", "files", "user", "group", "partition", "resources"], 0.0)
    assert info == {
        "file": str(path),
        "format": "csv",
        "rows": 4,
        "jobs": 4,
        "skipped": {},
        "noted": {"blank lines": 1},
        "fields": absent | {"arrival_ms": 1.0, "cpu_ms": 1.0, "memory_mb": 0.25},
        "span_s": 4.0,
        "cpu_s": {"mean": 3.0, "max": 6.0},
        "arrivals_s": {"first": 0.5, "last": 4.5},
        "kept_busy": {"cores": 3.0, "memory_mb": 2.0},
        "filled": {
            **{
                name: f"in no row: by workload.{name}"
                for name in (
                    "home", "io_per_ms", "tasks", "request_kb", "initial_data_mb", "write_share", "reaccess_rate",
                )
            },
            "memory_mb": "in 25.0% of the rows; else by workload.memory_mb",
        },
        "dependence": None,
        "run_time": None,
        "used": 4,
        "recorded_wait_s": None,
        "resources": {}, "sample": None,
    }  # fmt: skip
    assert json.loads(json.dumps(info)) == info


def test_changing_the_document_does_not_change_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms\n0,1\n\n")
    trace = read_trace(path)
    trace_info(trace)["noted"].clear()
    assert trace_info(trace)["noted"] == {"blank lines": 1}


# Counted in the files by other means: rows and the rows that never ran.
@needs_data
@pytest.mark.parametrize(
    ("name", "rows", "skipped"),
    [
        ("HPC2N-2002-2.2-cln.swf.xz", 202_871, {"zero CPU time": 4}),
        ("LANL-CM5-1994-4.1-cln.swf.xz", 122_060, {"no processors": 3}),
        ("NASA-iPSC-1993-3.1-cln.swf.xz", 18_239, {"zero run time": 173}),
        # 5,671 without a run time and 10 of run time 0, all of them cancelled.
        ("SDSC-SP2-1998-4.2-cln.swf.xz", 59_715, {"cancelled before it ran": 5681}),
    ],
)
def test_real_logs_are_accounted_for(name: str, rows: int, skipped: dict[str, int]) -> None:
    trace = read_trace(DATA / name)
    assert (trace.rows, trace.skipped) == (rows, skipped)
    assert len(trace.jobs) == rows - sum(skipped.values())
    for column, rule in COLUMNS.items():
        if column in trace.jobs:
            values = trace.jobs[column].dropna().to_numpy(float)
            assert rule.holds(values).all(), column
    assert trace.jobs["arrival_ms"].is_monotonic_increasing


@pytest.mark.slow
@needs_data
def test_waits_of_a_real_log_by_other_means() -> None:
    """The fields of the log as pandas reads them: waits of the jobs that ran, or have a CPU time."""
    path = DATA / "SDSC-SP2-1998-4.2-cln.swf.xz"
    fields = pd.read_csv(path, sep=r"\s+", comment=";", header=None)
    waits_s = fields[(fields[3] > 0) | (fields[5] > 0)][2]
    assert (waits_s >= 0).all()
    found = trace_info(read_trace(path))["recorded_wait_s"]
    by_width, by_hour = found.pop("by_width"), found.pop("by_hour")
    assert found == pytest.approx(said(waits_s) | {"max": waits_s.max()})
    # Its header: UnixStartTime, and the site's zone, which has summer time.
    hours = pd.to_datetime(893_466_664 + fields[1], unit="s", utc=True).dt.tz_convert("US/Pacific").dt.hour
    assert by_hour == {str(hour): pytest.approx(said(part)) for hour, part in waits_s.groupby(hours)}
    widths = fields[4].where(fields[4] > 0, fields[7])
    bands = {"1": (1, 1), "2-4": (2, 4), "5-16": (5, 16), "17-64": (17, 64), "65-256": (65, 256)}
    assert by_width == {
        name: pytest.approx(said(waits_s[(widths >= low) & (widths <= high)])) for name, (low, high) in bands.items()
    }


def said(waits_s: pd.Series) -> dict[str, float]:
    return {
        "jobs": len(waits_s), "mean": waits_s.mean(), "median": waits_s.median(), "p95": waits_s.quantile(0.95),
    }  # fmt: skip


# Jobs and mean CPU time [s] of each run, as its description says.
RUNS = [
    (15_193, 0.397),
    (18_039, 0.431),
    (19_535, 0.480),
    (19_872, 0.318),
    (20_271, 0.402),
    (24_373, 0.396),
    (32_942, 0.324),
    (34_387, 0.298),
]


@pytest.mark.slow
@needs_data
def test_the_eight_runs_of_harchol_balter_and_downey(tmp_path: Path) -> None:
    path = DATA / "hbd97_8traces.csv.xz"
    info = trace_info(read_trace(path))
    assert (info["format"], info["rows"], info["skipped"]) == ("hbd", 184_612, {})
    found = [(run["jobs"], round(run["cpu_s"]["mean"], 3)) for run in info["runs"].values()]
    assert found == RUNS
    trace = read_trace(path, run=3)
    assert len(trace.jobs) == 19_872
    assert trace.jobs["home"].between(0, 5).all()
    write_csv(trace, tmp_path / "run3.csv")
    pd.testing.assert_frame_equal(read_trace(tmp_path / "run3.csv").jobs, trace.jobs, check_exact=True)

"""The logs of our own making that are shipped: what the scripts beside them draw, and what their README says."""

from __future__ import annotations

import csv
import runpy
from datetime import datetime
from pathlib import Path

import pytest

from cluster_abm.workload.traces import read_trace

LOGS = Path(__file__).parents[2] / "scenarios" / "logs"


@pytest.mark.parametrize(
    ("script", "log"), [("pods_2023_like.py", "pods-2023-like.csv"), ("sacct_like.py", "sacct-like.txt")]
)
def test_a_log_is_what_its_script_prints(script, log, capsys):
    runpy.run_path(str(LOGS / script), run_name="__main__")
    assert capsys.readouterr().out == (LOGS / log).read_text()
    assert (LOGS / log).stat().st_size < 65_000


def test_the_pods_have_the_laws_that_their_page_says():
    rows = list(csv.DictReader((LOGS / "pods-2023-like.csv").read_text().splitlines()))
    assert len(rows) == 1000
    ran = [row for row in rows if row["pod_phase"] != "Pending"]
    runs_s = [int(row["deletion_time"]) - int(row["scheduled_time"]) for row in ran]
    assert 60 <= min(runs_s) <= max(runs_s) <= 14_400
    # The survival function of the bounded Pareto distribution at 600 s, within four standard errors.
    cut = (60 / 14_400) ** 1.1
    longer = ((60 / 600) ** 1.1 - cut) / (1 - cut)
    assert abs(sum(run > 600 for run in runs_s) / len(ran) - longer) < 4 * (longer * (1 - longer) / len(ran)) ** 0.5
    # One queue before twelve GPUs: at most twelve pods at a time, and while one waits, all are taken.
    spans = [(int(row["scheduled_time"]), int(row["deletion_time"])) for row in ran if row["num_gpu"] == "1"]
    waited = [(int(row["creation_time"]), start) for row, (start, _) in zip(_with_gpu(ran), spans, strict=True)]
    assert all(sum(begin <= start < end for begin, end in spans) <= 12 for start, _ in spans)
    assert all(
        sum(begin <= at_s < end for begin, end in spans) == 12
        for created, start in waited
        if start > created
        for at_s in (created, (created + start) // 2, start - 1)
    )
    assert all(row["creation_time"] == row["scheduled_time"] for row in ran if row["num_gpu"] == "0")


def _with_gpu(rows):
    return [row for row in rows if row["num_gpu"] == "1"]


def test_the_pods_are_read_by_the_map_of_alibabas():
    trace = read_trace(LOGS / "pods-2023-like.csv")
    pending = sum(
        row["pod_phase"] == "Pending" for row in csv.DictReader((LOGS / "pods-2023-like.csv").read_text().splitlines())
    )
    assert (trace.format, trace.rows, trace.used) == ("alibaba-gpu-2023", 1000, 1000 - pending)


def test_the_jobs_of_the_export_had_32_cores_in_their_order():
    rows = [line.split("|") for line in (LOGS / "sacct-like.txt").read_text().splitlines()]
    jobs = [row for row in rows if row[1] != "batch"]
    assert (len(rows), len(jobs)) == (512, 256)
    starts, ends, cores = [row[4] for row in jobs], [row[5] for row in jobs], [int(row[7]) for row in jobs]
    assert starts == sorted(starts)
    for at in starts:
        taken = sum(n for begin, end, n in zip(starts, ends, cores, strict=True) if begin <= at < end)
        assert taken <= 32
    for row in jobs:
        start, end = (datetime.fromisoformat(text) for text in row[4:6])
        assert (end - start).total_seconds() == int(row[6])
        # Requested in minutes; no job outran its request.
        assert int(row[13]) * 60 >= int(row[6])

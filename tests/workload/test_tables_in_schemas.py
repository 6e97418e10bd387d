"""The large tables of the benchmarks, made small, and read by their maps: counted once more with pandas."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.workload.traces import read_trace

# By its folder: an installed package may be called benchmarks, too.
sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import tables

NAMES = (
    "task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time", "plan_cpu", "plan_mem",
)  # fmt: skip


def test_a_table_of_alibaba_2018(tmp_path):
    path = tmp_path / "batch_task.csv"
    tables.write_table("alibaba-2018", 4000, path, block=1000)
    trace = read_trace(path)
    rows = pd.read_csv(path, names=NAMES)
    ended = rows[rows["status"] == "Terminated"]
    assert trace.format == "alibaba-2018"
    assert (trace.rows, trace.used) == (4000, len(ended))
    run_s, cores = ended["end_time"] - ended["start_time"], ended["plan_cpu"] / 100 * ended["instance_num"]
    work_s = (trace.table["cpu_ms"] * trace.table["tasks"]).sum() / 1000.0
    assert work_s == pytest.approx(float((run_s * cores).sum()))
    # Of each job the second task waits for the first, the fourth for the second and third: of those that have ended.
    there = set(zip(ended["job_name"], ended["task_name"], strict=True))
    waits = {"R2_1": ["M1"], "J4_2_3": ["R2_1", "M3"]}
    pairs = sum((job, parent) in there for job, name in there for parent in waits.get(name, []))
    assert trace.parents is not None
    assert len(trace.parents.parent) == pairs


def test_a_table_of_google_2019_whose_jobs_end_blocks_later(tmp_path):
    path = tmp_path / "instance_events.csv"
    tables.write_table("google-2019", 2900, path, block=300)
    trace = read_trace(path)
    rows = pd.read_csv(path)
    assert len(rows) == 2900
    by_kind = rows.pivot_table(index=["collection_id", "instance_index"], columns="type", values="time")
    whole = by_kind.dropna()
    # Those of the last block have not ended.
    assert (len(whole), len(by_kind)) == (900, 1000)
    assert trace.used == len(whole)
    waits_ms = (whole[tables.SCHEDULE] - whole[tables.SUBMIT]) / 1000.0
    assert float(trace.table["recorded_wait_ms"].sum()) == pytest.approx(float(waits_ms.sum()))
    work = (trace.table["cpu_ms"] * trace.table["tasks"]).sum() * 1000.0
    asked = rows.groupby(["collection_id", "instance_index"])["resource_request.cpus"].first() * 64
    assert work == pytest.approx(float(((whole[tables.FINISH] - whole[tables.SCHEDULE]) * asked[whole.index]).sum()))


def test_the_same_arguments_give_the_same_table(tmp_path):
    for name in ("first", "second"):
        tables.write_table("google-2019", 60, tmp_path / name, block=30)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    tables.write_table("google-2019", 60, tmp_path / "another", seed=2, block=30)
    assert (tmp_path / "first").read_bytes() != (tmp_path / "another").read_bytes()

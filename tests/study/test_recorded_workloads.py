"""Recorded workloads from small files: windows, number of nodes, filled-in values, and load."""

from __future__ import annotations

import gzip
import lzma
import math
from types import SimpleNamespace

import numpy as np
import pytest
from reality import workloads
from reality.machines import machine_files, seconds, span_of, write_window
from reality.sizing import mean_load, nodes_for, windows
from reality.workflows import composed
from reality.workloads import Source, Workload, hbd, work_s

from cluster_abm.workload.offered import OfferedLoad
from cluster_abm.workload.traces import Trace
from cluster_abm.workload.traces.table import job_frame

# ---- windows and nodes ----


@pytest.mark.parametrize(("span", "length", "count", "begins"), [
    # Each window lies in the middle of its part: 10 s in the middle of 0 to 50 begin at 20.
    (100.0, 10.0, 2, [20.0, 70.0]), (100.0, 50.0, 2, [0.0, 50.0]), (60.0, 10.0, 1, [25.0]),
])  # fmt: skip
def test_windows_lie_in_the_middle_of_equal_parts(span, length, count, begins):
    assert windows(span, length, count) == pytest.approx(begins)


@pytest.mark.parametrize(
    ("load", "nodes"), [(0.7, 10), (0.7 + 1e-12, 10), (0.7007, 11), (1.4, 20), (0.07, 2), (0.21, 3)]
)
def test_the_number_of_nodes_is_rounded_up_except_for_rounding_errors(load, nodes):
    """A load L of the busiest resource on 10 nodes needs 10 L/0.7 nodes, at least two."""
    assert nodes_for({"cpu": load, "disk": 0.01}, 10, 0.7) == nodes
    assert nodes_for({"cpu": 0.01, "disk": load}, 10, 0.7) == nodes


def test_a_load_is_the_mean_over_windows():
    loads = [OfferedLoad(0.2, 0.4, 0.0, 10.0, 0.0), OfferedLoad(0.4, 0.8, 0.3, 10.0, 0.0)]
    assert mean_load(loads) == pytest.approx({"cpu": 0.3, "disk": 0.6, "memory": 0.15})


def test_the_work_of_a_job_is_that_of_all_its_tasks():
    table = {"arrival_ms": np.zeros(2), "cpu_ms": np.array([1000.0, 500.0]), "tasks": np.array([1.0, 4.0])}
    assert work_s(Trace("a", "csv", 2, job_frame(table))) == pytest.approx(3.0)
    del table["tasks"]
    assert work_s(Trace("a", "csv", 2, job_frame(table))) == pytest.approx(1.5)


# ---- machines ----


def machines(folder):
    """Three machines, two of them compressed, and another file; one line has no time, one has the time 0."""
    folder.mkdir()
    (folder / "1.csv").write_text("head\n0;9\n100;1\n110;2\nnone;3\n")
    (folder / "2.csv.gz").write_bytes(gzip.compress(b"head\n95;4\n130;5\n"))
    (folder / "3.csv.xz").write_bytes(lzma.compress(b"head\n120;6\n"))
    (folder / "notes.txt").write_text("1;1\n1000;1\n")
    return folder


def test_the_span_covers_all_machines(tmp_path):
    folder = machines(tmp_path / "all")
    assert [path.name for path in machine_files(folder)] == ["1.csv", "2.csv.gz", "3.csv.xz"]
    assert span_of(folder) == (95.0, 130.0)
    assert math.isnan(seconds("none;3"))


def test_a_window_includes_its_begin_but_not_its_end_and_leaves_out_machines_without_lines(tmp_path):
    folder = machines(tmp_path / "all")
    into = write_window(folder, 100.0, 120.0, tmp_path / "a" / "b")
    assert {path.name: path.read_text() for path in into.iterdir()} == {"1.csv": "head\n100;1\n110;2\n"}
    into = write_window(folder, 95.0, 131.0, tmp_path / "c")
    assert {path.name: path.read_text() for path in into.iterdir()} == {
        "1.csv": "head\n100;1\n110;2\n", "2.csv": "head\n95;4\n130;5\n", "3.csv": "head\n120;6\n",
    }  # fmt: skip


# ---- workflows ----


def workflow(cpu_ms):
    """Two tasks; the second depends on the first and arrives 5 ms later."""
    columns = {
        "arrival_ms": np.array([0.0, 5.0]), "cpu_ms": np.full(2, cpu_ms), "job": ["x", "y"], "after": ["", "x"],
    }  # fmt: skip
    return Trace("a", "csv", 2, job_frame(columns))


def test_workflows_are_spread_evenly_over_window_nodes_and_traces():
    """80 workflows in 50 s on four nodes, from two traces: mean 25 s, shares 1/4 and 1/2, to five standard errors."""
    jobs = composed([workflow(10.0), workflow(20.0)], 80, 50.0, 4, 3).table
    numbers = jobs["job"].str.partition(".")[0].astype(int)
    jobs = jobs.assign(number=numbers).sort_values(["number", "job"])
    first, second = jobs.iloc[::2].reset_index(), jobs.iloc[1::2].reset_index()
    # Workflows are numbered in the order of arrival. The tasks of a workflow keep their distance and share a home.
    assert (np.diff(first["arrival_ms"]) >= 0).all()
    assert (second["arrival_ms"] - first["arrival_ms"]).to_numpy() == pytest.approx(5.0)
    assert (first["home"] == second["home"]).all()
    assert (first["cpu_ms"] == second["cpu_ms"]).all()
    assert first["arrival_ms"].mean() == pytest.approx(25_000, abs=5 * 50_000 / math.sqrt(12 * 80))
    counts = first["home"].value_counts()
    assert sorted(counts.index) == [0.0, 1.0, 2.0, 3.0]
    assert (abs(counts - 20) < 5 * math.sqrt(80 * 3 / 16)).all()
    assert (first["cpu_ms"] == 20.0).mean() == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(80))
    assert first["job"].tolist() == [f"{place}.x" for place in range(80)]
    assert second["after"].tolist() == first["job"].tolist()


def test_jobs_without_parents_get_none():
    alone = Trace("c", "csv", 1, job_frame({"arrival_ms": np.zeros(1), "cpu_ms": np.ones(1), "job": ["x"]}))
    assert set(composed([alone], 3, 1.0, 2, 1).table["after"]) == {""}


# ---- workloads ----


def test_files_of_a_source_are_found_by_their_pattern(tmp_path):
    for name in ("b.csv", "a.csv.xz", "c.txt"):
        (tmp_path / name).write_text("")
    source = Source("x", "*.csv*", lambda *_: [])
    assert [path.name for path in source.found(tmp_path)] == ["a.csv.xz", "b.csv"]


def test_hours_of_two_hosts_are_stretched_to_a_load_of_seventy_per_cent(tmp_path):
    """Ten processes of 20 s on each of two hosts, in the first half of each of two hours.

    A node computes for 200 of 1800 s, so a load of 0.7 needs times that are 0.7 x 9 = 6.3 times as long. An access
    takes 8 ms seek and 2.5 ms transfer: a rate r keeps the disk busy for 200,000 r x 10.5 ms of 1,800,000 ms. Rates are
    drawn, so that the rate for 0.7 is only near this.
    """
    path = tmp_path / "hbd97.csv"
    lines = [f"{run},{host},{100 * second},20,p\n" for run in (0, 1) for second in range(10) for host in (0, 1)]
    path.write_text("run,host,submit_s,cpu_s,prog\n" + "".join(lines))
    with_io, without = hbd([path], tmp_path, 3)
    assert (with_io.name, without.name, without.nodes) == ("HBD + I/O", "HBD", 2)
    assert with_io.load["disk"] == pytest.approx(0.7)
    assert with_io.load["cpu"] == pytest.approx(200 / 1800)
    assert without.load["cpu"] == pytest.approx(0.7)
    assert without.load["disk"] == 0.0
    assert without.settings["workload.trace.cpu_scale"] == pytest.approx(6.3)
    rate = 0.7 * 1_800_000 / (200_000 * 10.5)
    assert with_io.settings["workload.io_per_ms"] == {"kind": "uniform", "mean": pytest.approx(rate, rel=0.3)}
    # Replications take the hours in turn, half an hour of each.
    assert [window["workload.trace.run"] for window in without.windows] == [0, 1, 0]
    assert {window["workload.trace.duration_s"] for window in without.windows} == {1800.0}
    assert without.loads == pytest.approx([0.7] * 3)
    assert "first half of 2 hours; 2 hosts are 2 nodes" in without.real
    assert "CPU times are 6.3 times the recorded ones" in without.assumed


def test_a_workload_gets_the_fewest_nodes_that_keep_to_its_load(monkeypatch):
    """On 64 nodes the disk has a load of 0.07: a load of 0.7 needs 6.4 nodes, so seven."""
    asked = []

    def made(name, real, assumed, settings, replications, **more):
        asked.append((name, settings["cluster.nodes"], more))
        return SimpleNamespace(load={"cpu": 0.01, "disk": 0.07}, nodes=settings["cluster.nodes"])

    monkeypatch.setattr(workloads, "made", made)
    found = workloads.on_fewest("a", "b", "c", {"x": 1}, [], also="makespan_ms")
    assert found.nodes == 7
    assert asked == [("a", 64, {}), ("a", 7, {"also": "makespan_ms"})]


def test_the_loads_of_a_workload_are_those_of_the_busiest_resource(monkeypatch):
    """Replications have the seeds 1, 2, 3 and their own lengths."""
    asked = []

    def offered(setup, seed, length_s):
        asked.append((seed, length_s))
        return OfferedLoad(0.1 * seed, 0.25, 0.0, length_s, 0.0)

    monkeypatch.setattr(workloads, "offered", offered)
    monkeypatch.setattr(workloads, "scenario_of", lambda settings: settings)
    found = workloads.made("a", "b", "c", {"cluster.nodes": 3}, [({"x": 1}, 10.0), ({"x": 2}, 20.0), ({"x": 3}, 30.0)])
    assert isinstance(found, Workload)
    assert asked == [(1, 10.0), (2, 20.0), (3, 30.0)]
    assert found.loads == pytest.approx([0.25, 0.25, 0.3])
    assert found.load["cpu"] == pytest.approx(0.2)
    assert (found.windows, found.nodes) == ([{"x": 1}, {"x": 2}, {"x": 3}], 3)

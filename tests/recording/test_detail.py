"""What each task does at each moment of a window: worked by hand, and added up against what the engine books."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from runs import CASES, column, model_of, recording_of, scenario_of_case
from support import PLAIN, mostly_slow, scenario

import cluster_abm as ca
from cluster_abm.engine.detail import window
from cluster_abm.errors import InputError
from cluster_abm.policies import available
from cluster_abm.recording.recorded_run import DOING
from cluster_abm.recording.segments import RUNS

DETAILED = [name for name in CASES if name != "pooled"]
# What the parts of a segment are in a detailed window.
ADDS_UP = {
    "cpu": ("cpu",), "cpu_queue": ("ready",), "io": ("disk",), "io_queue": ("waits for the disk",),
    "paging": ("waits for a page fault", "page fault"), "barrier": ("barrier or sleep",),
    "migration": ("writes what it brought",),
}  # fmt: skip


def detail_of_trace(tmp_path, rows, until_s=2.0, **more):
    """What tasks of one node do: (task, doing, from, to) [ms]. A job is (arrival_ms, cpu_ms, io_per_ms)."""
    path = tmp_path / "jobs.csv"
    lines = [f"{arrival},0,{cpu},{io},1,400" for arrival, cpu, io in rows]
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,request_kb\n" + "\n".join(lines) + "\n")
    given = {
        **PLAIN, "workload__kind": "trace", "workload__trace__file": str(path), "policy__name": "none",
        "cluster__disk_seek_rotation_ms": 0.0, "cluster__disk_mb_per_s": 40.0, "cluster__buffer_mb": 0.0,
        "workload__request_kb": {"kind": "fixed", "mean": 400.0}, **more,
    }  # fmt: skip
    recording = ca.record(scenario(**given), seed=1, detail=(0.0, until_s))
    frame = recording.detail_frame()
    return [(row.task, row.doing, round(row.from_ms, 6), round(row.to_ms, 6)) for row in frame.itertuples(index=False)]


@pytest.mark.slow
def test_two_tasks_take_turns(tmp_path):
    """Quanta of 10 ms, a switch of 1 ms: 20 ms of CPU each."""
    found = detail_of_trace(
        tmp_path, [(0, 20, 0), (0, 20, 0)], cluster__quantum_ms=10.0, cluster__context_switch_ms=1.0
    )
    assert found == [
        (0, "cpu", 0, 10), (0, "ready", 10, 22), (0, "cpu", 22, 32),
        (1, "ready", 0, 11), (1, "cpu", 11, 21), (1, "ready", 21, 33), (1, "cpu", 33, 43),
    ]  # fmt: skip


def test_the_quanta_of_one_alone_are_one(tmp_path):
    assert detail_of_trace(tmp_path, [(3, 45, 0)], cluster__quantum_ms=10.0) == [(0, "cpu", 3, 48)]


def test_a_window_cuts(tmp_path):
    assert detail_of_trace(tmp_path, [(3, 45, 0)], until_s=0.0171) == [(0, "cpu", 3, 17.1)]


def test_tasks_wait_for_the_disk(tmp_path):
    """Requests of 400 kB take 10 ms at 40 MB/s: who is second at the disk waits for the first."""
    found = detail_of_trace(tmp_path, [(0, 60, 0.1), (0, 60, 0.1)], cluster__cores=2)
    for task in (0, 1):
        mine = [one for one in found if one[0] == task]
        assert [one[2] for one in mine][1:] == [one[3] for one in mine][:-1]
        assert sum(end - begin for _, doing, begin, end in mine if doing == "cpu") == pytest.approx(60)
        served = [end - begin for _, doing, begin, end in mine if doing == "disk"]
        assert served == pytest.approx([10] * len(served))
    at_disk = sorted((begin, end) for _, doing, begin, end in found if doing == "disk")
    assert len(at_disk) > 4
    assert all(end <= begin for (_, end), (begin, _) in pairwise(at_disk))
    waits = [(begin, end) for _, doing, begin, end in found if doing == "waits for the disk"]
    assert waits
    assert {end for _, end in waits} <= {begin for begin, _ in at_disk}


@pytest.mark.slow
@pytest.mark.parametrize("case", mostly_slow(DETAILED, ("migrations", "failures, several channels", "barriers")))
def test_it_adds_up_to_what_is_booked_and_changes_nothing(case):
    recording = ca.record(scenario_of_case(case), seed=3, detail=(0.0, 1e6))
    for name, table in recording_of(case).tables.items():
        assert recording.tables[name].equals(table) or name in ("decisions", "loads", "tasks"), name
    assert recording.decisions_frame().equals(recording_of(case).decisions_frame())
    assert recording.jobs_frame().equals(recording_of(case).jobs_frame())
    detail = {name: column(recording, "detail", name) for name in ("task", "node", "from_ns", "to_ns", "doing")}
    segments = {name: column(recording, "segments", name) for name in recording.tables["segments"].column_names}
    visits = np.flatnonzero(
        (segments["what"] == RUNS) & ~segments["is_open"] & (segments["to_ns"] > segments["from_ns"])
    )
    assert len(visits) > 20
    assert (detail["to_ns"] > detail["from_ns"]).all()
    spent = pd.DataFrame(detail)
    spent["ns"] = spent["to_ns"] - spent["from_ns"]
    by_task = dict(tuple(spent.groupby("task")))
    for place in visits.tolist():
        own = by_task[segments["task"][place]]
        begin, end = segments["from_ns"][place], segments["to_ns"][place]
        own = own[(own["from_ns"] >= begin) & (own["to_ns"] <= end)]
        assert own["from_ns"].iloc[0] == begin
        assert own["to_ns"].iloc[-1] == end
        assert (own["from_ns"].to_numpy()[1:] == own["to_ns"].to_numpy()[:-1]).all()
        assert set(own["node"]) == {segments["node"][place]}
        of = own.groupby("doing")["ns"].sum()
        for part, doing in ADDS_UP.items():
            total = sum(int(of.get(DOING.index(name), 0)) for name in doing)
            assert total == segments[f"{part}_ns"][place], (part, segments["task"][place])


@pytest.mark.slow
@pytest.mark.parametrize("case", mostly_slow(DETAILED, ("failures",)))
def test_any_window_shows_the_same(case):
    """Computed again up to a window's end, it is the same piece of the whole."""
    whole = ca.record(scenario_of_case(case), seed=3, detail=(0.0, 1e6)).tables["detail"].to_pandas()
    for from_s, to_s in ((1.5013, 4.0), (0.0, 0.7), (2.0, 2.00321)):
        part = ca.detail_of(recording_of(case), from_s, to_s)
        from_ns, to_ns = round(from_s * 1e9), round(to_s * 1e9)
        expected = whole[(whole["from_ns"] < to_ns) & (whole["to_ns"] > from_ns)].copy()
        expected["from_ns"], expected["to_ns"] = expected["from_ns"].clip(from_ns), expected["to_ns"].clip(upper=to_ns)
        assert expected.reset_index(drop=True).equals(part.tables["detail"].to_pandas())
        assert part.meta["detail"] == {"from_ns": from_ns, "to_ns": to_ns}
        assert part.tables["segments"] is recording_of(case).tables["segments"]


def test_notes_that_fill_their_room(monkeypatch):
    expected = ca.detail_of(recording_of("failures"), 0.0, 2.0)
    monkeypatch.setattr(window, "_AT_ONCE", 64)
    assert ca.detail_of(recording_of("failures"), 0.0, 2.0).tables["detail"].equals(expected.tables["detail"])


def test_it_is_kept_in_the_file(tmp_path):
    recording = ca.detail_of(recording_of("migrations"), 1.0, 2.0)
    recording.save(tmp_path / "run.rec")
    again = ca.load_recording(tmp_path / "run.rec")
    assert again.detail_frame().equals(recording.detail_frame())
    assert len(again.detail_frame()) > 100
    assert again.meta["detail"] == {"from_ns": 1_000_000_000, "to_ns": 2_000_000_000}


def test_of_a_part_of_the_jobs():
    part = ca.detail_of(model_of("migrations").recording(every=3), 0.0, 2.0)
    tasks = set(column(part, "detail", "task").tolist())
    assert tasks
    assert tasks <= set(column(part, "tasks", "task").tolist())


def test_beyond_the_end_there_is_none():
    assert len(ca.detail_of(recording_of("migrations"), 100.0, 101.0).detail_frame()) == 0


def test_what_has_none():
    with pytest.raises(InputError, match=r"policy 'pooled' pools all nodes: .* there is no detail"):
        ca.detail_of(recording_of("pooled"), 0.0, 1.0)
    with pytest.raises(InputError, match=r"detail_frame\(\): the recording has no detail"):
        recording_of("migrations").detail_frame()
    with pytest.raises(InputError, match="recording = 3: a Recording is needed"):
        ca.detail_of(3, 0.0, 1.0)


def test_a_run_that_is_another_one():
    recording = recording_of("migrations")
    other = ca.Recording({**recording.meta, "seed": 4}, recording.tables)
    with pytest.raises(InputError, match=r"detail_of\(\): the run is not the recorded one"):
        ca.detail_of(other, 2.0, 3.0)
    with pytest.raises(InputError, match="the run is not the recorded one"):
        ca.detail_of(recording, 2.0, 3.0, policy="none")


@pytest.mark.slow
def test_what_was_handed_over():
    """A graph is a part of the recording; of a policy of one's own only the name is."""
    graph = nx.star_graph(4)

    class Own(available()["jsq"]):
        """As jsq."""

        name = "own-jsq"

    setup = scenario_of_case("remote starts")
    recording = ca.record(setup, Own, seed=3, network=graph, cluster__nodes=5)
    expected = ca.record(setup, Own, seed=3, network=graph, cluster__nodes=5, detail=(1.0, 2.0)).detail_frame()
    assert len(expected) > 20
    assert ca.detail_of(recording, 1.0, 2.0, policy=Own).detail_frame().equals(expected)
    elsewhere = {**recording.meta, "policy": {**recording.meta["policy"], "name": "unknown"}}
    with pytest.raises(InputError, match="unknown"):
        ca.detail_of(ca.Recording(elsewhere, recording.tables), 1.0, 2.0)


def test_a_file_of_python_that_a_recording_names_is_not_imported(tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    recording = recording_of("migrations")
    named = {**recording.meta["policy"], "name": f"{tmp_path}/evil.py:Evil"}
    with pytest.raises(InputError, match=r"evil\.py:Evil', which the recording names, is unknown here"):
        ca.detail_of(ca.Recording({**recording.meta, "policy": named}, recording.tables), 1.0, 2.0)

"""A recording equals the run: frames, lives of tasks, fates of decisions; and recording changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from runs import CASES, check_lives, column, model_of, recording_of, scenario_of_case
from support import mostly_slow, needed_by, same_records, scenario

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.policies import BOUNDS, available
from cluster_abm.recording.fates import KINDS, MIGRATION, RECOVERY, STARTS_ELSEWHERE, STAYS
from cluster_abm.recording.segments import WHAT
from cluster_abm.scenario import scenario_names

FAST = ("remote starts", "migrations", "failures", "contended links", "talk", "lost with their node")
FRAMES = ("jobs_frame", "nodes_frame", "decisions_frame")


def check_frames(model, recording):
    for name in FRAMES:
        pd.testing.assert_frame_equal(getattr(recording, name)(), getattr(model, name)(), check_exact=True)
    assert recording.decisions_frame().attrs["taken"] == model.decisions_frame().attrs["taken"]


def check_file(recording, path):
    """What a run gives is what a file may have."""
    recording.save(path)
    again = ca.load_recording(path)
    assert again.meta == recording.meta
    assert [again.tables[name].num_rows for name in again.tables] == [one.num_rows for one in recording.tables.values()]


@pytest.mark.slow
@pytest.mark.parametrize("case", mostly_slow(CASES, FAST))
def test_frames_and_lives(case, tmp_path):
    check_frames(model_of(case), recording_of(case))
    check_lives(recording_of(case))
    check_file(recording_of(case), tmp_path / "run.rec")


@pytest.mark.slow
@pytest.mark.parametrize("case", mostly_slow(CASES, FAST[:3]))
def test_recording_changes_nothing(case):
    plain = ca.ClusterModel(scenario_of_case(case), seed=3)
    plain.run()
    recorded = model_of(case)
    assert same_records(plain, recorded)
    assert plain.summary() == recorded.summary()
    for name in FRAMES:
        pd.testing.assert_frame_equal(getattr(plain, name)(), getattr(recorded, name)(), check_exact=True)


@pytest.mark.parametrize("case", mostly_slow(CASES, FAST))
def test_decisions_and_ways_belong_together(case):
    """A way to another node is of a decision for that node that was taken before; an accepted one has left."""
    recording = recording_of(case)
    names = ("task", "source", "target", "time_ns", "accepted", "kind", "leaves_ns", "enters_ns")
    decisions = {name: column(recording, "decisions", name) for name in names}
    segments = {name: column(recording, "segments", name) for name in ("task", "node", "what", "decision", "from_ns")}
    has_one = segments["decision"] >= 0
    of = segments["decision"][has_one]
    for name, other in (("task", "task"), ("node", "target")):
        assert (segments[name][has_one] == decisions[other][of]).all()
    assert (decisions["time_ns"][of] <= segments["from_ns"][has_one]).all()
    has_left = decisions["leaves_ns"] >= 0
    assert decisions["accepted"][has_left].all()
    assert (decisions["leaves_ns"] >= decisions["time_ns"])[has_left].all()
    assert (decisions["enters_ns"] >= decisions["leaves_ns"])[decisions["enters_ns"] >= 0].all()
    moves = decisions["target"] != decisions["source"]
    assert (decisions["kind"][~moves] != STARTS_ELSEWHERE).all()
    assert np.isin(decisions["kind"][moves & has_left], (STARTS_ELSEWHERE, MIGRATION, RECOVERY)).all()
    assert (decisions["kind"] < len(KINDS)).all()
    if case in ("remote starts", "migrations", "talk"):
        assert has_left[moves & decisions["accepted"]].all()
        assert (decisions["kind"] == STAYS)[~moves].all()


def test_migrations_are_counted_alike():
    recording = recording_of("migrations")
    kinds, moved = recording.kinds(), column(recording, "decisions", "leaves_ns") >= 0
    metrics = recording.meta["summary"]["metrics"]
    assert ((kinds == "migrates") & moved).sum() == metrics["migrations"]
    assert ((kinds == "starts") & moved).sum() == metrics["remote_executions"]
    what = column(recording, "segments", "what")
    assert (what == WHAT.index("migrates")).sum() == metrics["migrations"]


def test_tasks_of_failed_nodes_are_lost_or_start_again():
    frame = recording_of("failures").segments_frame()
    assert {"restarts", "runs"} <= set(frame["what"])
    assert {"node fails", "node recovers"} <= set(recording_of("failures").tables["failures"]["what"].to_pylist())
    outcomes = recording_of("lost with their node").jobs_frame()["outcome"]
    assert {"lost", "finished"} <= set(outcomes)


def test_messages_of_managers_that_talk():
    recording = recording_of("talk")
    messages = recording.tables["messages"].to_pandas()
    assert len(messages) > 100
    heard = messages["heard_ns"] >= 0
    assert (messages["heard_ns"] >= messages["sent_ns"])[heard].all()


def test_at_any_moment_and_the_same_at_the_end():
    """A run looked at on its way goes on as it would have."""
    model = ca.ClusterModel(scenario_of_case("migrations"), seed=3, record=True)
    model.run(until_ms=1500.0)
    early = model.recording()
    check_frames(model, early)
    check_lives(early)
    assert not early.meta["is_over"]
    assert column(early, "tasks", "is_open").any()
    model.run()
    assert model.recording().tables["segments"].equals(recording_of("migrations").tables["segments"])


def test_a_run_that_is_not_recorded_says_so():
    with pytest.raises(InputError, match="the run is not recorded: give ClusterModel record=True"):
        ca.ClusterModel(scenario(workload__duration_s=1.0)).recording()


def check(model, path):
    """A recorded run, against its frames, its segments and its file."""
    recording = model.recording()
    check_frames(model, recording)
    check_lives(recording)
    check_file(recording, path)


@pytest.mark.slow
@pytest.mark.parametrize("policy", available())
def test_every_policy_on_quickstart(policy, tmp_path):
    needed = {key.replace("__", "."): value for key, value in needed_by(policy).items()}
    overrides = {"workload.duration_s": 60.0, **needed}
    model = ca.ClusterModel("quickstart", policy=policy, seed=2, record=True, overrides=overrides)
    model.run()
    check(model, tmp_path / "run.rec")


# A log is not shipped with each of those that replay one.
LOGS = {"replay-hadoop": str(Path(__file__).parents[2] / "scenarios" / "logs" / "fb2009.tsv")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    mostly_slow(
        [name for name in scenario_names() if not name.startswith("replay") or name in LOGS], ("quickstart", "arena")
    ),
)
def test_every_shipped_scenario_under_its_policies(name, tmp_path):
    overrides = {"workload.trace.file": LOGS[name]} if name in LOGS else {}
    setup = ca.load_scenario(name, overrides)
    for policy in dict.fromkeys([setup.policy.name, *setup.compare.policies]):
        if policy not in BOUNDS:
            model = ca.ClusterModel(setup, policy=policy, seed=1, record=True)
            model.run(until_ms=20_000.0)
            check(model, tmp_path / "run.rec")

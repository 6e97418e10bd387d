"""Numbers in texts are those of the run, found in another way here."""

import re

import numpy as np
import pytest
from small_scene import small

import cluster_abm as ca
from cluster_abm.scenes.numbers import amount, duration, moment
from cluster_abm.scenes.quantities import MOVE_QUANTITIES, NODE, RUN, TASK


@pytest.mark.slow
def test_metrics_are_those_of_a_run_without_a_recording():
    summaries = []
    for policy in ("none", "wal-pm"):
        model = ca.ClusterModel("quickstart", seed=1, policy=policy, cluster__nodes=12, workload__duration_s=60.0)
        model.run()
        summaries.append(model.summary()["metrics"])
    text = small().shown["steps"][0]["text"]
    assert text.endswith(f" {amount(summaries[0]['mean_slowdown'])} {summaries[1]['migrations']}")


def test_tasks_on_a_node_are_the_visits_that_have_begun_and_not_ended():
    there = 0
    for segment in small().recordings[0].segments_frame().itertuples():
        there += segment.what == "runs" and segment.node == 3 and segment.from_ms <= 20_000.0 < segment.to_ms
    assert small().shown["steps"][0]["text"].startswith(f"{there} task{'s' * (there != 1)} on node 3,")


def test_a_moves_numbers_are_those_of_its_decision():
    step, recording = small().shown["steps"][1], small().recordings[1]
    row = int(re.search(r"sel=b:move(\d+)", step["address"])[1])
    decisions, kinds = recording.decisions_frame(), recording.kinds()
    first = next(
        number for number, one in decisions.iterrows()
        if one["time_ms"] >= 20_000 and one["accepted"] and kinds[number] == "migrates"
    )  # fmt: skip
    assert row == first
    one = decisions.iloc[row]
    staying, moving, cost = one["response_here_ms"], one["response_there_ms"], one["cost_ms"]
    age_ms = one["time_ms"] - recording.tables["decisions"]["told_ns"][row].as_py() / 1e6
    assert step["at_s"] == one["time_ms"] / 1000
    assert step["text"] == (
        f"Task {one['task']}: {duration(staying)}, {duration(moving)}, {duration(cost)}, "
        f"saves {duration(staying - moving - cost)}; {duration(age_ms)} old"
    )
    jobs = recording.jobs_frame()
    task = jobs[jobs["task"] == one["task"]].iloc[0]
    assert step["answer"] == f"Because of {amount(task['slowdown'])}."


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (duration(0), "0 s"), (duration(0.255), "0.26 ms"), (duration(85.2), "85 ms"), (duration(994.9), "0.99 s"),
        (duration(9_812), "9.8 s"), (duration(723_000), "12 min 3 s"), (duration(600_000), "10 min"),
        (duration(659_700), "11 min"),
        (duration(-1500), "-1.5 s"), (duration(np.nan), "unknown"), (moment(np.float64(54_200)), "54.20 s"),
        (moment(1_234_567.8), "1,234.57 s"), (amount(0), "0"), (amount(33.68), "33.7"), (amount(1234.5), "1,235"),
        (amount(0.0004), "4.0e-4"), (amount(7), "7"), (amount(0.12345), "0.123"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_the_player_writes_them(written, expected):
    assert written == expected


def test_every_quantity_says_what_it_is():
    for quantities in (RUN, NODE, MOVE_QUANTITIES, TASK):
        for name, (_, words) in quantities.items():
            assert re.fullmatch(r"[a-z0-9_]+", name)
            assert words

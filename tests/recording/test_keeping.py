"""A recording of a part of the run: every n-th job, or a window, said in numbers and in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from runs import column, model_of, recording_of, scenario_of_case

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.recording import keeping
from cluster_abm.recording.keeping import MOST_TASKS, Excerpt, every_of


def test_every_third_job():
    model = model_of("migrations")
    part, whole = model.recording(every=3), model.jobs_frame()
    kept = whole[whole["job"] % 3 == 0]
    pd.testing.assert_frame_equal(part.jobs_frame(), kept.reset_index(drop=True), check_exact=True)
    decisions = model.decisions_frame()
    decisions = decisions[decisions["job"] % 3 == 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(part.decisions_frame(), decisions, check_exact=True)
    assert part.tables["loads"].equals(recording_of("migrations").tables["loads"])
    assert part.meta["kept"] == {
        "every": 3, "from_ns": None, "to_ns": None, "why": f"one job in 3, of {len(whole)} tasks"
    }  # fmt: skip
    assert repr(part).endswith(f" 8 s; one job in 3, of {len(whole)} tasks>")
    assert part.meta["summary"] == recording_of("migrations").meta["summary"]


def test_segments_point_to_their_decisions_in_every_part():
    whole = recording_of("migrations")
    for part in (model_of("migrations").recording(every=2), model_of("migrations").recording(from_s=1.0, to_s=2.0)):
        of = column(part, "segments", "decision")
        has_one = of >= 0
        assert has_one.any()
        for name, other in (("task", "task"), ("node", "target")):
            here = column(part, "decisions", other)[of[has_one]]
            assert (column(part, "segments", name)[has_one] == here).all()
        assert column(part, "segments", "task").tolist() == [
            task for task in column(whole, "segments", "task").tolist() if task in column(part, "tasks", "task")
        ]


def test_a_window(tmp_path):
    """Tasks that live from 1 to 2 s, whole; decisions and loads of that time."""
    model = model_of("migrations")
    part, whole = model.recording(from_s=1.0, to_s=2.0), model.jobs_frame()
    lives = whole[(whole["arrival_ms"] < 2000.0) & (whole["finish_ms"] >= 1000.0)].reset_index(drop=True)
    assert 0 < len(lives) < len(whole)
    pd.testing.assert_frame_equal(part.jobs_frame(), lives, check_exact=True)
    times_ns = column(part, "decisions", "time_ns")
    assert len(times_ns)
    assert ((times_ns >= 1e9) & (times_ns < 2e9)).all()
    nodes = model.nodes_frame()
    nodes = nodes[(nodes["time_ms"] >= 1000.0) & (nodes["time_ms"] < 2000.0)].reset_index(drop=True)
    pd.testing.assert_frame_equal(part.nodes_frame(), nodes, check_exact=True)
    assert part.meta["kept"]["why"] == "what lives from 1 s to 2 s"
    part.save(tmp_path / "part.rec")
    assert ca.load_recording(tmp_path / "part.rec").meta["kept"] == part.meta["kept"]


def test_record_takes_the_same_words():
    setup = scenario_of_case("migrations")
    part = ca.record(setup, seed=3, every=2, to_s=1.5)
    again = model_of("migrations").recording(every=2, to_s=1.5)
    assert part.meta == again.meta
    assert part.meta["kept"]["why"].endswith("; what lives from the beginning to 1.5 s")


def test_of_more_tasks_than_fit_every_nth_job_is_kept(monkeypatch):
    monkeypatch.setattr(keeping, "MOST_TASKS", 20)
    part = model_of("migrations").recording()
    kept = part.meta["kept"]
    assert kept["every"] > 1
    assert kept["why"].endswith("tasks: a recording keeps at most 20")
    assert 0 < part.tables["tasks"].num_rows <= 20
    assert set(column(part, "jobs", "job") % kept["every"]) == {0}


def test_how_many_are_left_out():
    """Jobs of 1 task: 400,001 of them are one too many for all, and every second one fits. A job of 300,000 tasks
    in every second place: of every second, 600,000 are too many; every third has 300,000 and two more."""
    ones = np.ones(MOST_TASKS + 1, int)
    assert every_of(Excerpt(), ones[:-1]) == 1
    assert every_of(Excerpt(), ones) == 2
    assert every_of(Excerpt(every=1), ones) == 1
    assert every_of(Excerpt(), np.array([300_000, 1, 300_000, 1])) == 3
    assert every_of(Excerpt(), np.zeros(1, int)) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"every": 0}, "every = 0: a whole number from 1 on or None is needed"),
        ({"every": 2.5}, "every = 2.5"),
        ({"from_s": -1}, "from_s = -1: a time of 0 to"),
        ({"to_s": float("nan")}, "to_s = nan: a time of 0 to"),
        ({"to_s": "soon"}, "to_s = 'soon'"),
        ({"from_s": 5, "to_s": 5}, "to_s = 5: a time after from_s = 5 is needed"),
        ({"detail": 5}, "detail = 5: two times in s"),
        ({"detail": (5, 4)}, "detail: from 5 to 4 s: the end has to be after the beginning"),
        ({"detail": (5, None)}, "to_s = None"),
    ],
)
def test_parts_that_can_be_none(given, words):
    """They are refused before the run."""
    with pytest.raises(InputError) as caught:
        ca.record("no such scenario", **given)
    assert words in str(caught.value)

"""Loads over time: of one seed for all policies of a point, and what is missing is told."""

from __future__ import annotations

import pytest
from studies import study

from cluster_abm import load_results
from cluster_abm.study.batch import run_batch
from cluster_abm.study.report.study_loads import loads_over_time, remarks_on
from cluster_abm.study.results_folder import read_plan
from cluster_abm.study.store.store import Store


@pytest.fixture
def run(tmp_path):
    def carried(**changes):
        run_batch(study(tmp_path / "study", grid=None, **changes), tmp_path / "out", "inline", quiet=True)
        loads = loads_over_time(tmp_path / "out")
        remarks = remarks_on(loads, read_plan(tmp_path / "out"), load_results(tmp_path / "out"))
        return [load[:3] for load in loads], remarks

    return carried


@pytest.mark.slow
@pytest.mark.parametrize("in_parts", [False, True])
def test_when_the_first_seed_has_changed_there_still_are_loads(run, tmp_path, in_parts):
    assert run() == ([(0, "none", 1), (0, "jsq", 1)], [])
    if in_parts:
        Store(tmp_path / "out").compact(1)
    assert run(first_seed=2) == ([(0, "none", 1), (0, "jsq", 1)], [])
    # Runs of a new first seed have theirs, and are preferred to earlier ones.
    assert run(first_seed=20) == ([(0, "none", 20), (0, "jsq", 20)], [])


@pytest.mark.slow
def test_policies_are_shown_from_one_seed_as_far_as_they_can_be(run):
    run(policies=["none"], first_seed=1)
    run(policies=["none", "jsq"], first_seed=20)
    both = ["none", "jsq", "random"]
    # Seed 20 is the one that two of them have; the third has its own, and it is said.
    assert run(policies=both, first_seed=22) == (
        [(0, "none", 20), (0, "jsq", 20), (0, "random", 22)],
        ["the picture of the load at point 0 shows policies from different seeds: none 20, jsq 20, random 22"],
    )


def test_where_no_run_kept_its_load_it_is_said(run, tmp_path):
    run(first_seed=1)
    for seed_1 in (tmp_path / "out" / "runs").glob("*-1.run"):
        seed_1.unlink()
    loads, remarks = run(first_seed=2)
    assert loads == []
    assert remarks == [
        "no picture of the load at point 0 under none, and 1 more: only the first seed's run keeps it, and 2 was not "
        "the first seed when it was run"
    ]

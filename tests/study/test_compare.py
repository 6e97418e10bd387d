"""Comparisons of which some numbers do not exist."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.policies import Decision, Policy
from cluster_abm.results.files import to_json
from cluster_abm.scenario import load_scenario
from cluster_abm.study.compare import compare
from cluster_abm.study.comparison import Comparison
from cluster_abm.study.runner.tasks import RunsOutcome


def test_where_no_job_has_finished_there_are_no_numbers():
    cut_short = scenario(run__until=10.0, workload__utilisation=None, workload__jobs=20, workload__cpu_ms__mean=5e5)
    found = compare(cut_short, ["none", "jsq"], seeds=2, workers=1, quiet=True)
    document = json.loads(to_json(found.as_json()))
    assert document["policies"]["jsq"]["mean_slowdown"] is None
    assert document["policies"]["jsq"]["ci95"] is None
    assert document["pairs"] == [
        {
            "a": "jsq",
            "b": "none",
            "ratio": None,
            "ratio_ci95": None,
            "significant": None,
            "tails_unlike": False,
            "verdict": "not tested",
            "difference": None,
            "ci95": None,
            "means_differ": None,
        }
    ]


@pytest.mark.slow
def test_the_same_numbers_whatever_the_workers_and_unmeasured():
    small = scenario(workload__duration_s=5.0, measure__period_ms=50.0)
    here = compare(small, ["none", "jsq"], seeds=2, workers=1, quiet=True)
    there = compare(small, ["none", "jsq"], seeds=2, workers=2, quiet=True)
    assert to_json(here.as_json()) == to_json(there.as_json())


def test_who_wins_by_more_than_noise():
    small = scenario(workload__duration_s=60.0, workload__utilisation=0.8, workload__home__kind="skewed")
    found = compare(small, ["none", "jsq"], seeds=5, workers=1, quiet=True)
    assert found.pairs()["none", "jsq"].significant
    assert found.best() == ("jsq",)
    # On one seed nothing is told apart, however large the difference.
    alone = compare(small, ["none", "jsq"], seeds=1, workers=1, quiet=True)
    assert alone.best() == ("jsq", "none")
    told = "bounded slowdown, against none: one seed does not show whether a difference is more than noise"
    assert alone.conclusion == told
    assert alone.word_of(alone.pairs()["none", "jsq"]) == "not known"
    assert alone.seeds_words.startswith("1 seed, the same jobs for every policy: no intervals")


def test_what_was_not_compared_is_refused_by_name_and_pairs_are_found_in_either_order():
    found = compare(scenario(workload__duration_s=5.0), ["none", "jsq"], seeds=2, workers=1, quiet=True)
    with pytest.raises(InputError, match="policy 'jqs': not among those compared; did you mean 'jsq'"):
        found.estimate("jqs", "mean_slowdown")
    with pytest.raises(InputError, match="metric 'mean_slowdwn': no run has it; allowed: mean_slowdown"):
        found.estimate("jsq", "mean_slowdwn")
    with pytest.raises(InputError, match=r"'iolb'.*not compared; allowed: two of jsq, none"):
        found.pairs()["jsq", "iolb"]
    one, other = found.pairs()["none", "jsq"], found.pairs()["jsq", "none"]
    low, high = one.difference.ci95
    assert other.difference.mean == -one.difference.mean
    assert other.difference.ci95 == (-high, -low)
    assert other.ratio == pytest.approx(1 / one.ratio)
    assert len(found.pairs()) == 1


def test_a_comparison_of_nothing_is_refused():
    with pytest.raises(InputError, match="at least one is needed"):
        compare(scenario(), [], seeds=1, workers=1, quiet=True)


@pytest.mark.slow
def test_what_ended_the_runs_stands_in_the_comparison_that_a_prompt_shows():
    class Wrong(Policy):
        def place(self, task, view):
            return Decision(view.lesat("tasks"))

    found = compare(scenario(workload__duration_s=5.0), [Wrong, "jsq"], seeds=1, workers=1, quiet=True)
    assert "has no attribute 'lesat'" in repr(found)
    with pytest.raises(InputError, match="no seed has finished for all policies"):
        found.values("jsq", "mean_slowdown")


def test_what_intervals_are_about_is_said_of_a_log():
    drawn = Comparison(scenario(), ("none",), (1, 2), pd.DataFrame(), RunsOutcome([]))
    assert "another day" not in drawn.seeds_words
    replayed = Comparison(load_scenario("replay-hadoop"), ("none",), (1, 2), pd.DataFrame(), RunsOutcome([]))
    assert "not about another day's jobs" in replayed.seeds_words

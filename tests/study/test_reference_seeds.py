"""A comparison whose means are corrected by the pooled reference on more seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.compare import compare
from cluster_abm.study.reference import ReferenceRuns, own_mean, reference_tasks
from cluster_abm.study.statistics.control import controlled
from cluster_abm.study.statistics.estimates import estimate

X = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
SEEDS = range(6)


def reference(*x, metric="mean_slowdown"):
    return ReferenceRuns({seed: {metric: value} for seed, value in enumerate(x)})


def test_seeds_are_matched_by_their_numbers():
    """The reference knows seeds 0 to 7; the policy ran from 1 to 6 and its values are twice the reference's."""
    known = reference(9.0, *X, 9.0)
    found = known.corrected([2.0 * x for x in X], "migrations", range(1, 7))
    assert found is None
    found = known.corrected([2.0 * x for x in X], "mean_slowdown", range(1, 7))
    assert found.mean == pytest.approx(2.0 * (21.0 + 18.0) / 8)


def test_without_a_reference_or_where_it_does_not_help_the_mean_is_plain():
    values = [1.0, 4.0, 2.0, 6.0, 3.0, 5.0]
    plain = estimate(values)
    assert own_mean(values, "unbounded", SEEDS, None) == plain
    assert own_mean(values, "unbounded", SEEDS, reference(*X, 3.0, metric="unbounded")) == plain
    # It lacks a seed, has no seed more, or has no number at one.
    for known in (reference(*X[:5]), reference(*X), reference(*X, None)):
        assert known.corrected(values, "mean_slowdown", SEEDS) is None


@pytest.mark.parametrize("wanted", [0, 8, True, 9.0, "100"])
def test_the_reference_runs_from_more_seeds_than_are_compared(wanted):
    with pytest.raises(InputError, match=r"reference_seeds .*: allowed are whole numbers above 8, the seeds compared"):
        reference_tasks(scenario(), 8, wanted)


def test_its_runs_begin_with_the_scenarios_seed():
    tasks = reference_tasks(scenario(run__seed=5), 2, 3)
    assert [(task.scenario.policy.name, task.seed) for task in tasks] == [("pooled", 5), ("pooled", 6), ("pooled", 7)]
    assert reference_tasks(scenario(), 8, None) == []


@pytest.mark.slow
def test_a_comparison_says_what_is_corrected_and_leaves_pairs_as_they_are():
    declared = scenario(
        cluster__nodes=4, workload__utilisation=0.7, workload__duration_s=20.0, workload__cpu_ms__mean=200.0
    )
    names = ["jsq", "pooled"]
    plain = compare(declared, names, seeds=8, workers=1, quiet=True)
    found = compare(declared, names, seeds=8, workers=1, quiet=True, reference_seeds=40)
    rows = found.reference.rows
    x = [rows[seed][found.headline] for seed in found.seeds]
    more = [row[found.headline] for seed, row in rows.items() if seed not in found.seeds]
    assert len(more) == 32
    values = plain.values("jsq", found.headline)
    assert x == plain.values("pooled", found.headline)
    assert np.corrcoef(values, x)[0, 1] > 0.8
    assert found.estimate("jsq", found.headline).mean == pytest.approx(controlled(values, x, more).mean)
    # Its own mean is that of all 40 seeds.
    assert found.estimate("pooled", found.headline).mean == pytest.approx(np.mean([*x, *more]))
    pair, before = (one.pairs()["jsq", "pooled"] for one in (found, plain))
    assert (pair.ratio, pair.ratio_ci95) == (before.ratio, before.ratio_ci95)
    document = found.as_json()
    assert document["reference_seeds"] == 40
    assert document["policies"]["jsq"]["is_corrected"] is True
    assert "means corrected by the pooled reference on 40 seeds" in found.seeds_words
    assert "of jsq, pooled, and other columns" in found.seeds_words
    without = plain.as_json()
    assert (without["reference_seeds"], without["policies"]["jsq"]["is_corrected"]) == (None, False)


@pytest.mark.slow
def test_with_five_seeds_no_mean_is_corrected_and_the_head_says_so():
    declared = scenario(cluster__nodes=2, workload__duration_s=5.0)
    found = compare(declared, ["jsq"], seeds=5, workers=1, quiet=True, reference_seeds=9)
    assert (
        "no mean is corrected by the pooled reference: it takes 6 seeds and a correlation of 0.8" in found.seeds_words
    )
    assert math.isfinite(found.estimate("jsq", "mean_response_ms").mean)
    assert found.as_json()["policies"]["jsq"]["is_corrected"] is False

"""`measure.headline` and `measure.bound_ms`: what comparisons, studies, searches and plans are of."""

from __future__ import annotations

import pytest
from studies import study
from support import scenario

from cluster_abm.study.arena.arena import ArenaSize, hold
from cluster_abm.study.compare import compare
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.planning.fixing import with_fixed_jobs
from cluster_abm.study.tuning.question import TuningQuestion
from cluster_abm.study.tuning.ranges import Over
from cluster_abm.workload import bound_ms

SMALL = {"workload__duration_s": 5.0, "workload__home__kind": "skewed", "workload__utilisation": 0.8}


def test_a_comparison_is_of_the_headline():
    for headline in ("bounded_slowdown", "mean_wait_ms"):
        found = compare(scenario(measure__headline=headline, **SMALL), ["none", "jsq"], seeds=2, workers=1, quiet=True)
        assert found.pairs() == found.pairs(headline)
        assert (found.as_json()["headline"], found.headline) == (headline, headline)
    # Waits of 0 have no ratio, and a comparison of them is one of differences.
    assert found.differences().equals(found.differences("mean_wait_ms"))


def test_a_study_that_names_no_metric_is_of_the_headline(tmp_path):
    quiet = {"policies": ["none"], "overrides": {"measure.headline": "p95_slowdown"}, "measure": []}
    found = expand(study(tmp_path, **quiet)).study
    assert (found.measure, found.precision_metric) == (("p95_slowdown",), "p95_slowdown")
    named = expand(study(tmp_path / "named", policies=["none"], measure=["makespan_ms"])).study
    assert named.measure == ("makespan_ms",)


def test_a_search_that_names_no_metric_is_of_the_headline():
    base = scenario(measure__headline="mean_response_ms", policy__name="wal-re")
    over = (Over("policy.cpu_weight", 0.0, 1.0),)
    assert TuningQuestion(base, over).metric == "mean_response_ms"
    assert TuningQuestion(base, over, metric="makespan_ms").metric == "makespan_ms"


@pytest.mark.slow
def test_the_arena_is_of_the_headline():
    found = hold(["jsq"], ArenaSize(2, 2, 4, 40), workers=1, quiet=True, more={"measure.headline": "mean_wait_ms"})
    assert found.headline == "mean_wait_ms"
    assert {"mean_wait_ms", "mean_slowdown"} <= set(found.runs.columns)


# ---- one bound for runs that are compared ----

# Remote execution costs 100 ms, between 1 % of a mean task of a second and 10 % of one of 2 s.
COSTLY = {"negotiation__remote_execution_ms": 100.0, "workload__io_per_ms": {"kind": "fixed", "mean": 0.0}}


def test_the_bound_is_the_cost_of_a_remote_start_within_limits():
    for cpu_ms, bound in ((2000.0, 100.0), (500.0, 50.0), (20_000.0, 200.0)):
        assert bound_ms(scenario(workload__cpu_ms__mean=cpu_ms, **COSTLY)) == pytest.approx(bound)
    assert bound_ms(scenario(measure__bound_ms=7.0, **COSTLY)) == 7.0


def test_points_of_a_study_have_the_bound_of_its_scenario(tmp_path):
    keys = {"negotiation.remote_execution_ms": 100.0, "workload.cpu_ms.mean": 2000.0, "workload.io_per_ms.mean": 0.0}
    grid = {"workload.cpu_ms.mean": [500.0, 20_000.0]}
    expansion = expand(study(tmp_path, policies=["none"], overrides=keys, grid=grid))
    bounds = [expansion.scenario(cell).measure.bound_ms for cell in expansion.cells]
    assert bounds == pytest.approx([100.0, 100.0])
    swept = expand(study(tmp_path / "swept", policies=["none"], overrides=keys, grid={"measure.bound_ms": [5.0, 7.0]}))
    assert [swept.scenario(cell).measure.bound_ms for cell in swept.cells] == [5.0, 7.0]


def test_plans_and_searches_have_one_bound():
    base = scenario(workload__cpu_ms__mean=2000.0, policy__name="wal-re", **COSTLY)
    assert with_fixed_jobs(base, "negotiation.remote_execution_ms").scenario.measure.bound_ms == pytest.approx(100.0)
    over = (Over("policy.cpu_weight", 0.0, 1.0),)
    assert TuningQuestion(base, over).measured.measure.bound_ms == pytest.approx(100.0)

"""Every shipped scenario, run briefly; and every reproduction fits the scenario and the numbers it names."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from support import breakdown_sum_ns

from cluster_abm import ClusterModel
from cluster_abm.policies import BOUNDS, available, create
from cluster_abm.scenario import load_scenario, scenario_names, shipped_path
from cluster_abm.study.compare import compare, with_policy
from cluster_abm.study.papers.plan import load_plan, reproduction_names
from cluster_abm.workload import are_closed
from cluster_abm.workload.jobs import jobs_per_second

JOBS = 30
TRACE = "arrival_ms,home,cpu_ms,tasks\n" + "".join(
    f"{250 * job},{job % 5},{40 + job},{1 + job % 3}\n" for job in range(30)
)
# The same as a log, which says run times and no homes.
LOG = "; MaxProcs: 3\n" + "".join(
    f"{job + 1} {job} 0 {40 + job} {1 + job % 3} {30 + job} -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n" for job in range(30)
)
# The same as bytes that are read, shuffled and written.
SWIM = "".join(f"job{job}\t{job}\t1\t{40_000_000 + job}\t{2 * job}\t{1_000_000 * job}\n" for job in range(30))


@pytest.fixture
def brief(tmp_path):
    """A shipped scenario with its nodes, rate and laws as they are, but a window of some thirty jobs only."""

    def shortened(name):
        whole = load_scenario(name)
        if whole.workload.kind == "trace":
            # In the format whose fields the scenario's keys are about.
            is_log, is_swim = whole.workload.trace.cpu_time == "run", whole.workload.trace.task_mb is not None
            path = tmp_path / "jobs"
            path.write_text(LOG if is_log else SWIM if is_swim else TRACE)
            return load_scenario(name, {"workload.trace.file": str(path)})
        if are_closed(whole):
            return load_scenario(name, {"workload.arrivals.jobs_per_user": JOBS // whole.cluster.nodes})
        given = {"workload.duration_s": JOBS / jobs_per_second(whole)}
        if whole.workload.jobs is not None:
            given["workload.jobs"] = JOBS
        return load_scenario(name, given)

    return shortened


@pytest.mark.slow
@pytest.mark.parametrize("name", scenario_names())
def test_it_runs_to_its_end_and_every_job_ends_in_one_state(name, brief):
    model = ClusterModel(brief(name))
    assert model.running
    model.run()
    assert not model.running
    counts = model.summary()["jobs"]
    assert counts["submitted"] == len(model.jobs) > 5
    assert counts["submitted"] == counts["finished"] == sum(counts.values()) - counts["submitted"]
    # A state is not only counted: each task has one record, inside the run, that adds up.
    records = model.engine.sorted_records()
    assert np.array_equal(np.sort(records["task"]), np.arange(model.jobs["tasks"].sum()))
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    assert records["finish_ns"].max() <= model.now_ns
    assert set(records["node"]) <= set(range(load_scenario(name).cluster.nodes))


@pytest.mark.slow
@pytest.mark.parametrize("name", scenario_names())
def test_it_says_what_it_is_and_its_comparison_works(name, brief):
    scenario = brief(name)
    assert scenario.name == name
    assert len(scenario.summary) > 20
    assert "\n" not in scenario.summary
    assert set(scenario.compare.policies) <= {*available(), *BOUNDS}
    # The reference and the bound stand side by side.
    assert ("pooled" in scenario.compare.policies) == ("srpt-pool" in scenario.compare.policies)
    policies = [name for name in scenario.compare.policies if name not in BOUNDS]
    assert len(set(scenario.compare.policies)) == len(scenario.compare.policies) > 1
    # The scenario's own parameters go to each policy that it compares.
    for policy in policies:
        create(with_policy(scenario, policy).policy)
    found = compare(scenario, seeds=1, workers=1, quiet=True)
    assert found.outcome.errors == []
    assert found.seeds == (scenario.run.seed,)
    assert found.runs["policy"].tolist() == policies
    # Of one seed alone: no policy is below the bound, where there is one.
    bound = (found.bound or {}).get(scenario.run.seed, math.nan)
    assert not (found.runs["mean_response_ms"] < bound * (1 - 1e-9)).any()
    # Isolated times are those at home: on a faster node than that a task may take less.
    least = 0.0 if scenario.cluster.group else 1.0
    assert (found.runs["mean_slowdown"] >= least).all()


def test_summaries_tell_scenarios_apart():
    assert len({load_scenario(name).summary for name in scenario_names()}) == len(scenario_names())


def test_there_are_the_scenarios_that_documents_name():
    assert {"quickstart", "replay", "replay-io", "iolb-table-1", "iolb-table-2"} <= set(scenario_names())
    replay = load_scenario("replay")
    assert (replay.workload.kind, replay.policy.name) == ("trace", "none")


@pytest.mark.parametrize("name", reproduction_names())
def test_a_reproduction_names_a_shipped_scenario_and_published_numbers(name):
    plan = load_plan(name)
    assert plan.name == name
    assert plan.scenario in scenario_names()
    if plan.published:
        table = pd.read_csv(shipped_path("published", plan.published))
        assert not table.empty
        for column in (series.column for series in plan.series if series.column):
            # A curve need not be published at every point.
            assert np.isfinite(table[column].dropna().to_numpy(float)).all(), column
            assert table[column].notna().any()
        assert table[plan.axis.column].notna().all()
        assert table[plan.axis.column].is_unique
    assert bool(plan.published) != bool(plan.axis.points)
    curves = [series.name for series in plan.series]
    assert len(set(curves)) == len(curves) > 0
    assert {series.policy for series in plan.series} <= set(available())
    further = {f"{curve}: {also.name}" for also in plan.also for curve in also.of or curves}
    assert {word for claim in plan.claim for word in (claim.a, claim.b) if word} <= {*curves, *further}
    assert set(plan.mape_percent) <= set(curves)


def test_every_published_table_is_reproduced():
    # Scores of machines are what a script reads, no result.
    others = {"claims.csv", "lotaru_scores.csv"}
    published = {path.name for path in shipped_path("published").glob("*.csv")} - others
    assert published == {load_plan(name).published for name in reproduction_names()} - {""}

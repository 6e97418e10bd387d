"""The scenario `textbook` against theory, in fewer and shorter runs than docs/validation/theory.md has.

With probability 99 % all intervals together hold their truth. Set CLUSTER_ABM_TEST_SEED to draw other seeds.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from queueing.points import BOUND, EXACT, LIMIT, OTHER, REFINED, few_points, idle_queues, stale
from queueing.runs import ABOVE, AGREES, measure
from replications import SEED

from cluster_abm import load_scenario

SEEDS, MISS = 14, 0.01


def runs_of(points):
    return measure(points, SEEDS, workers=1, miss=MISS, first_seed=SEED, quiet=True)


@pytest.mark.slow
def test_mean_responses_are_those_of_theory():
    points = [replace(point, jobs=point.jobs // 4) for point in few_points() if point.kind != LIMIT]
    table = runs_of(points)
    assert len(table) >= 15
    assert set(table["kind"]) == {EXACT, REFINED, BOUND}
    wrong = table[table["verdict"] != table["kind"].map({EXACT: AGREES, REFINED: AGREES, BOUND: ABOVE})]
    assert wrong.empty, wrong.to_string()
    # An interval so wide that it would hold anything proves nothing.
    width = (table["verdict_high_s"] - table["verdict_low_s"]) / 2 / table["theory_s"]
    assert width.max() < 0.1
    assert width.median() < 0.025


@pytest.mark.slow
def test_idle_queues_approach_their_limit_from_above():
    """Sixteen times as many nodes: a response that is nearer to the limit, by more than both intervals."""
    points = [replace(point, jobs=40_000) for point in idle_queues((0.7,), (8, 128)) if point.kind == LIMIT]
    few, many = runs_of(points).to_dict("records")
    assert few["verdict_low_s"] > many["verdict_high_s"]
    assert many["mean_s"] == pytest.approx(many["theory_s"], rel=0.04)


@pytest.mark.slow
def test_stale_reports_cost_two_choices_what_a_bulletin_board_does():
    """Reports every mean demand: within what 1/n, and a manager's knowledge of itself, are worth on 512 nodes."""
    point, *_ = stale(0.9, (1.0,), (512, 512))
    (row,) = runs_of([replace(point, jobs=50_000)]).to_dict("records")
    assert row["kind"] == LIMIT
    low, high = row["verdict_low_s"], row["verdict_high_s"]
    assert low <= 1.02 * row["theory_s"]
    assert high >= row["theory_s"]
    assert (high - low) / 2 < 0.03 * row["theory_s"]


def test_textbook_has_no_cost_and_no_delay():
    scenario = load_scenario("textbook")
    assert scenario.cluster.context_switch_ms == scenario.cluster.page_fault_rate_per_ms == 0.0
    assert scenario.negotiation.remote_execution_ms == scenario.interconnect.latency_ms == 0.0
    assert (scenario.policy.parameters["information"], scenario.negotiation.refusals) == ("fresh", False)
    # Every point is a cluster of this scenario, and no other way of giving news than these two.
    for point in few_points():
        assert load_scenario("textbook", {**point.keys}).policy.parameters["information"] == "fresh"
    for point in stale(0.9, (1.0,), (64, 64)):
        assert (point.kind == OTHER) == (point.policy == "jsq")

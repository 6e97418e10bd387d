"""The head of a table: by what policies decide, at how many nodes jobs are submitted, and who may refuse."""

from __future__ import annotations

import pytest

from cluster_abm.scenario import load_scenario
from cluster_abm.study.design.settings_in_words import ages_and_dispatchers, setting_lines


@pytest.mark.parametrize(
    ("overrides", "policies", "information", "dispatchers"),
    [
        ({}, ["jsq"], "load reports every 1 s", "all 32 nodes; asked nodes may refuse"),
        (
            {"negotiation.refusals": False, "workload.dispatchers": 1, "cluster.exchange_period_ms": 250.0},
            ["jsq", "power-of-d"], "load reports every 0.25 s", "1 of 32 nodes; no node refuses a task",
        ),
        (
            {}, ["none", "jsq", "power-of-d[information=fresh]", "jiq", "easy"],
            "no reports (none); load reports every 1 s (jsq); the state at the decision "
            "(power-of-d[information=fresh], easy); messages (jiq)",
            "all 32 nodes; asked nodes may refuse (jsq)",
        ),
        (
            {"negotiation.mode": "papers"}, ["jsq", "iolb", "random"],
            "the state at the decision (jsq, iolb); no reports (random)", "all 32 nodes; no node refuses a task",
        ),
        (
            {"negotiation.mode": "papers", "policy.information": "reported"}, ["jsq"],
            "load reports every 1 s", "all 32 nodes; no node refuses a task",
        ),
        ({"negotiation.mode": "head-node"}, ["jsq"], "load reports by the head node every 1 s",
         "all 32 nodes; asked nodes may refuse"),
        ({"policy.name": "power-of-d[information=fresh]"}, None, "the state at the decision",
         "all 32 nodes; no node refuses a task"),
        (
            {"policy.name": "random", "cluster.group": [{"count": 2, "policy": "jsq"}], "workload.home.kind": "weights",
             "workload.home.weights": [1.0, 0.0, 2.0]},
            None, "no reports (random); load reports every 1 s (jsq)", "2 of 32 nodes; asked nodes may refuse (jsq)",
        ),
    ],
)  # fmt: skip
def test_what_the_head_says(overrides, policies, information, dispatchers):
    lines = setting_lines([load_scenario("quickstart", overrides)], policies)
    assert lines == [f"information: {information}", f"dispatchers: {dispatchers}"]


def test_several_scenarios_have_one_head():
    scenarios = [
        load_scenario("quickstart", {"cluster.nodes": nodes, "cluster.exchange_period_ms": period})
        for nodes, period in ((4, 100.0), (8, 2000.0))
    ]
    assert setting_lines(scenarios, ["jsq"]) == [
        "information: load reports every 0.1 to 2 s", "dispatchers: all 4 to 8 nodes; asked nodes may refuse"
    ]  # fmt: skip
    fresh = load_scenario("quickstart", {"policy.information": "fresh"})
    assert setting_lines([scenarios[1], fresh], ["jsq"])[0] == (
        "information: load reports every 1 to 2 s or the state at the decision"
    )


def test_a_table_with_columns_for_the_rest_says_ages_and_dispatchers():
    scenarios = [load_scenario("quickstart", {"cluster.exchange_period_ms": period}) for period in (100.0, 2500.0)]
    assert ages_and_dispatchers(scenarios) == (
        "information: load reports every 0.1 to 2.5 s; dispatchers: all 32 nodes"
    )

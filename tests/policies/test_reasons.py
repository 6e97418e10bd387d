"""Every decision says why in words, of whatever policy."""

from types import SimpleNamespace

import pytest
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.policies import Decision, Policy, available
from cluster_abm.policy.reasons import reason_of, rules_of

NAN = float("nan")


def decided(rule, **given):
    usual = {
        "rule": rule, "reason": "", "source": 0, "target": 1, "task_load": NAN, "response_here_ms": NAN,
        "response_there_ms": NAN, "cost_ms": NAN,
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **given})


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(available()))
def test_every_rule_that_a_run_names_has_words(name):
    policy = available()[name]
    model = ClusterModel(
        scenario(**busy(cluster__nodes=5, policy__name=name, workload__utilisation=0.8, workload__duration_s=10.0)),
        compile_decisions=False,
    )
    model.run()
    described = rules_of(policy)
    for row in model.decisions_frame().drop_duplicates(["rule", "reason"]).itertuples():
        # The rule itself is what is said of one without words.
        known = row.rule in described or any("{}" in rule and row.rule.startswith(rule[:-2]) for rule in described)
        assert known, row.rule
        words, lines = reason_of(policy, row)
        assert words.strip()
        assert lines
        assert row.rule not in words or row.rule in described[row.rule].words


def test_the_words_of_iolb_are_those_of_its_figure():
    iolb = available()["iolb"]
    sent = decided("lines 4-8 (I/O)", task_load=5.0, response_here_ms=9000.0, response_there_ms=5000.0, cost_ms=800.0)
    assert reason_of(iolb, sent) == (
        "home's disk is busiest, the gap narrows and it gains 3.2 s", "IOLB Fig. 1, lines 3-8",
    )  # fmt: skip
    stays = decided("lines 4-8 (I/O)", target=0, reason="no gain in response")
    assert reason_of(iolb, stays).words == "home's disk is busiest, but no gain in response"
    # A rule of MLB's, which IOLB inherits, and one that says only that home is no case for it.
    assert reason_of(iolb, decided("lines 10-14 (memory)")).lines == "IOLB Fig. 1, lines 9-14"
    assert reason_of(iolb, decided("line 15 (CPU)", target=0, reason="home is not overloaded")) == (
        "home is not overloaded", "IOLB Fig. 1, line 15",
    )  # fmt: skip


def test_what_differs_is_filled_in():
    power = available()["power-of-d"]
    assert "of 7 nodes" in reason_of(power, decided("shortest of 7")).words
    assert reason_of(power, decided("shortest of 7")).lines == power.source


class Own(Policy):
    name = "own-words"
    source = "a test"
    summary = "with words of its own"
    rules = (("mine", "the target is mine"), ("broken",), 7)

    def place(self, task, view):
        return Decision(view.me, "mine")


def test_a_policy_of_ones_own_has_words_or_its_rule():
    assert reason_of(Own, decided("mine")) == ("the target is mine", "a test")
    assert reason_of(Own, decided("broken")).words == "broken"
    assert reason_of(Own, decided("", reason="")).words == "the policy says so"
    assert reason_of(Own, decided("recovery")).words.startswith("its node has failed")

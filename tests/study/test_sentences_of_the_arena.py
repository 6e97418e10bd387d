"""What the arena's report says, of runs made by hand: every column of its tables, and both forms of its sentences."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cluster_abm.study.arena.arena import LEFT_OUT, Arena, ArenaSize
from cluster_abm.study.arena.regimes import FACTORS, sample
from cluster_abm.study.arena.report import document, markdown
from cluster_abm.study.arena.verdicts import TRAITS, verdicts
from cluster_abm.study.runner.tasks import RunsOutcome

PLAN = ArenaSize(4, 3, 1, 1)
# Student's t of 3 degrees of freedom at 97.5 % (tables).
T3 = 3.182446
# Mean slowdowns by policy, one a regime; each seed is slower than the one before by the same share for all policies,
# so that ratios are the same from all seeds. `even` is as good as the best in all regimes but the third.
SLOWDOWNS = {
    "best": [2.0, 2.0, 2.0, 4.0], "even": [2.0, 2.0, 3.0, 4.0], "mine": [3.0, 3.2, 2.8, 5.0],
    "none": [4.0, 6.0, 4.0, 8.0], "pooled": [1.0, 1.0, 3.0, 8.0],
}  # fmt: skip
MESSAGES = {"best": [1.0, 1.0, 4.0, 9.0], "even": [0.0] * 4, "mine": [2.0, 2.5, 3.0, 900.0], "none": [0.0] * 4,
            "pooled": [0.0] * 4}  # fmt: skip
KNOWN = {"even": (False, True, False), "mine": (True, False, True)}
# The last regime's gap is nothing, and in the third the pooled reference is better than `none` by a quarter.
REGRETS = {"mine": [0.5, 0.6, 0.4, 0.25], "even": [0.0, 0.0, 0.5, 0.0], "none": [1.0, 2.0, 1.0, 1.0]}


def traits_made(*given):
    """Traits as the arena reads them: knows_sizes, sees_true_state, may_refuse."""
    return SimpleNamespace(**dict(zip(TRAITS, given, strict=True)))


def arena_of(slowdowns, messages=None, settings=None):
    count = len(slowdowns["none"])
    rows = [
        {"regime": regime, "policy": name, "seed": seed, "bounded_slowdown": values[regime] * (1 + seed / 10),
         "mean_slowdown": values[regime] * (1 + seed / 10),
         "messages_per_job": 0.0 if messages is None else messages[name][regime]}
        for regime in range(count) for name, values in slowdowns.items() for seed in (1, 2, 3)
    ]  # fmt: skip
    runs = pd.DataFrame(rows)
    regimes = pd.DataFrame(sample(count, 4), columns=[factor.name for factor in FACTORS]).rename_axis("regime")
    traits = {name: traits_made(*KNOWN.get(name, (False, False, False))) for name in slowdowns if name != "pooled"}
    found = verdicts(runs, "bounded_slowdown")
    return Arena(regimes, runs, RunsOutcome([]), found, settings or {}, traits=traits)


@pytest.fixture(scope="module")
def small():
    arena = arena_of(SLOWDOWNS, MESSAGES)
    return arena, arena.table


@pytest.fixture(scope="module")
def told(small):
    arena, _ = small
    return markdown(arena, PLAN, ["mine", "not-run"])


def test_every_column_of_the_table_of_regret(small):
    _, table = small
    assert table["policy"].tolist() == ["best", "even", "mine", "none"]
    by_name = table.set_index("policy")
    expected = {
        "worst": [0.0, 0.5, 0.6, 2.0], "worst_in": [0, 2, 1, 1], "sure_in": [4, 3, 0, 0], "best_in": [4, 0, 0, 0],
        # The median over regimes 0 to 2 of (none - own) / (none - pooled): best 2/3, 4/5, 2; mine 1/3, 2.8/5, 1.2.
        "gap_closed": [4 / 5, 4 / 5, 2.8 / 5, 0.0], "messages": [2.5, 0.0, 2.75, 0.0],
        "regret_of_mean_slowdown": by_name["regret"].tolist(),
    }  # fmt: skip
    for name, values in expected.items():
        assert by_name[name].tolist() == pytest.approx(values), name
    assert {*expected, "regret", "low", "high", *TRAITS} == set(by_name.columns)
    assert by_name.loc["mine", [*TRAITS]].tolist() == ["yes", "no", "yes"]


@pytest.mark.parametrize("policy", REGRETS)
def test_a_mean_regret_has_its_interval_over_regimes(policy, small):
    """Student's t of the logarithms: mean -+ t sd / 2, of four. No regret is below 0."""
    row = small[1].set_index("policy").loc[policy]
    logs = np.log1p(REGRETS[policy])
    arm = T3 * logs.std(ddof=1) / 2
    assert row["regret"] == pytest.approx(math.expm1(logs.mean()))
    assert row["low"] == pytest.approx(max(0.0, math.expm1(logs.mean() - arm)), rel=1e-5)
    assert row["high"] == pytest.approx(math.expm1(logs.mean() + arm), rel=1e-5)
    assert (row["low"] > 0) == (policy != "even")


def test_of_one_regime_there_is_no_interval():
    arena = arena_of({name: values[:1] for name, values in SLOWDOWNS.items()})
    table = arena.table.set_index("policy")
    assert table.loc["mine", "regret"] == pytest.approx(0.5)
    assert math.isnan(table.loc["mine", "high"])
    ranked = {row["policy"]: row for row in document(arena, PLAN, [])["ranking"]}
    assert (ranked["mine"]["high"], ranked["mine"]["worst"]) == (None, pytest.approx(0.5))
    assert isinstance(ranked["mine"]["best_in"], int)


def test_the_rows_of_the_report(told):
    rows = {line.split(" | ")[0]: line for line in told.splitlines() if line.startswith("| ")}
    # Geometric means over regimes: 1.5^(1/4); (1.5 x 1.6 x 1.4 x 1.25)^(1/4).
    assert rows["| even"].startswith("| even | 10.7% | 0.0% to ")
    assert rows["| even"].endswith(" | 50% | 3 | 0 | no | yes | no | 10.7% | 80% | 0 |")
    assert rows["| **mine**"].startswith("| **mine** | 43.2% | ")
    assert rows["| **mine**"].endswith(" | 60% | 0 | 0 | yes | no | yes | 43.2% | 56% | 2.75 |")


def test_where_there_is_no_pooled_reference_no_share_of_the_gap_is_said():
    arena = arena_of({name: values for name, values in SLOWDOWNS.items() if name != "pooled"})
    table = arena.table
    assert table["gap_closed"].isna().all()
    assert " | 60% | 0 | 0 | yes | no | yes | 43.2% |  | 0 |" in markdown(arena, PLAN, [])


def test_the_section_of_a_policy_of_ones_own(told, small):
    regimes = small[0].regimes
    assert "## mine" in told
    assert "not-run" not in told
    assert "Place 3 of 4 by mean regret (43.2%)." in told
    assert "in 0 of 4 regimes, and sends 2.75 messages per job." in told
    near, far = told.split("Where it is nearest to the best:")[1].split("Where it loses most:")
    assert [line.split(":")[0] for line in near.splitlines() if line[:1] == "*"] == ["* +25.0%", "* +40.0%", "* +50.0%"]
    assert [line.split(":")[0] for line in far.splitlines() if line[:1] == "*"] == [
        "* +60.0% to best", "* +50.0% to best", "* +40.0% to best",
    ]  # fmt: skip
    assert f"* +25.0%: load {regimes.loc[3, 'load']:g}, cv {regimes.loc[3, 'cv']:g}, " in near


def test_what_was_left_out_and_what_was_laid_over(told):
    assert "`no-ls` (none, with another name)" in told
    assert all(f"`{name}` (" in told for name in LEFT_OUT)
    assert "In all regimes:" not in told
    laid = arena_of(SLOWDOWNS | {"no-ls": SLOWDOWNS["even"]}, settings={"cluster.swap_mb": 3.0})
    told = markdown(laid, PLAN, [])
    assert "In all regimes: `cluster.swap_mb = 3.0`." in told
    assert "`no-ls` (" not in told


def test_verdicts_in_the_document(small):
    found = document(small[0], PLAN, ["mine"])
    assert [(one["best"], one["sure"]) for one in found["verdicts"]] == [
        ("best", ["best", "even"]), ("best", ["best", "even"]), ("best", ["best"]), ("best", ["best", "even"]),
    ]  # fmt: skip
    assert found["verdicts"][1]["regime"] == {
        name: ["job", "each"][int(value)] if name == "task_cpu" else float(value)
        for name, value in small[0].regimes.loc[1].items()
    }
    assert (found["regimes"], found["seeds"], found["own"]) == (4, 3, ["mine"])


@pytest.fixture(scope="module")
def planted():
    """36 regimes: where reports are older than three demands, `jsq` is worse than `random` by a half, else better by a
    quarter. Noise of a thousandth, or t tests would be of constants."""
    regimes = pd.DataFrame(sample(36, 4))
    noise = np.random.default_rng(1).normal(0.0, 0.001, 36)
    jsq = np.where(regimes["age"] > 3.0, 3.0, 1.6) * np.exp(noise)
    return arena_of({"jsq": jsq, "random": np.full(36, 2.0), "none": np.full(36, 50.0)})


def test_rules_are_listed(planted):
    told = markdown(planted, PLAN, [])
    (line,) = [line for line in told.split("## Rules")[1].splitlines() if line.startswith("* ")]
    assert line.startswith("* reports that are up to ")
    assert "random rather than jsq (+" in line
    assert "measured on the other half: 1 found, 1 held." in told
    assert "No rule holds" not in told
    (rule,) = document(planted, PLAN, [])["rules"]
    assert (rule["factor"], rule["below"], rule["above"]) == ("age", "jsq", "random")
    # Over the regimes of odd number below the value and above it: t sd / sqrt(n) about the mean of the logarithms.
    logs = np.log(planted.runs[planted.runs["seed"] == 1].pivot_table(
        index="regime", columns="policy", values="mean_slowdown"))  # fmt: skip
    gap, ages = (logs["jsq"] - logs["random"])[1::2], planted.regimes["age"][1::2]
    for side, sign, name in ((gap[ages <= rule["value"]], -1, "below"), (gap[ages > rule["value"]], 1, "above")):
        arm = stats.t.ppf(0.975, len(side) - 1) * side.std() / math.sqrt(len(side))
        assert rule[f"gain_{name}"] == pytest.approx(math.expm1(sign * side.mean()))
        assert rule[f"ci_{name}"] == pytest.approx(
            (math.expm1(sign * side.mean() - arm), math.expm1(sign * side.mean() + arm)), rel=1e-5
        )


def test_that_no_rule_holds_is_said(told, small):
    assert "No rule holds on the other half of these regimes." in told
    assert document(small[0], PLAN, [])["rules"] == []

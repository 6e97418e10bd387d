"""The arena: regimes are what they say, verdicts those of the numbers, rules those that were planted."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from cluster_abm.cli import main
from cluster_abm.study.arena import arena
from cluster_abm.study.arena.arena import FOUND, FRESH, ArenaSize, contestants, hold
from cluster_abm.study.arena.regimes import FACTORS, sample, scenario_of, settings_of
from cluster_abm.study.arena.rules import chance_of, rules
from cluster_abm.study.arena.verdicts import gap_closed, regrets_by_third, table_of_regret, verdict, verdicts
from cluster_abm.workload import offered_load, work_of

TINY = ArenaSize(6, 2, 4, 60)


def test_its_runs_are_counted_before_the_first_one(monkeypatch):
    """Six regimes, four seeds, and three policies: the two that it adds run beside the one that is given."""

    def refused(what, runs):
        raise ZeroDivisionError(f"{what}: {runs}")

    monkeypatch.setattr(arena, "check_runs", refused)
    with pytest.raises(ZeroDivisionError, match=r"^6 regimes, 4 seeds, 3 policies: 72$"):
        hold(["jsq"], ArenaSize(6, 4, 4, 60), workers=1, quiet=True)


def test_a_latin_hypercube_has_a_point_in_every_stratum_of_every_factor():
    points = pd.DataFrame(sample(20, 1))
    for factor in FACTORS:
        values = points[factor.name]
        assert values.between(factor.low, factor.high).all()
        if not factor.is_whole:
            share = (np.log(values / factor.low) / np.log(factor.high / factor.low)) if factor.is_log else (
                (values - factor.low) / (factor.high - factor.low)
            )  # fmt: skip
            # Rounding to three digits moves a value over a border at most now and then.
            assert len(set((share * 20).clip(0, 19.999).astype(int))) >= 18


@pytest.mark.parametrize("number", range(6))
def test_the_busier_resource_is_offered_the_load_of_the_regime(number):
    """By the jobs themselves, many of them; demands of a coefficient of variation of 1."""
    regime = sample(24, 5)[number] | {"cv": 1.0, "parallel": 0.0}
    scenario = scenario_of(regime, 0, 20_000)
    load = offered_load(scenario, work_of(scenario, 1))
    assert max(load.cpu, load.disk) == pytest.approx(regime["load"], rel=0.05)
    # As the regime's memory, by Little's law with times alone, whatever nodes are unlike.
    if regime["unlike"] < 1.2:
        assert load.memory == pytest.approx(regime["memory"], rel=0.1)


def test_unlike_nodes_are_together_as_fast_as_alike_ones():
    keys = settings_of(sample(1, 1)[0] | {"nodes": 9.0, "unlike": 3.0}, 10, 100)
    (group,) = keys["cluster.group"]
    assert group["cpu_speed"] / keys["cluster.cpu_speed"] == pytest.approx(3.0)
    assert group["count"] * group["cpu_speed"] + 5 * keys["cluster.cpu_speed"] == pytest.approx(9.0)


def logs(**slowdowns: list[float]) -> pd.DataFrame:
    return pd.DataFrame({name: np.log(values) for name, values in slowdowns.items()})


# Student's t of 3 degrees of freedom at 95 % (tables): the one-sided interval of four seeds.
T3 = 2.353363


def test_a_verdict_by_hand():
    """b is about 5 % worse than a: the mean log ratio is 0.05, and 0.05 + t s / 2 = 0.0804 is below log 1.1 = 0.0953.
    c is 9.4 % worse, and its interval ends beyond. d swings about e: nothing is sure of the two but that they are last.
    """
    a = np.log([2.0, 3.0, 5.0, 4.0])
    steps = np.array([0.02, 0.04, 0.06, 0.08])
    assert 0.05 + T3 * steps.std(ddof=1) / 2 < np.log(1.1) < 0.09 + T3 * steps.std(ddof=1) / 2
    found = verdict(pd.DataFrame({"a": a, "b": a + steps, "c": a + steps + 0.04}))
    assert (found.best, found.sure) == ("a", ("a", "b"))
    assert found.regret == pytest.approx({"a": 0.0, "b": np.expm1(0.05), "c": np.expm1(0.09)})


def test_the_observed_best_has_to_be_sure_too():
    """The mean of x is the least, and its gap to y goes from -0.5 to 0.5: neither is surely near the other."""
    swings = np.array([-0.5, 0.5, -0.3, 0.2])
    found = verdict(pd.DataFrame({"x": swings, "y": np.zeros(4), "far": np.full(4, 3.0)}))
    assert (found.best, found.sure) == ("x", ())
    # With one policy alone there is nothing to be near to; with one seed nothing is sure.
    assert verdict(pd.DataFrame({"x": swings})).sure == ("x",)
    assert verdict(pd.DataFrame({"x": [1.0], "y": [2.0]})).sure == ()


@pytest.mark.parametrize(("ratio", "is_sure"), [(1.1, True), (1.1001, False)])
def test_ten_percent_from_all_seeds_is_near_and_more_is_not(ratio, is_sure):
    found = verdict(logs(a=[2.0, 3.0, 5.0], b=[ratio * value for value in (2.0, 3.0, 5.0)]))
    assert ("b" in found.sure) is is_sure


@pytest.mark.slow
def test_a_policy_beyond_ten_percent_is_rarely_called_near():
    """Of a policy that is 10 % worse in truth the word is false: in 5 % of draws; of three such ones in no more."""
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(2000):
        draw = rng.normal(0.0, 0.1, (5, 4)) + np.array([0.0, np.log(1.1), np.log(1.1), np.log(1.1)])
        called += "b" in verdict(pd.DataFrame(draw, columns=list("abcd"))).sure
    assert called / 2000 < 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5


def runs_of(slowdowns: dict[int, dict[str, float]]) -> pd.DataFrame:
    """Runs in which each seed is a little slower than the one before, for all policies alike."""
    return pd.DataFrame(
        {"regime": regime, "policy": policy, "seed": seed, "bounded_slowdown": value * (1.0 + 0.1 * seed),
         "mean_slowdown": value * (1.0 + 0.1 * seed), "messages_per_job": 2.0}
        for regime, own in slowdowns.items() for policy, value in own.items() for seed in (1, 2, 3)
    )  # fmt: skip


def test_the_table_of_regret_by_hand():
    runs = runs_of(
        {0: {"none": 4.0, "x": 2.0, "y": 3.0, "pooled": 1.0}, 1: {"none": 4.0, "x": 2.2, "y": 2.0, "pooled": 1.5}}
    )
    found = verdicts(runs, "bounded_slowdown")
    table = table_of_regret(runs, found).set_index("policy")
    assert "pooled" not in table.index
    assert table.loc["x", "regret"] == pytest.approx(1.1**0.5 - 1.0)
    assert table.loc["y", "regret"] == pytest.approx(1.5**0.5 - 1.0)
    assert table.loc["y", "worst"] == pytest.approx(0.5)
    assert table.loc["y", "worst_in"] == 0
    # Ratios are the same from all seeds: x is 10 % from the best in one regime, and y 50 % in the other one.
    assert table["sure_in"].to_dict() == {"x": 2, "y": 1, "none": 0}
    assert table["best_in"].to_dict() == {"x": 1, "y": 1, "none": 0}
    # (4 - 2)/(4 - 1) and (4 - 2.2)/(4 - 1.5), their median.
    assert gap_closed(runs)["x"] == pytest.approx((2 / 3 + 1.8 / 2.5) / 2)
    assert table.index[0] == "x"


def logs_of_pair(differences) -> pd.DataFrame:
    index = pd.MultiIndex.from_product([range(len(differences)), [1]], names=["regime", "seed"])
    return pd.DataFrame({"jsq": differences, "power-of-d": np.zeros(len(differences))}, index=index)


@pytest.mark.slow
def test_a_planted_rule_is_found_and_noise_gives_none():
    rng = np.random.default_rng(3)
    regimes = pd.DataFrame(sample(60, 4)).rename_axis("regime")
    means = np.where(regimes["age"] > 3.0, 0.3, -0.2) + rng.normal(0.0, 0.05, 60)
    (rule,) = rules(regimes, logs_of_pair(means), ["jsq", "power-of-d"])
    assert (rule.factor, rule.below, rule.above) == ("age", "jsq", "power-of-d")
    # A line through a step crosses 0 near it.
    assert 1.0 < rule.value < 4.0
    assert rule.gain_above == pytest.approx(np.expm1(0.3), abs=0.03)
    assert rule.gain_below == pytest.approx(np.expm1(0.2), abs=0.03)
    assert "mean demands old, or older: power-of-d rather than jsq (+3" in rule.in_words
    found = [rules(regimes, logs_of_pair(rng.normal(0.0, 0.3, 60)), ["jsq", "power-of-d"]) for _ in range(100)]
    assert sum(map(bool, found)) <= 5


def test_a_factor_that_decides_nothing_or_only_by_how_much_gives_no_rule():
    regimes = pd.DataFrame(sample(60, 4)).rename_axis("regime")
    noise = np.random.default_rng(3).normal(0.0, 0.02, 60)
    # Better everywhere, and the more so the older the news.
    grows = -0.1 - 0.1 * np.log(regimes["age"] / 0.1).to_numpy() + noise
    assert rules(regimes, logs_of_pair(grows), ["jsq", "power-of-d"]) == []
    assert chance_of(regimes["age"], pd.Series(np.zeros(60))) == 1.0


def test_rules_are_listed_by_what_it_costs_to_get_them_wrong():
    regimes = pd.DataFrame(sample(40, 4)).rename_axis("regime")
    old = (regimes["age"] > 3.0).to_numpy()
    columns = {"a": np.zeros(40), "b": np.where(old, -0.1, 0.1), "c": np.where(old, -0.5, 0.5)}
    index = pd.MultiIndex.from_product([range(40), [1]], names=["regime", "seed"])
    noise = np.random.default_rng(1).normal(0.0, 0.01, (40, 3))
    found = rules(regimes, pd.DataFrame(columns, index=index) + noise, ["a", "b", "c"])
    assert {found[0].below, found[0].above} == {"a", "c"}


def test_regret_by_thirds():
    runs = runs_of({number: {"x": 2.0 + (number >= 4), "y": 2.0} for number in range(6)})
    regimes = pd.DataFrame({"load": np.arange(6) / 10.0}).rename_axis("regime")
    thirds = regrets_by_third(regimes, verdicts(runs, "bounded_slowdown"), "x", ["load"])
    assert thirds.loc["load"].tolist() == pytest.approx([0.0, 0.0, 0.5])


def test_all_policies_of_the_package_compete_or_it_is_said_why_not():
    from cluster_abm.policies import available
    from cluster_abm.study.arena.arena import LEFT_OUT

    assert set(contestants()) | set(LEFT_OUT) >= set(available())
    assert not set(contestants()) & set(LEFT_OUT)


@pytest.mark.slow
def test_the_runs_are_the_same_from_a_folder_and_are_not_made_twice(tmp_path):
    from cluster_abm.study.runner.tasks import Where

    where = Where("inline", folder=tmp_path / "store")
    first = hold(["random", "jiq"], TINY, quiet=True, where=where)
    again = hold(["random", "jiq"], TINY, quiet=True, where=where)
    assert first.outcome.made == len(first.runs) == 6 * 2 * 4
    assert again.outcome.made == 0
    pd.testing.assert_frame_equal(first.runs, again.runs)
    assert set(first.found) == set(range(6))


@pytest.mark.slow
def test_the_command_ranks_a_policy_of_ones_own(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cluster_abm.study.arena.arena.QUICK", TINY)
    (tmp_path / "mine.py").write_text(
        '"""Mine."""\nfrom cluster_abm.policies import Decision, Policy\n\n\nclass Mine(Policy):\n    """Mine."""\n\n'
        '    name = "mine"\n    source = summary = "mine"\n\n    def place(self, task, view):\n'
        '        return Decision(view.next_node, "next")\n'
    )
    words = [
        "arena",
        "--quick",
        "--policies",
        "random",
        "--policy",
        "mine.py:Mine",
        "--executor",
        "inline",
        "--out",
        "o",
        "--set",
        "negotiation.refusals=false",
    ]
    with pytest.raises(SystemExit) as left:
        main([*words, "--json"])
    assert left.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["policy"] for row in told["ranking"]} == {"mine", "random", "none"}
    assert told["own"] == ["mine"]
    assert told["settings"] == {"negotiation.refusals": False}
    report = (tmp_path / "o" / "arena.md").read_text()
    assert "## mine" in report
    assert "In all regimes: `negotiation.refusals = False`." in report
    assert "Where it loses most:" in report
    assert {path.name for path in (tmp_path / "o").glob("*.png")} == {"map.png", "regret.png"}


def test_bad_input_is_named(tmp_path, capsys):
    for words, said in (
        (["--policies", "jqs"], "jqs"),
        (["--policy", str(tmp_path / "no.py:X")], "no.py"),
        (["--set", "cluster.cores=3"], "--set cluster.cores: the arena's regimes set this key themselves"),
        (["--set", "negotiation.refusal=false"], "unknown key 'negotiation.refusal'"),
    ):
        with pytest.raises(SystemExit) as left:
            main(["arena", "--quick", *words, "--out", str(tmp_path / "o")])
        assert left.value.code == 2
        assert said in capsys.readouterr().err


def test_fresh_regimes_are_others():
    found, fresh = (sample(20, draw.sample) for draw in (FOUND, FRESH))
    assert not {point["load"] for point in found} & {point["load"] for point in fresh}
    assert FRESH.first_seed > FOUND.first_seed + 100

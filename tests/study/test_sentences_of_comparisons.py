"""What a comparison says, of runs made by hand: every column of its tables, and both forms of its sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import pandas as pd
import pytest
from support import scenario

from cluster_abm.cli.compare import _print_comparison
from cluster_abm.policy.bounds import SRPT_POOL
from cluster_abm.study.comparison import Comparison
from cluster_abm.study.comparison_words import conclusion_of, one_sample_words, ratio_text, text_of
from cluster_abm.study.runner.tasks import RunsOutcome
from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.paired import Contrast, PairedDifference

NAN, INF = math.nan, math.inf
# Student's t of 1 and of 3 degrees of freedom at 97.5 % (tables).
T1, T3 = 12.7062, 3.182446


def pair(significant, ratio=1.5, **more):
    tested = Contrast(math.log(ratio) if ratio > 0 else NAN, 0.1, 8, True)
    mean = math.copysign(1.0, tested.mean)
    return PairedDifference(ratio, Estimate(mean, None), 0.01, significant, tested=tested, **more)


# ---- words alone ----

CONCLUSIONS = [
    ("all are worse", {"b": pair(True), "c": pair(True)}, "", "b, c worse (t tests of ratios, Holm, 5 %)"),
    ("one is like it", {"b": pair(False), "c": pair(True)}, "",
     "c worse; b not significant (t tests of ratios, Holm, 5 %)"),
    ("better comes first", {"b": pair(True), "c": pair(True, 0.5)}, "",
     "c better; b worse (t tests of ratios, Holm, 5 %)"),
    ("tails are unlike", {"b": pair(True, tails_unlike=True), "c": pair(True, 0.5, tails_unlike=True)}, "",
     "c typically better; b typically worse (t tests of ratios, Holm, 5 %)"),
    ("one cannot be tested", {"b": pair(None), "c": pair(False)}, "",
     "c not significant; b not tested (t tests of ratios, Holm, 5 %)"),
    ("one seed", {"b": pair(False)}, "one seed", "one seed does not show whether a difference is more than noise"),
    ("one sample", {"b": pair(None)}, "one sample", "one sample: no difference is tested"),
]  # fmt: skip


@pytest.mark.parametrize(("against", "single", "words"), [case[1:] for case in CONCLUSIONS],
                         ids=[case[0] for case in CONCLUSIONS])  # fmt: skip
def test_a_conclusion(against, single, words):
    assert conclusion_of("a", "mean wait", against, False, single) == f"mean wait, against a: {words}"


def test_where_more_is_better_a_ratio_above_1_is_better():
    assert "b better" in conclusion_of("a", "share", {"b": pair(True)}, True, "")


@pytest.mark.parametrize(("found", "text"), [
    (None, ""), (pair(True, NAN), ""), (pair(True), "1.5"), (pair(False), "1.5 (n.s.)"), (pair(None), "1.5"),
    (pair(True, ratio_ci95=(1.23456, 2.0)), "1.5 [1.23, 2]"),
])  # fmt: skip
def test_a_ratio(found, text):
    assert ratio_text(found) == text


@pytest.mark.parametrize(("found", "text"), [
    (Estimate(NAN, None), "no job finished"), (Estimate(2.34567, None), "2.346"),
    (Estimate(2.34567, (1.00004, 3.5)), "2.346 [1, 3.5]"),
])  # fmt: skip
def test_a_mean(found, text):
    assert text_of(found) == text


@pytest.mark.parametrize(("is_log", "of"), [(True, "this log"), (False, "these jobs")])
def test_one_sample_is_of_a_log_or_of_jobs(is_log, of):
    words = "all 5 seeds give the same runs: no intervals, and no tests"
    assert one_sample_words(5, is_log) == f"one sample: {of}; {words}"


# ---- comparisons ----


def comparison(slowdowns, bound=None, outcome=None, **columns):
    """Runs of these slowdowns, by policy; their responses are so many seconds. `columns`: values by policy."""
    names, seeds = tuple(slowdowns), range(1, 1 + len(next(iter(slowdowns.values()))))
    usual = {"p95_slowdown": 9.0, "remote_executions": 1234.0, "cpu_utilisation": 0.5, "disk_utilisation": 0.25,
             "jobs.killed": 0.0, "jobs.lost": 0.0}  # fmt: skip
    runs = pd.DataFrame(
        {"policy": name, "seed": seed, "bounded_slowdown": value, "mean_slowdown": value,
         "mean_response_ms": 1000.0 * value,
         **usual, **{metric: values[name] for metric, values in columns.items()}}
        for name, values in slowdowns.items() for seed, value in zip(seeds, values, strict=True)
    )  # fmt: skip
    bounds = None if bound is None else MappingProxyType(dict(zip(seeds, bound, strict=True)))
    return Comparison(scenario(), names, tuple(seeds), runs, outcome or RunsOutcome([]), bounds)


# b is 1 below a but for a little, and c is like b.
THREE = {"a": [3.0, 4.0, 5.0, 6.0], "b": [2.1, 2.9, 4.0, 5.0], "c": [2.0, 3.0, 4.1, 4.9]}
SAME = {"a": [4.0] * 4, "b": [2.0] * 4}


@pytest.mark.slow
def test_every_column_of_estimates_and_differences():
    found = comparison(THREE, bound=[1000.0, 2000.0, 2000.0, 3000.0])
    table = found.estimates()
    assert table["mean"].to_dict() == pytest.approx({"a": 4.5, "b": 3.5, "c": 3.5})
    # Geometric means over the seeds of b / a and c / a.
    ratios = {"b": (0.7 * 0.725 * 0.8 * 5 / 6) ** 0.25, "c": (2 / 3 * 0.75 * 0.82 * 4.9 / 6) ** 0.25}
    assert table["ratio"].to_dict() == pytest.approx({"a": 1.0} | ratios)
    # Of a: on the scale of log(mean - 1) t's arm of 3.182446 x 1.290994/2 becomes a factor of exp(-+ arm/3.5).
    arm = T3 * math.sqrt(5 / 3) / 2
    assert table.loc["a", ["low", "high"]].tolist() == pytest.approx(
        [1 + 3.5 * math.exp(-arm / 3.5), 1 + 3.5 * math.exp(arm / 3.5)], rel=1e-5
    )
    responses = found.estimates("mean_response_ms")
    assert responses.index.tolist() == ["a", "b", "c", SRPT_POOL]
    assert responses.loc[SRPT_POOL, ["mean", "ratio"]].tolist() == pytest.approx([2000.0, 2000 / 4500])
    differences = found.differences()
    assert list(differences.index) == [("b", "a"), ("c", "a")]
    assert differences["difference"].tolist() == pytest.approx([-1.0, -1.0])
    assert differences["ratio"].tolist() == pytest.approx([*ratios.values()])
    assert differences["significant"].tolist() == [True, True]
    assert differences["verdict"].tolist() == ["better", "better"]
    assert (differences["ratio_high"] < 1.0).all()
    assert (differences["ratio_low"] < differences["ratio"]).all()
    assert (differences["low"] < -1.0).all()
    every = replace(found, are_all_paired=True).differences()
    assert list(every.index) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert every["significant"].tolist() == [True, True, False]
    assert every["ratio"].tolist() == pytest.approx([1 / ratios["b"], 1 / ratios["c"], ratios["b"] / ratios["c"]])
    named = replace(found, named_baseline="c").differences()
    assert list(named.index) == [("a", "c"), ("b", "c")]
    one = comparison(SAME).differences().iloc[0]
    assert (one["difference"], one["ratio"], one["significant"], one["verdict"]) == (-2.0, 0.5, None, "not tested")
    assert math.isnan(one["low"])
    assert math.isnan(one["high"])


def test_an_interval_of_which_one_end_is_infinite_is_none_in_json():
    """1e307 and 3e307: up from 2e307 by a factor of exp(t 1e307/2e307) = 574, more than a float holds."""
    found = comparison({"a": [1e307, 3e307], "b": [2.0, 4.0]}, mean_response_ms={"a": 1.0, "b": 1.0})
    low, high = found.estimate("a", "mean_slowdown").ci95
    assert math.isfinite(low)
    assert high == INF
    document = found.as_json()
    assert document["policies"]["a"]["ci95"] is None
    # 1 + 2 exp(-+ t x 1/2) of b.
    assert document["policies"]["b"]["ci95"] == pytest.approx(
        [1 + 2 * math.exp(-T1 / 2), 1 + 2 * math.exp(T1 / 2)], rel=1e-5
    )
    # -2e307 -+ t x 1e307 still has room.
    assert document["pairs"][0]["ci95"] == pytest.approx([-(2 + T1) * 1e307, (T1 - 2) * 1e307], rel=1e-5)


def test_the_document():
    found = comparison(THREE).as_json()
    assert (found["scenario"], found["seeds"], found["replications"]) == ("test", [1, 2, 3, 4], 4)
    assert found["policies"]["a"]["jobs"] == {"killed": 0.0, "lost": 0.0}
    assert (found["policies"]["a"]["mean_slowdown"], found["policies"]["a"]["gap_closed"]) == (4.5, None)
    assert (found["headline"], found["baseline"], len(found["pairs"])) == ("bounded_slowdown", "a", 2)
    first = found["pairs"][0]
    assert (first["a"], first["b"], first["significant"], first["verdict"]) == ("b", "a", True, "better")
    assert first["ratio"] == pytest.approx((0.7 * 0.725 * 0.8 * 5 / 6) ** 0.25)
    assert first["ratio_ci95"][0] < first["ratio"] < first["ratio_ci95"][1] < 1.0
    # Of four seeds no word about means.
    assert (first["difference"], first["tails_unlike"], first["means_differ"]) == (pytest.approx(-1.0), False, None)
    bounded = comparison(THREE, bound=[1000.0] * 4).as_json()["policies"][SRPT_POOL]
    assert (bounded["mean_response_ms"], bounded["mean_slowdown"]) == (1000.0, None)


@pytest.mark.parametrize(("slowdowns", "best", "word"), [
    (THREE, ("b", "c"), "significant"), (SAME, ("b", "a"), "one sample"),
    ({"a": [4.0], "b": [2.0]}, ("b", "a"), "not known"),
    ({"a": [2.0, 3.0, 4.0], "b": [2.1, 2.9, 4.1]}, ("a", "b"), "not significant"),
    # The pooled reference leads where it is alone; what has no value comes last.
    ({"pooled": [1.0, 2.0], "b": [2.0, 4.0]}, ("b",), None), ({"a": [NAN, NAN], "b": [2.0, 4.0]}, ("b", "a"), None),
])  # fmt: skip
def test_who_is_best_and_whether_a_difference_is_significant(slowdowns, best, word):
    found = comparison(slowdowns)
    assert found.best() == best
    if word is not None:
        assert found.word_of(found.pairs()["a", "b"]) == word
    assert comparison({"pooled": [1.0, 2.0]}).best() == ("pooled",)


def test_conclusions_of_comparisons():
    against = "bounded slowdown, against a: "
    assert comparison(THREE).conclusion == f"{against}b, c better (t tests of ratios, Holm, 5 %)"
    assert comparison(SAME).conclusion == f"{against}one sample: no difference is tested"
    assert comparison({"a": [4.0], "b": [2.0]}).conclusion.startswith(f"{against}one seed does not show")
    reference = "bounded slowdown, against pooled (a reference, no policy): b worse"
    assert comparison({"pooled": [1.0, 2.0], "b": [2.0, 4.1]}).conclusion.startswith(reference)
    assert comparison({"pooled": [1.0, 2.0], "a": [3.0, 4.0]}).title == "test: 2 policies on the same jobs, 4 nodes"
    alone = comparison({"a": [3.0, 4.0]})
    assert (alone.conclusion, alone.title) == ("", "test: 1 policy, 4 nodes")


def test_what_the_seeds_are():
    several = "4 seeds, the same jobs for every policy; intervals at 95 % over seeds"
    assert comparison(THREE).seeds_words == several
    some = comparison(THREE | {"d": [4.0] * 4}).seeds_words
    assert some == f"{several}; d: one sample, the same run from every seed: no interval"
    assert comparison(SAME).seeds_words.startswith("one sample: these jobs; all 4 seeds")
    assert comparison({"a": [4.0], "b": [2.0]}).seeds_words.startswith("1 seed, ")


def test_what_a_prompt_shows():
    assert repr(comparison({"a": [4.0]})) == "<Comparison of a on 'test', 1 seed>"
    assert repr(comparison(THREE)).startswith(
        "<Comparison of a, b, c on 'test', 4 seeds: bounded slowdown, against a: b, c"
    )
    failed = RunsOutcome([], policy_faults={"a: no such node": 2})
    assert "no such node" in repr(comparison({"a": [4.0]}, outcome=failed))


# ---- what is printed ----


def printed(capsys, found):
    _print_comparison(found, (), None)
    return capsys.readouterr().out


def row_of(text, policy):
    return next(" ".join(line.split()) for line in text.splitlines() if line.split()[:1] == [policy])


@pytest.mark.slow
def test_a_printed_row_and_what_doubt_there_is(capsys):
    text = printed(capsys, comparison(THREE))
    assert row_of(text, "b").startswith("b 3.5 [")
    assert row_of(text, "b").endswith("] 0.763 [0.643, 0.905] 3.5 9 3.5 1,234 50% 25%")
    assert "(n.s.)" not in text
    assert "killed or lost" not in " ".join(text.split())
    assert "the intervals hold at 95 % over all pairs together (Holm)" in text
    assert row_of(text, "a").endswith("1,234 50% 25%")
    doubtful = printed(capsys, comparison({"b": THREE["b"], "c": THREE["c"]}))
    assert "] (n.s.) 3.5 9" in row_of(doubtful, "c")
    assert "(n.s.): the ratio to b is not significant (t tests of ratios, Holm, 5 %)" in doubtful
    assert "rare bad seeds" not in text + doubtful
    # Of c / b, in logarithms: mean -.0026 of four, standard error .017.
    assert "seeds that show such a ratio with a chance of 80 %: c/b " in doubtful
    assert "seeds that show" not in text


@pytest.mark.parametrize(("columns", "row"), [
    ({"jobs.killed": {"a": 0.0, "b": 1.5}}, "1.5"), ({"jobs.lost": {"a": 0.0, "b": 2.0}}, "2"),
])  # fmt: skip
def test_jobs_that_were_killed_or_lost_are_shown_where_there_are_any(columns, row, capsys):
    text = printed(capsys, comparison(SAME, **columns))
    assert row_of(text, "b").endswith(f"50% 25% {row}")
    # One sample: no interval, in no head.
    assert "[95 %]" not in text
    assert row_of(text, "b").startswith("b 2 0.5 2 9 ")


def test_one_seed_has_no_doubt_to_tell(capsys):
    text = printed(capsys, comparison({"a": [4.0], "b": [2.0]}))
    assert "(n.s.)" not in text
    assert row_of(text, "b").startswith("b 2 0.5 2 9 ")


@pytest.mark.slow
def test_of_rare_bad_seeds_it_is_said_that_they_may_decide_about_means(capsys):
    """b is half of a, but for one seed of sixteen, on which it is ten times as much."""
    a = [4.0 + 0.1 * seed for seed in range(16)]
    text = printed(capsys, comparison({"a": a, "b": [0.5 * value for value in a[:15]] + [10 * a[15]]}))
    assert "b typically better" in text
    assert "typically: the usual seed is, and rare bad seeds may decide about the mean" in text
    assert "from 16 seeds on" not in text
    assert "from 16 seeds on the table says whether means differ" in printed(capsys, comparison(THREE))


@pytest.mark.slow
def test_what_is_said_of_the_gap(capsys):
    slowdowns = {"none": [4.0, 5.0, 6.0, 7.0], "b": [3.0, 3.6, 4.4, 5.0]}
    some = printed(capsys, comparison(slowdowns, bound=[1000.0, 1200.0, 1400.0, 1500.0]))
    # (5.5 - 4) / (5.5 - 1.275).
    assert "36 % [" in row_of(some, "b")
    assert row_of(some, "none").endswith(" 0 %")
    assert row_of(some, SRPT_POOL) == f"{SRPT_POOL} 1.275"
    assert "of the gap closed: of mean response: 0 % as none, 100 % as srpt-pool; each interval alone" in some
    assert "no gap to close" not in some
    assert "no interval:" not in some
    none = printed(capsys, comparison(slowdowns, bound=[4000.0, 5000.0, 6000.0, 7000.0]))
    assert "no gap to close in mean response: that of none is the lower bound" in none
    unknown = printed(capsys, comparison(slowdowns, bound=[NAN] * 4))
    assert "no lower bound (srpt-pool), and no gap to close" in unknown
    assert row_of(unknown, SRPT_POOL) == SRPT_POOL
    # From these seeds the gap itself could be 0.
    wide = printed(capsys, comparison(slowdowns, bound=[0.0, 6000.0, 500.0, 8000.0]))
    assert "no interval: one sample, or the gap itself could be 0 from these seeds alone" in wide
    # That of `none` alone is of one sample.
    constant = {"none": [4.0] * 4, "b": slowdowns["b"]}
    assert "no interval: one sample" in printed(capsys, comparison(constant, bound=[1000.0] * 4))

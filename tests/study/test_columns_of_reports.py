"""Tables and sentences of a study's report, of results made by hand: each column, and both forms of each sentence."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cluster_abm.cli.batch import _lines_of_problems, _print_status
from cluster_abm.study.report.findings import find
from cluster_abm.study.report.markdown import MOST_LINES, table_lines, with_interval
from cluster_abm.study.report.report import _markdown, against_reference
from cluster_abm.study.report.report_tables import comparison_table, difference_table, left_out_lines
from cluster_abm.study.statistics.skewed import hall_interval
from cluster_abm.study.status import Status

NAN = math.nan
KEY = "workload.utilisation"
# Eight seeds; `jsq` is better by 1 on average, `clb` is like it.
WIGGLE = np.array([0.1, -0.1] * 4)
SLOWDOWNS = {"none": np.arange(3.0, 11.0), "jsq": np.arange(2.0, 10.0) + WIGGLE, "clb": np.arange(2.0, 10.0) - WIGGLE}
# Student's t of 7 degrees of freedom at 97.5 % (tables).
T7 = 2.364624
STUDY = SimpleNamespace(name="small", title="", policies=tuple(SLOWDOWNS), seeds=range(8))


def results(slowdowns=SLOWDOWNS, points=(0.3,)):
    return pd.DataFrame(
        {"point": number, KEY: load, "policy": name, "seed": seed, "status": "finished", "error": None,
         "mean_slowdown": value, "slowdown_quantiles": (np.linspace(1.0, 9.0, 101) + seed).tolist()}
        for number, load in enumerate(points) for name, values in slowdowns.items() for seed, value in enumerate(values)
    )  # fmt: skip


def found_of(table, metrics=("mean_slowdown",), policies=tuple(SLOWDOWNS)):
    return find(table, [KEY], policies, metrics)


def spoilt(table, policy, seeds, **values):
    own = (table["policy"] == policy) & table["seed"].isin(seeds)
    return table.assign(**{name: table[name].where(~own, value) for name, value in values.items()})


def beyond_one(mean, sd):
    """t's interval on the scale of log(mean - 1), which no slowdown leaves."""
    arm = T7 * sd / math.sqrt(8)
    return 1 + (mean - 1) * math.exp(-arm / (mean - 1)), 1 + (mean - 1) * math.exp(arm / (mean - 1))


def near(values):
    return {name: pytest.approx(value) for name, value in values.items()}


# ---- tables ----


def test_every_column_of_estimates():
    """Of 3 to 10: mean and median 6.5, variance 6. Of eight values the median is between the least and the largest
    with 1 - 2/256, and between the second and the seventh with 93 % only."""
    table = pd.concat([results(), results().iloc[[0]].assign(seed=9, status="failed")], ignore_index=True)
    found = found_of(table)
    low, high = beyond_one(6.5, math.sqrt(6))
    expected = {
        "seeds": 8, "mean": 6.5, "low": low, "high": high, "half_width_percent": 100 * (high - low) / 2 / 6.5,
        "median": 6.5, "median_low": 3.0, "median_high": 10.0, "least": 3.0, "most": 10.0,
    }  # fmt: skip
    same = {"point": 0, KEY: 0.3, "metric": "mean_slowdown", "policy": "none"}
    assert found.estimates.iloc[0].to_dict() == same | near(expected) | {"failed": 1}
    assert found.compared.iloc[0].to_dict() == same | near(expected)
    assert found.estimates["failed"].tolist() == [1, 0, 0]
    assert found.estimates["policy"].tolist() == ["none", "jsq", "clb"]


def test_every_column_of_differences():
    found = found_of(results())
    rows = found.differences.set_index(["a", "b"])
    for (a, b), row in rows.iterrows():
        logs = np.log(SLOWDOWNS[a]), np.log(SLOWDOWNS[b])
        test = stats.ttest_rel(*logs)
        assert row["difference"] == pytest.approx(SLOWDOWNS[a].mean() - SLOWDOWNS[b].mean(), abs=1e-12)
        assert math.log(row["ratio"]) == pytest.approx(logs[0].mean() - logs[1].mean())
        assert row["p_value"] == pytest.approx(test.pvalue)
        assert (row["point"], row["metric"], row["seeds"]) == (0, "mean_slowdown", 8)
        # Bonferroni over three pairs; the end at 1 may be at Holm's own step, which is nearer.
        arm = stats.t.ppf(1 - 0.05 / 3 / 2, 7) * test._standard_error
        assert math.log(row["ratio_low"]) >= math.log(row["ratio"]) - arm * (1 + 1e-9)
        assert math.log(row["ratio_high"]) == pytest.approx(math.log(row["ratio"]) + arm)
        assert (row["low"], row["high"]) == pytest.approx(hall_interval((SLOWDOWNS[a] - SLOWDOWNS[b]).tolist()))
    assert rows["significant"].to_dict() == {("none", "jsq"): True, ("none", "clb"): True, ("jsq", "clb"): False}
    assert rows["verdict"].tolist() == ["worse", "worse", "not significant"]


def test_every_column_of_ranking_and_percentiles():
    found = found_of(results())
    ranking = found.ranking.set_index("policy")
    assert ranking["mean"].to_dict() == pytest.approx({"jsq": 5.5, "clb": 5.5, "none": 6.5})
    assert ranking[["best", "worst"]].to_numpy().tolist() == [[1, 2], [1, 2], [3, 3]]
    assert ranking["like"].to_dict() == {"jsq": "clb", "clb": "jsq", "none": ""}
    percentiles = found.percentiles[found.percentiles["policy"] == "jsq"].set_index("percentile")
    # The p-th percentile of a run is 1 + 8 p/100 + its seed, and seeds are 3.5 on average.
    assert percentiles["mean"].to_dict() == pytest.approx({p: 4.5 + 0.08 * p for p in (50, 75, 90, 95, 99)})
    assert percentiles["seeds"].tolist() == [8] * 5
    assert percentiles.loc[50, ["low", "high"]].tolist() == pytest.approx(beyond_one(8.5, math.sqrt(6)), rel=1e-6)


def test_every_column_of_what_is_left_out():
    table = spoilt(spoilt(results(), "jsq", [3], mean_slowdown=NAN), "clb", range(8), status="failed")
    found = found_of(table)
    left = found.left_out[["point", KEY, "metric", "what", "policy", "why"]].to_numpy().tolist()
    assert left == [
        [0, 0.3, "mean_slowdown", "seed", "jsq", "no value"], [0, 0.3, "mean_slowdown", "policy", "clb", "failed"],
    ]  # fmt: skip
    assert found.left_out["seed"].tolist() == pytest.approx([3, NAN], nan_ok=True)
    nothing = found.compared.set_index("policy").loc["clb"]
    assert nothing["seeds"] == 0
    assert nothing[["mean", "low", "high", "median", "least", "most"]].isna().all()


def test_differences_to_the_first_policy_are_turned_round():
    found = found_of(results())
    row = found.differences.set_index(["a", "b"]).loc["none", "jsq"]
    for reference, policy, power in (("none", "jsq", -1), ("jsq", "none", 1)):
        turned = against_reference(found.differences, "mean_slowdown", reference).set_index("policy").loc[policy]
        assert turned["is_ratio"]
        assert turned["mean"] == pytest.approx(row["ratio"] ** power)
        assert [turned["low"], turned["high"]] == pytest.approx(
            sorted([row["ratio_low"] ** power, row["ratio_high"] ** power])
        )
        assert turned["significant"]
    # With a zero there is no ratio, and no pair is shown as one.
    zero = found_of(spoilt(results(), "jsq", [3], mean_slowdown=0.0))
    row = zero.differences.set_index(["a", "b"]).loc["none", "jsq"]
    for reference, policy, sign in (("none", "jsq", -1), ("jsq", "none", 1)):
        turned = against_reference(zero.differences, "mean_slowdown", reference).set_index("policy").loc[policy]
        assert not turned["is_ratio"]
        assert turned["mean"] == sign * row["difference"]
        assert [turned["low"], turned["high"]] == sorted([sign * row["low"], sign * row["high"]])


# ---- cells and sentences ----


def test_places_are_certain_or_a_range():
    lines = comparison_table(found_of(results()), "mean_slowdown")
    cells = [line.split(" | ")[1:3] for line in lines if line.startswith("| 0.3")]
    assert cells == [["1 to 2", "`jsq`"], ["1 to 2", "`clb`"], ["3", "`none`"]]


def test_differences_are_real_or_not_or_of_one_sample():
    def last_cells(table):
        return [line.split(" | ")[-1] for line in difference_table(found_of(table), "mean_slowdown")[2:] if line]

    assert last_cells(results()) == ["worse |", "worse |", "not significant |"]
    constant = {"none": np.full(8, 4.0), "jsq": np.full(8, 2.0), "clb": SLOWDOWNS["clb"]}
    table = results(constant)
    table["slowdown_quantiles"] = None
    assert last_cells(table)[0] == "one sample |"
    assert found_of(table).one_sample[0] == {"none", "jsq"}


def test_of_one_sample_no_interval_is_given():
    table = results({"none": np.full(8, 4.0), "jsq": np.full(8, 2.0), "clb": SLOWDOWNS["clb"]})
    # Their jobs, too, are the same from every seed.
    table["slowdown_quantiles"] = [
        np.linspace(1.0, 9.0, 101) + (seed if name == "clb" else 0)
        for name, seed in zip(table["policy"], table["seed"], strict=True)
    ]
    found = found_of(table)
    ends = ["low", "high", "half_width_percent", "median_low", "median_high"]
    for estimates in (found.estimates, found.compared):
        shown = estimates.set_index("policy")[ends].notna()
        assert shown.all(axis=1).to_dict() == shown.any(axis=1).to_dict() == {"none": False, "jsq": False, "clb": True}
    percentiles = found.percentiles.set_index("policy")["low"].notna()
    assert percentiles.groupby(level=0).all().to_dict() == {"none": False, "jsq": False, "clb": True}
    assert not found.is_one_sample


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "seeds", "values", "line"), [
    ("jsq", [3], {"mean_slowdown": NAN},
     "**1 seed of a point is left out for all policies** (left-out.csv): `jsq` has no value on 1."),
    ("jsq", [3, 4], {"status": "failed"},
     "**2 seeds of points are left out for all policies** (left-out.csv): `jsq` failed on 2."),
    ("clb", range(8), {"status": "failed"}, "**`clb` is left out at 1 of 1 points**: all its runs failed."),
    ("clb", range(8), {"mean_slowdown": NAN}, "**`clb` is left out at 1 of 1 points**: none of its runs has a value."),
])  # fmt: skip
def test_what_is_left_out_is_said(policy, seeds, values, line):
    assert left_out_lines(found_of(spoilt(results(), policy, seeds, **values)), "mean_slowdown") == [line, ""]
    assert left_out_lines(found_of(results()), "mean_slowdown") == []


@pytest.mark.parametrize(("low", "high", "text"), [
    (1.0, 3.0, "2 [1, 3]"), (NAN, NAN, "2"), (1.0, math.inf, "2"), (-math.inf, 3.0, "2"),
])  # fmt: skip
def test_a_number_with_its_interval(low, high, text):
    assert with_interval(2.0, low, high) == text


@pytest.mark.parametrize(("rows", "more"), [(MOST_LINES, []), (MOST_LINES + 1, ["(1 further rows: x.csv)", ""])])
def test_a_long_table_is_cut(rows, more):
    lines = table_lines(["a"], [[str(number)] for number in range(rows)], "x.csv")
    assert lines[2 + MOST_LINES :] == ["", *more]


def text_of(table, **study):
    given = SimpleNamespace(**{**vars(STUDY), **study})
    return _markdown(given, ("mean_slowdown",), found_of(table), None, table, [])


@pytest.mark.slow
def test_the_head_of_a_report():
    text = text_of(results(points=(0.3, 0.5)))
    assert text.startswith("# small\n\n48 runs: 2 points, 3 policies, 8 seeds, the same for all")
    assert text_of(results(), title="A title").startswith("# A title\n")
    assert "runs failed" not in text
    assert "## Runs that failed" not in text
    assert "Intervals are at 95 %" in text
    assert "One sample" not in text
    assert "Warm-up" not in text
    constant = results({name: np.full(8, values[0]) for name, values in SLOWDOWNS.items()})
    alike = text_of(constant)
    assert "One sample: every seed gives the same run." in alike
    assert "Intervals are at 95 %" not in alike


def test_runs_that_failed_are_counted_and_listed_by_the_last_line_of_their_errors():
    text = text_of(spoilt(results(), "jsq", [3, 5], status="failed", error="Traceback\n\nValueError: a reason\n"))
    assert "22 runs: " in text
    assert "(common random numbers). 2 runs failed." in text
    assert "| 0 | `jsq` | 3 | ValueError: a reason |\n| 0 | `jsq` | 5 | ValueError: a reason |" in text


@pytest.mark.parametrize("unsettled", [0, 3])
def test_how_much_of_the_warm_up_was_left_out_and_whether_it_ended(unsettled):
    """10 jobs of each run, but 34 of the first: 11 on average of 24 runs."""
    jobs = [34.0] + [10.0] * 23
    text = text_of(results().assign(warmup_jobs=jobs, warmup_settled=[0.0] * unsettled + [1.0] * (24 - unsettled)))
    assert "Warm-up: MSER-5 left out the first 11 jobs of a run in the mean.\n" in text
    assert ("**In 3 runs it saw no steady state**: longer runs are needed" in text) == bool(unsettled)
    assert ("it saw no steady state" in text) == bool(unsettled)


# ---- the state of a study ----

DONE = Status("small", "out", "abc", "abc", 24, 24, 0, 0, 0, 0, [], 0, [])


@pytest.mark.parametrize(("changes", "said"), [
    ({}, []), ({"finished": 20, "failed": 1, "missing": 3}, [", 1 failed, 3 missing"]),
    ({"processes": 1}, ["1 process at work on it"]), ({"processes": 2}, ["2 processes at work on it"]),
    ({"code_now": "def"}, ["the code has changed since (def now): the next `batch run` starts anew"]),
    ({"others": 5}, ["5 runs of other points, or of other code (abc counts): kept, not counted"]),
])  # fmt: skip
def test_a_status_says_what_there_is_to_say(changes, said, capsys):
    status = Status(**{**DONE.as_json(), **changes})
    _print_status(status)
    head, *lines = capsys.readouterr().out.splitlines()
    counts = [line for line in said if line.startswith(",")]
    assert head == f"small: {status.finished} of 24 runs finished{''.join(counts)}"
    assert lines == [line for line in said if not line.startswith(",")]


@pytest.mark.parametrize(("set_aside", "files"), [(0, None), (1, "1 file"), (2, "2 files")])
def test_what_is_damaged_is_told(set_aside, files):
    told = _lines_of_problems(
        Status(**{**DONE.as_json(), "set_aside": set_aside, "damaged": ["x: short"] * bool(set_aside)})
    )
    expected = [] if files is None else ["damaged: x: short", f"set aside as damaged, in out/damaged: {files}"]
    assert list(told) == expected

"""Sensitivity of studies: known indices through the study's own points, and a simulated study end to end."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pandas as pd
import pytest
from studies import study

from cluster_abm.errors import InputError
from cluster_abm.study.batch import run_batch
from cluster_abm.study.design.expansion import expand, points_of
from cluster_abm.study.design.study_file import load_study, study_to_toml
from cluster_abm.study.report.report import write_report
from cluster_abm.study.results_folder import load_results, read_plan
from cluster_abm.study.statistics.sensitivity import analyse

KEYS = ("workload.cpu_ms.mean", "workload.io_per_ms.mean", "cluster.memory_mb")
UNIT = {key: {"low": 0.0, "high": 1.0} for key in KEYS[:2]}


def planned(tmp_path, method, samples, ranges):
    """A study's points as arrays, and what results of it look like when each point's value is known."""
    found = study(tmp_path, grid=None, policies=["none"], sensitivity={"method": method, "samples": samples} | ranges)
    points = points_of(found)
    assert len(points) == found.sensitivity.point_count
    return found, np.array([[*point.values()] for point in points])


def results(found, points, values, seeds=1):
    """One row a run; the seeds scatter evenly about the value, so that their mean is the value."""
    return pd.DataFrame(
        {
            "point": number, **dict(zip(found.swept, point, strict=True)), "policy": "none", "seed": 1 + seed,
            "status": "finished", "error": "", "metric": value + seed - (seeds - 1) / 2,
        }
        for number, (point, value) in enumerate(zip(points, values, strict=True))
        for seed in range(seeds)
    )  # fmt: skip


def indices(found, table, seeds=1):
    analysis = analyse(table, found.sensitivity, range(1, 1 + seeds), ("none",), ("metric",))
    assert not analysis.refused
    return analysis.table.set_index(["factor", "index"])


@pytest.mark.slow
def test_sobol_indices_of_ishigamis_function(tmp_path):
    """sin x1 + a sin² x2 + b x3⁴ sin x1 on [-π, π]³: V1 = (1 + b π⁴/5)²/2, V2 = a²/8, V13 = 8 b² π⁸/225."""
    a, b, pi = 7.0, 0.1, math.pi
    v1, v2, v13 = (1 + b * pi**4 / 5) ** 2 / 2, a**2 / 8, 8 * b**2 * pi**8 / 225
    total = v1 + v2 + v13
    ranges = {key: {"low": -pi, "high": pi} for key in KEYS}
    found, x = planned(tmp_path, "sobol", 2048, ranges)
    values = np.sin(x[:, 0]) + a * np.sin(x[:, 1]) ** 2 + b * x[:, 2] ** 4 * np.sin(x[:, 0])
    table = indices(found, results(found, x, values, seeds=2), seeds=2)
    known = {"first_order": (v1, v2, 0.0), "total": (v1 + v13, v2, v13)}
    for name, parts in known.items():
        for key, part in zip(KEYS, parts, strict=True):
            row = table.loc[key, name]
            assert row["value"] == pytest.approx(part / total, abs=0.03)
            # Six standard errors.
            assert abs(row["value"] - part / total) < 1.5 * (row["high"] - row["low"]) + 1e-12


@pytest.mark.slow
def test_a_factor_on_a_logarithm_is_even_in_it(tmp_path):
    """log x + log y, y over twice as many decades: variances 1 and 4, shares 0.2 and 0.8, and no interaction."""
    ranges = {KEYS[0]: {"low": 1.0, "high": 10.0, "log": True}, KEYS[1]: {"low": 0.01, "high": 1.0, "log": True}}
    found, x = planned(tmp_path, "sobol", 512, ranges)
    table = indices(found, results(found, x, np.log(x).sum(axis=1)))
    for key, share in zip(KEYS, (0.2, 0.8), strict=False):
        for name in ("first_order", "total"):
            assert table.loc[key, name]["value"] == pytest.approx(share, abs=0.02)


def test_morris_effects_of_a_linear_function_are_its_slopes_times_the_ranges(tmp_path):
    """3 x - 0.5 n + log10 z over [2, 4], 1..31 and two decades: 6, 15, 2, each effect the same, whatever the rest."""
    ranges = {
        KEYS[0]: {"low": 2.0, "high": 4.0},
        "cluster.nodes": {"low": 1, "high": 31, "integer": True},
        KEYS[2]: {"low": 1.0, "high": 100.0, "log": True},
    }
    found, x = planned(tmp_path, "morris", 6, ranges)
    assert sorted(set(x[:, 1])) == [1, 11, 21, 31]
    table = indices(found, results(found, x, 3 * x[:, 0] - 0.5 * x[:, 1] + np.log10(x[:, 2])))
    for key, effect in zip(ranges, (6.0, 15.0, 2.0), strict=True):
        row = table.loc[key, "mu_star"]
        assert [row["value"], row["low"], row["high"]] == pytest.approx([effect] * 3)
        assert table.loc[key, "sigma"]["value"] == pytest.approx(0.0, abs=1e-9)


def test_morris_tells_an_interaction_by_its_spread(tmp_path):
    """x y over the unit square: an effect of x is the y that it was taken at, one of four levels."""
    found, x = planned(tmp_path, "morris", 40, UNIT)
    table = indices(found, results(found, x, x[:, 0] * x[:, 1]))
    of_x = [
        abs(x[i + 1, 0] * x[i + 1, 1] - x[i, 0] * x[i, 1]) / (2 / 3)
        for i in range(len(x) - 1)
        if i % 3 != 2 and x[i + 1, 0] != x[i, 0]
    ]
    assert len(of_x) == 40
    assert table.loc[KEYS[0], "mu_star"]["value"] == pytest.approx(np.mean(of_x))
    assert table.loc[KEYS[0], "sigma"]["value"] == pytest.approx(np.std(of_x, ddof=1))
    assert table.loc[KEYS[0], "sigma"]["value"] > 0.2


@pytest.mark.parametrize("method", ["sobol", "morris"])
def test_points_and_intervals_depend_on_the_seed_only(tmp_path, method):
    found, x = planned(tmp_path, method, 8, UNIT | {"seed": 0})
    assert (planned(tmp_path, method, 8, UNIT | {"seed": 0})[1] == x).all()
    assert (planned(tmp_path, method, 8, UNIT | {"seed": 2})[1] != x).any()
    table = results(found, x, np.exp(x).sum(axis=1))
    # The order of rows is of no account, nor is what others drew from numpy's common generator.
    pd.testing.assert_frame_equal(indices(found, table), indices(found, table.sample(frac=1.0, random_state=3)))


def missing(table):
    return table[table["point"] != 5]


def failed(table):
    return table.assign(status=["failed", *["finished"] * (len(table) - 1)], metric=[np.nan, *table["metric"][1:]])


def unknown(table):
    return table.assign(metric=[np.nan, *table["metric"][1:]])


REFUSALS = {
    "missing": (missing, "`none`: of the runs of 16 points and 2 seeds 2 missing: every point counts"),
    "failed": (failed, "`none`: of the runs of 16 points and 2 seeds 1 failed: every point counts"),
    "unknown": (unknown, "`none`, metric: 1 points have a run without a value"),
    "constant": (lambda table: table.assign(metric=0.1), "`none`, metric: the same at every point"),
}


@pytest.mark.parametrize(("spoil", "said"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_not_whole_is_not_analysed(tmp_path, spoil, said):
    found, x = planned(tmp_path, "sobol", 4, UNIT)
    table = spoil(results(found, x, x.sum(axis=1), seeds=2))
    analysis = analyse(table, found.sensitivity, range(1, 3), ("none",), ("metric",))
    assert not len(analysis.table)
    (line,) = analysis.refused
    assert line.startswith(said)


@pytest.mark.slow
def test_the_report_says_of_which_policy_there_are_no_indices(tmp_path):
    found, x = planned(tmp_path, "sobol", 2, UNIT)
    found = found.model_copy(update={"policies": ("none", "jsq"), "replications": 1, "measure": ("metric",)})
    whole = results(found, x, x.sum(axis=1))
    table = pd.concat([whole, missing(whole).assign(policy="jsq")], ignore_index=True)
    write_report(table, found, [], tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "**No sensitivity indices.** `jsq`: of the runs of 8 points and 1 seeds 1 missing" in text
    assert set(pd.read_csv(tmp_path / "report" / "sensitivity.csv")["policy"]) == {"none"}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["morris", "sobol"])
def test_a_simulated_study_from_file_to_figure(tmp_path, method):
    plan = {
        "method": method, "samples": 2, "workload.utilisation": {"low": 0.3, "high": 0.6},
        "cluster.nodes": {"low": 2, "high": 5, "integer": True},
    }  # fmt: skip
    found = study(tmp_path, grid=None, sensitivity=plan, policies=["jsq"], replications=2, measure=["mean_slowdown"])
    run_batch(found, tmp_path / "out", "inline", quiet=True)
    runs = load_results(tmp_path / "out")
    written = write_report(runs, read_plan(tmp_path / "out").study, [], tmp_path / "report")
    names = {path.name for path in written}
    assert names >= {"sensitivity.csv", "sensitivity-mean_slowdown.png", "sensitivity-mean_slowdown.svg"}
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "## What matters" in text
    assert "![sensitivity-mean_slowdown](sensitivity-mean_slowdown.png)" in text
    table = pd.read_csv(tmp_path / "report" / "sensitivity.csv")
    assert len(table) == 2 * 2
    if method == "morris":
        # Two trajectories of two steps: |difference| over a step of two thirds.
        means = runs.groupby("point")[["cluster.nodes", "mean_slowdown"]].mean().to_numpy()
        steps = [(b - a) for a, b in ((means[i], means[i + 1]) for i in (0, 1, 3, 4))]
        effect = np.mean([abs(step[1]) / (2 / 3) for step in steps if step[0] != 0])
        own = table[table["factor"] == "cluster.nodes"].set_index("index")
        assert own.loc["mu_star", "value"] == pytest.approx(effect)


def test_a_study_written_out_is_the_same_study(tmp_path):
    first, _ = planned(tmp_path, "morris", 3, {KEYS[0]: {"low": 1.0, "high": 2.0}, "seed": 4})
    again = tmp_path / "again.toml"
    again.write_text(study_to_toml(first), encoding="utf-8")
    assert load_study(again).model_copy(update={"file": first.file}) == first


RANGE = {"workload.utilisation": {"low": 0.1, "high": 0.5}}
MISTAKES = {
    "no power of two": ({"method": "sobol", "samples": 24} | RANGE, "samples = 24: must be a power of two"),
    "a method of another name": ({"method": "fast", "samples": 4} | RANGE, "sensitivity.method = 'fast': input should"),
    "levels that are no whole numbers": (
        {"method": "morris", "samples": 4, "cluster.nodes": {"low": 2, "high": 9, "integer": True}},
        "cluster.nodes: low = 2, high = 9: for method = 'morris' whole numbers, a multiple of three apart",
    ),
    "levels of a logarithm": (
        {"method": "morris", "samples": 4, "cluster.nodes": {"low": 2, "high": 8, "integer": True, "log": True}},
        "cluster.nodes: integer and log: one of them",
    ),
    "no factor": ({"method": "morris", "samples": 4}, "sensitivity.ranges"),
    "what a study says itself": (
        {"method": "morris", "samples": 4, "run.seed": {"low": 1, "high": 2}},
        "sensitivity.run.seed: a study says this by first_seed",
    ),
}


@pytest.mark.parametrize(("plan", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(tmp_path, plan, said):
    with pytest.raises(InputError) as caught:
        expand(study(tmp_path, grid=None, sensitivity=plan))
    (problem,) = caught.value.problems
    assert said in problem


def test_points_are_drawn_one_way_only(tmp_path):
    with pytest.raises(InputError, match="grid, points, latin_hypercube, sensitivity: one of them"):
        study(tmp_path, sensitivity={"method": "morris", "samples": 4} | RANGE)


def test_without_salib_the_extra_is_named_before_anything_is_run(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "SALib" else find(name, *more))
    with pytest.raises(InputError, match=r"pip install '\.\[sensitivity\]'"):
        run_batch(
            study(tmp_path, grid=None, sensitivity={"method": "morris", "samples": 4} | RANGE),
            tmp_path / "out", "inline", quiet=True,
        )  # fmt: skip
    assert not (tmp_path / "out" / "runs").exists()

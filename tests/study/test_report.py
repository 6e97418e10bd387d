"""Reports of hand-made results: numbers in the tables, pictures in both formats, equal bytes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support import finished

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.errors import InputError
from cluster_abm.results.metrics import BETTER
from cluster_abm.results.of_studies import study_pictures
from cluster_abm.results.of_studies.study_axes import distinct_texts, label_of, lay_out, point_text
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.design.unset_keys import AS_IN_SCENARIO
from cluster_abm.study.report.report import write_report
from cluster_abm.study.runner.measuring import measure_run

POLICIES = ("none", "jsq")
# Per seed: jsq is 1 below none but for a little noise.
SLOWDOWNS = {"none": [3.0, 4.0, 5.0, 6.0], "jsq": [2.1, 2.9, 4.0, 5.0]}


def study(swept):
    return SimpleNamespace(
        name="small",
        title="A small study",
        policies=POLICIES,
        measure=("mean_slowdown",),
        swept=list(swept),
        points=(),
        scenario_source="quickstart",
        overrides={},
        seeds=range(4),
        sensitivity=None,
    )


def results(points):
    return pd.DataFrame(
        {
            "point": number, **keys, "policy": policy, "seed": seed, "status": "finished", "error": None,
            "mean_slowdown": value * (1 + number),
            **{f"breakdown_ms.{part}": 100.0 for part in BREAKDOWN},
            "slowdown_quantiles": np.linspace(1, 9, 101).tolist(),
        }
        for number, keys in enumerate(points)
        for policy in POLICIES
        for seed, value in enumerate(SLOWDOWNS[policy])
    )  # fmt: skip


LOAD = {"time_ms": [1000.0, 2000.0, 3000.0], "tasks": [[0, 1, 2], [2, 1, 0]]}
SETS = {
    "none": [{}],
    "one": [{"workload.utilisation": u} for u in (0.3, 0.5)],
    "two": [{"workload.utilisation": u, "cluster.nodes": n} for u in (0.3, 0.5) for n in (4, 8)],
    "words": [{"workload.home.kind": kind} for kind in ("uniform", "skewed")],
    "sample": [{"workload.utilisation": 0.02 * i + 0.1, "cluster.quantum_ms": 7.0 * i % 11 + 1} for i in range(11)],
}
SLOW = ("two", "words", "sample")


@pytest.mark.slow
@pytest.mark.parametrize(
    "points",
    [pytest.param(points, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, points in SETS.items()],
)
def test_every_kind_of_study_has_tables_and_pictures(points, tmp_path):
    written = write_report(results(points), study(points[0]), [(0, "none", 0, LOAD)], tmp_path)
    assert {path.name for path in written} >= {
        "report.md", "estimates.csv", "differences.csv", "ranking.csv", "percentiles.csv", "mean_slowdown.png",
        "mean_slowdown-differences.svg", "slowdowns.png", "breakdown.svg", "load-point-0.png",
    }  # fmt: skip
    assert all(path.stat().st_size > 1000 for path in written if path.suffix in (".png", ".svg"))


@pytest.mark.slow
def test_numbers_by_hand_and_a_failed_run(tmp_path):
    """Differences .9 1.1 1 1: mean 1, standard error .0816497/2, t(.975, 3) = 3.182446: +-.129923, as they have no
    skewness. Ratios: the logarithms' mean and t."""
    frame = results(SETS["none"])
    reason = "Traceback\nValueError: a reason"
    broken = frame.iloc[[0]].assign(seed=9, status="failed", error=reason, mean_slowdown=np.nan)
    write_report(pd.concat([frame, broken], ignore_index=True), study([]), [], tmp_path)
    row = pd.read_csv(tmp_path / "differences.csv").iloc[0]
    assert (row["a"], row["b"], row["seeds"], row["significant"]) == ("none", "jsq", 4, True)
    assert row["difference"] == pytest.approx(1.0)
    assert row["low"] == pytest.approx(1 - 0.129923, abs=1e-5)
    assert row["high"] == pytest.approx(1 + 0.129923, abs=1e-5)
    ranking = pd.read_csv(tmp_path / "ranking.csv")
    assert ranking[["policy", "best", "worst"]].to_numpy().tolist() == [["jsq", 1, 1], ["none", 2, 2]]
    estimates = pd.read_csv(tmp_path / "estimates.csv").set_index("policy")
    assert estimates.loc["none", "mean"] == 4.5
    assert estimates["failed"].to_dict() == {"none": 1, "jsq": 0}
    assert "ValueError: a reason" in (tmp_path / "report.md").read_text()


def compared_of(tmp_path, frame, wanted=None):
    write_report(frame, wanted or study([]), [], tmp_path)
    return pd.read_csv(tmp_path / "compared.csv").set_index("policy"), (tmp_path / "report.md").read_text()


def altered(policy, seed, **values):
    """The results of one point, one run of them changed."""
    frame = results(SETS["none"])
    own = (frame["policy"] == policy) & (frame["seed"] == seed)
    for name, value in values.items():
        frame.loc[own, name] = value
    return frame


@pytest.mark.slow
@pytest.mark.parametrize(("change", "why"), [
    ({"mean_slowdown": np.nan}, "`jsq` has no value on 1"),
    ({"mean_slowdown": np.inf}, "`jsq` has no value on 1"),
    pytest.param({"mean_slowdown": np.nan, "status": "failed"}, "`jsq` failed on 1", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_seed_that_one_policy_lacks_is_left_out_for_all(change, why, tmp_path):
    """Without seed 3: none 3 4 5, jsq 2.1 2.9 4; the differences .9 1.1 1 have a p of .0033."""
    compared, text = compared_of(tmp_path, altered("jsq", 3, **change))
    assert compared["seeds"].to_dict() == {"none": 3, "jsq": 3}
    assert compared["mean"].to_dict() == pytest.approx({"none": 4.0, "jsq": 3.0})
    difference = pd.read_csv(tmp_path / "differences.csv").iloc[0]
    assert (difference["difference"], difference["significant"]) == (pytest.approx(1.0), True)
    assert pd.read_csv(tmp_path / "ranking.csv").set_index("policy")["mean"].to_dict() == pytest.approx(
        {"jsq": 3.0, "none": 4.0}
    )
    assert pd.read_csv(tmp_path / "estimates.csv")["seeds"].tolist() == [3, 3]
    left_out = pd.read_csv(tmp_path / "left-out.csv").iloc[0]
    assert (left_out["what"], left_out["policy"], left_out["seed"]) == ("seed", "jsq", 3)
    assert f"**1 seed of a point is left out for all policies** (left-out.csv): {why}." in text


@pytest.mark.slow
def test_a_policy_without_any_value_does_not_take_all_seeds_with_it(tmp_path):
    frame = pd.concat([results(SETS["none"]), results(SETS["none"]).query("policy == 'jsq'").assign(
        policy="clb", mean_slowdown=np.nan)], ignore_index=True)  # fmt: skip
    wanted = study([])
    wanted.policies = (*POLICIES, "clb")
    compared, text = compared_of(tmp_path, frame, wanted)
    assert compared["seeds"].to_dict() == {"none": 4, "jsq": 4, "clb": 0}
    assert "**`clb` is left out at 1 of 1 points**: none of its runs has a value." in text
    assert "| – | `clb` | no value | no value | 0 |" in text


@pytest.mark.slow
def test_more_seeds_of_one_policy_stand_apart(tmp_path):
    """As with `precision`: none has run from seed 4 too, and its mean of five stands in a column that says so."""
    frame = results(SETS["none"])
    further = frame.iloc[[0]].assign(seed=4, mean_slowdown=12.0)
    compared, text = compared_of(tmp_path, pd.concat([frame, further], ignore_index=True))
    assert compared.loc["none", ["seeds", "mean"]].tolist() == [4, 4.5]
    estimates = pd.read_csv(tmp_path / "estimates.csv").set_index("policy")
    assert estimates.loc["none", ["seeds", "mean"]].tolist() == [5, 6.0]
    (row,) = [line for line in text.splitlines() if line.startswith("| 2 | `none`")]
    assert row.split(" | ")[2].startswith("4.5 [")
    assert row.endswith("(5) |")
    assert not (tmp_path / "left-out.csv").exists()


@pytest.mark.slow
def test_what_is_neither_better_nor_worse_has_no_rank(tmp_path):
    wanted = study([])
    wanted.measure = ("mean_slowdown", "remote_executions", "jobs.finished")
    moves = {"none": 0.0, "jsq": 90.0}
    frame = results(SETS["none"])
    frame["remote_executions"] = [
        moves[policy] + seed for policy, seed in zip(frame["policy"], frame["seed"], strict=True)
    ]
    frame["jobs.finished"] = frame["remote_executions"]
    write_report(frame, wanted, [], tmp_path)
    ranking = pd.read_csv(tmp_path / "ranking.csv")
    assert ranking["metric"].unique().tolist() == ["mean_slowdown", "jobs.finished"]
    assert ranking.groupby("metric")["policy"].first().to_dict() == {"mean_slowdown": "jsq", "jobs.finished": "jsq"}
    section = (tmp_path / "report.md").read_text().split("## remote executions")[1].split("## ")[0]
    assert "| policy | mean over seeds [95 %] | median over seeds [95 %] | seeds counted |" in section
    assert "rank |" not in section
    assert "No ranks" in section
    assert "| `none` | `jsq` | " in section
    assert "| -90 [-90, -90] |" in section
    assert "| `none` | 1.5 [" in section


def test_every_metric_with_a_better_side_is_measured():
    """A name in the table that no run has would never rank anything."""
    row = measure_run(
        finished(
            seed=3, workload__arrivals__kind="closed", failures__node__kind="exponential", cluster__idle_watts=10.0
        )
    )
    assert BETTER.keys() <= row.keys()


@pytest.mark.slow
def test_points_that_differ_in_the_fourth_digit_stay_apart(tmp_path, monkeypatch):
    drawn = {}
    for name in ("draw_distributions", "draw_breakdowns"):
        original = getattr(study_pictures, name)

        def noting(path, title, panels, *more, original=original, name=name):
            drawn[name] = [words for words, _ in panels]
            return original(path, title, panels, *more)

        monkeypatch.setattr(study_pictures, name, noting)
    points = [{"workload.utilisation": 0.50012}, {"workload.utilisation": 0.50034}, {"workload.utilisation": 0.50012}]
    write_report(results(points), study(points[0]), [], tmp_path)
    words = ["utilisation = 0.5001", "utilisation = 0.5003", "utilisation = 0.5001"]
    assert drawn == {"draw_distributions": words, "draw_breakdowns": words}
    text = (tmp_path / "report.md").read_text()
    assert "| 0.5001 | 1 | `jsq`" in text
    assert "| 0.5003 | 1 | `jsq`" in text


@pytest.mark.slow
def test_a_key_that_a_point_does_not_set_has_its_value(tmp_path):
    """One table sets nodes, one the I/O, one what the scenario does not have at all."""
    file = tmp_path / "study.toml"
    file.write_text("""
scenario = "quickstart"
policies = ["none", "jsq"]
overrides = { "cluster.nodes" = 6 }
measure = ["mean_slowdown"]
points = [
    { "cluster.nodes" = 8 },
    { "workload.io_per_ms.mean" = 0.25 },
    { "workload.application.cpu_share" = 0.25 },
]
""")
    wanted = load_study(file)
    frame = results([{key: settings.get(key) for key in wanted.swept} for settings in wanted.points])
    write_report(frame, wanted, [], tmp_path / "report")
    table = pd.read_csv(tmp_path / "report" / "ranking.csv").drop_duplicates("point").set_index("point")
    assert table["cluster.nodes"].tolist() == [8, 6, 6]
    assert table["workload.io_per_ms.mean"].tolist() == [0.5, 0.25, 0.5]
    assert table["workload.application.cpu_share"].tolist() == [AS_IN_SCENARIO, AS_IN_SCENARIO, "0.25"]
    text = (tmp_path / "report" / "report.md").read_text()
    assert "| 8 | 0.5 | as in the scenario |" in text
    assert "nan |" not in text


@pytest.mark.slow
def test_equal_results_give_equal_bytes(tmp_path):
    folders = tmp_path / "a", tmp_path / "b"
    first, second = (write_report(results(SETS["one"]), study(SETS["one"][0]), [], folder) for folder in folders)
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_what_cannot_be_reported_is_named(tmp_path):
    wanted = study([])
    wanted.measure = ("mean_slowdwn",)
    with pytest.raises(InputError, match=r"'mean_slowdwn'.*mean_slowdown"):
        write_report(results(SETS["none"]), wanted, [], tmp_path)
    with pytest.raises(InputError, match=r"no run has finished"):
        write_report(results(SETS["none"]).assign(status="failed"), study([]), [], tmp_path)


def test_two_keys_are_small_multiples_along_the_one_with_more_values():
    keys = [{"cluster.nodes": n, "workload.utilisation": u} for n in (4, 8) for u in (0.7, 0.3, 0.5)]
    layout = lay_out(pd.DataFrame(keys))
    assert [panel.x for panel in layout.panels] == [(0.3, 0.5, 0.7)] * 2
    assert [panel.points for panel in layout.panels] == [(1, 2, 0), (4, 5, 3)]
    assert [panel.title for panel in layout.panels] == ["nodes = 4", "nodes = 8"]


def test_words_and_units():
    assert label_of("workload.io_per_ms.mean") == "mean io [1/ms]"
    keys = pd.Series({"cluster.exchange_period_ms": 100.0, "workload.home.kind": "skewed"})
    assert distinct_texts([0.5, "uniform", True]) == ["0.5", "uniform", "True"]
    assert distinct_texts([0.5, 0.25, 2, 2.0]) == ["0.5", "0.25", "2", "2"]
    assert distinct_texts([0.1 + 0.2, 0.3]) == ["0.30000000000000004", "0.29999999999999999"]
    assert distinct_texts([1234.5671, 1234.5674]) == ["1,234.5671", "1,234.5674"]
    assert point_text(keys) == "exchange period = 100 ms, home = skewed"

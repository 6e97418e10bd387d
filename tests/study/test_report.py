"""Reports of hand-made results: numbers in the tables, pictures in both formats, equal bytes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.errors import InputError
from cluster_abm.results.study_axes import label_of, lay_out, point_text
from cluster_abm.study.report import write_report

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


@pytest.mark.parametrize("points", SETS.values(), ids=SETS)
def test_every_kind_of_study_has_tables_and_pictures(points, tmp_path):
    written = write_report(results(points), study(points[0]), [(0, "none", 0, LOAD)], tmp_path)
    assert {path.name for path in written} >= {
        "report.md", "estimates.csv", "differences.csv", "ranking.csv", "percentiles.csv", "mean_slowdown.png",
        "mean_slowdown-differences.svg", "slowdowns.png", "breakdown.svg", "load-point-0.png",
    }  # fmt: skip
    assert all(path.stat().st_size > 1000 for path in written if path.suffix in (".png", ".svg"))


def test_numbers_by_hand_and_a_failed_run(tmp_path):
    """Differences .9 1.1 1 1: mean 1, standard error .0816497/2, t(.975, 3) = 3.182446: half-width .129923."""
    frame = results(SETS["none"])
    reason = "Traceback\nValueError: a reason"
    broken = frame.iloc[[0]].assign(seed=9, status="failed", error=reason, mean_slowdown=np.nan)
    write_report(pd.concat([frame, broken], ignore_index=True), study([]), [], tmp_path)
    row = pd.read_csv(tmp_path / "differences.csv").iloc[0]
    assert (row["a"], row["b"], row["seeds"], row["significant"]) == ("none", "jsq", 4, True)
    assert row["difference"] == pytest.approx(1.0)
    assert row["high"] - 1 == pytest.approx(0.129923, abs=1e-5)
    ranking = pd.read_csv(tmp_path / "ranking.csv")
    assert ranking[["policy", "best", "worst"]].to_numpy().tolist() == [["jsq", 1, 1], ["none", 2, 2]]
    estimates = pd.read_csv(tmp_path / "estimates.csv").set_index("policy")
    assert estimates.loc["none", "mean"] == 4.5
    assert estimates["failed"].to_dict() == {"none": 1, "jsq": 0}
    assert "ValueError: a reason" in (tmp_path / "report.md").read_text()


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
    assert label_of("cluster.exchange_period_ms") == "exchange period [ms]"
    assert label_of("workload.cpu_ms.mean") == "mean cpu [ms]"
    assert label_of("workload.io_per_ms.mean") == "mean io [1/ms]"
    assert label_of("interconnect.bandwidth_mbps") == "bandwidth [Mbit/s]"
    keys = pd.Series({"cluster.exchange_period_ms": 100.0, "workload.home.kind": "skewed"})
    assert point_text(keys) == "exchange period = 100 ms, home = skewed"

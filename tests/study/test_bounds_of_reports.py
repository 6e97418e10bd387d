"""How much a report shows: of points, of loads over time, of rows; and what it says of runs that failed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results.of_studies import study_pictures
from cluster_abm.study.report import report
from cluster_abm.study.report.markdown import table_lines
from cluster_abm.study.report.report import write_report
from cluster_abm.study.statistics.sensitivity import Analysis

POLICIES = ("none", "jsq")


def study():
    return SimpleNamespace(name="small", title="", policies=POLICIES, measure=("mean_slowdown",),
                           swept=["workload.utilisation"], points=(), seeds=range(2), sensitivity=None,
                           scenario_source="quickstart", overrides={})  # fmt: skip


def results(points):
    return pd.DataFrame(
        {
            "point": point, "workload.utilisation": 0.1 * (point + 1), "policy": policy, "seed": seed,
            "status": "finished", "error": None, "mean_slowdown": 2.0 + seed + place,
            **{f"breakdown_ms.{part}": 100.0 for part in BREAKDOWN},
            "slowdown_quantiles": np.linspace(1, 9, 101).tolist(),
        }
        for point in range(points) for place, policy in enumerate(POLICIES) for seed in range(2)
    )  # fmt: skip


@pytest.fixture
def panels(monkeypatch):
    """What was to be drawn: titles of panels of distributions and breakdowns, and the files of loads."""
    found = {"draw_distributions": [], "draw_breakdowns": [], "draw_loads": []}

    def noting(name):
        def noted(path, title, given, *more):
            found[name] += [path.name] if name == "draw_loads" else [words for words, _ in given]
            return []

        return noted

    for name in found:
        monkeypatch.setattr(study_pictures, name, noting(name))
    for name in ("draw_lines", "draw_differences"):
        monkeypatch.setattr(study_pictures, name, lambda *given: [])
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("points", "shown"), [
    # Six of them at most: the first, the last, and four evenly between.
    (1, [0]), (6, [0, 1, 2, 3, 4, 5]), (7, [0, 1, 2, 4, 5, 6]), (11, [0, 2, 4, 6, 8, 10]),
])  # fmt: skip
def test_six_points_have_distributions_and_breakdowns(panels, tmp_path, points, shown):
    write_report(results(points), study(), [], tmp_path)
    words = [f"utilisation = {0.1 * (point + 1):.1f}".removesuffix(".0") for point in shown]
    assert panels["draw_distributions"] == panels["draw_breakdowns"] == words


LOAD = {"time_ms": [1000.0, 2000.0], "tasks": [[0, 1], [2, 1]]}


@pytest.mark.slow
@pytest.mark.parametrize(("points", "shown"), [(1, [0]), (3, [0, 1, 2]), (4, [0, 2, 3]), (5, [0, 2, 4])])
def test_three_points_have_loads_over_time(panels, tmp_path, points, shown):
    loads = [(point, policy, 0, LOAD) for point in range(points) for policy in POLICIES]
    write_report(results(5), study(), loads, tmp_path)
    assert panels["draw_loads"] == [f"load-point-{point}" for point in shown]


def test_what_matters_stands_before_the_metrics(panels, monkeypatch, tmp_path):
    table = pd.DataFrame(
        [("mean_slowdown", "jsq", "cluster.nodes", index, 0.5, 0.25, 0.75) for index in ("total", "first_order")],
        columns=["metric", "policy", "factor", "index", "value", "low", "high"],
    )
    monkeypatch.setattr(report, "analyse", lambda *given: Analysis("sobol", table, ("`none`: no variance",)))
    monkeypatch.setattr(report, "draw_sensitivity", lambda *given: [])
    asked = study()
    asked.sensitivity = "sobol"
    write_report(results(1), asked, [], tmp_path)
    titles = [line for line in (tmp_path / "report.md").read_text().splitlines() if line.startswith("## ")]
    assert titles[:2] == ["## What matters", "## mean slowdown (wall / isolated time)"]
    assert pd.read_csv(tmp_path / "sensitivity.csv").equals(table)


def test_a_load_that_was_measured_once_is_not_drawn(panels, tmp_path):
    once = {"time_ms": [1000.0], "tasks": [[0], [2]]}
    write_report(results(1), study(), [(0, "none", 0, once)], tmp_path)
    assert panels["draw_loads"] == []


@pytest.mark.parametrize(
    ("rows", "left"), [(60, ""), (61, "(1 further rows: x.csv)"), (1100, "(1,040 further rows: x.csv)")]
)
def test_sixty_rows_of_a_table_are_shown(rows, left):
    lines = table_lines(["a", "b"], [[str(number), "x|y"] for number in range(rows)], "x.csv")
    assert lines[:2] == ["| a | b |", "|---|---|"]
    assert lines[2:62] == [f"| {number} | x\\|y |" for number in range(60)]
    assert lines[62:] == ["", *([left, ""] if left else [])]


@pytest.mark.slow
@pytest.mark.parametrize(("error", "cell"), [
    ("Traceback\n\nValueError: a reason\n", "ValueError: a reason"), ("one line", "one line"),
    # A run that was killed has no error, or an empty one.
    (None, ""), (np.nan, ""), ("", ""), (" \n ", ""),
])  # fmt: skip
def test_runs_that_failed_have_the_last_line_of_their_error(panels, tmp_path, error, cell):
    frame = results(1)
    failed = frame.iloc[[0]].assign(seed=9, status="failed", mean_slowdown=np.nan)
    failed["error"] = pd.Series([error], index=failed.index, dtype=object)
    write_report(pd.concat([frame.astype({"error": object}), failed], ignore_index=True), study(), [], tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert text.endswith(f"""
## Runs that failed

| point | policy | seed | error |
|---|---|---|---|
| 0 | `none` | 9 | {cell} |
""")
    assert "(common random numbers). 1 runs failed.\n" in text


def test_headings_and_pictures_of_a_report_in_their_order(monkeypatch, tmp_path):
    for name in ("draw_lines", "draw_differences", "draw_distributions", "draw_breakdowns", "draw_loads"):
        drawn = lambda path, *_: [path.with_name(f"{path.name}{ending}") for ending in (".png", ".svg")]  # noqa: E731
        monkeypatch.setattr(study_pictures, name, drawn)
    wanted = study()
    wanted.measure = ("mean_slowdown", "remote_executions")
    frame = results(1).assign(remote_executions=[0.0, 1.0, 90.0, 92.0])
    # The policy none has one seed more.
    further = frame.iloc[[0]].assign(seed=4, mean_slowdown=12.0)
    frame = pd.concat([frame, further], ignore_index=True)
    written = write_report(frame, wanted, [(0, "none", 0, LOAD)], tmp_path / "new" / "folder")
    text = (tmp_path / "new" / "folder" / "report.md").read_text()
    assert [line for line in text.splitlines() if line.startswith(("#", "!"))] == [
        "# small",
        "## mean slowdown (wall / isolated time)",
        "![mean_slowdown](mean_slowdown.png)", "![mean_slowdown-differences](mean_slowdown-differences.png)",
        "## remote executions",
        "![remote_executions](remote_executions.png)",
        "![remote_executions-differences](remote_executions-differences.png)",
        "## Slowdowns of jobs",
        "![slowdowns](slowdowns.png)", "![breakdown](breakdown.png)", "![load-point-0](load-point-0.png)",
    ]  # fmt: skip
    slowdown, executions = text.split("## remote executions")
    assert "| rank | policy |" in slowdown
    assert "No ranks" not in slowdown
    assert "No ranks: neither more nor less of it is better by itself.\n" in executions
    assert "| rank |" not in executions
    # The mean of none over all of its three seeds: (2 + 3 + 12) / 3.
    (row,) = [line for line in slowdown.splitlines() if line.endswith(" (3) |")]
    assert "`none`" in row
    assert "5.667" in row
    assert [path.name for path in written if path.suffix in (".csv", ".md")] == [
        "report.md", "estimates.csv", "compared.csv", "differences.csv", "ranking.csv", "percentiles.csv",
    ]  # fmt: skip
    head = (tmp_path / "new" / "folder" / "estimates.csv").read_text().splitlines()[0]
    assert head.startswith("point,")

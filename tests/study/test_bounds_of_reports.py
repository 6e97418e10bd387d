"""How much a report shows: of points, of loads over time, of rows; and what it says of runs that failed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results.of_studies import study_pictures
from cluster_abm.study.report.markdown import table_lines
from cluster_abm.study.report.report import write_report

POLICIES = ("none", "jsq")


def study():
    return SimpleNamespace(name="small", title="", policies=POLICIES, measure=("mean_slowdown",),
                           swept=["workload.utilisation"], points=(), seeds=range(2), sensitivity=None)  # fmt: skip


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


@pytest.mark.parametrize(("points", "shown"), [
    # Six of them at most: the first, the last, and four evenly between.
    (1, [0]), (6, [0, 1, 2, 3, 4, 5]), (7, [0, 1, 2, 4, 5, 6]), (11, [0, 2, 4, 6, 8, 10]),
])  # fmt: skip
def test_six_points_have_distributions_and_breakdowns(panels, tmp_path, points, shown):
    write_report(results(points), study(), [], tmp_path)
    words = [f"utilisation = {0.1 * (point + 1):.1f}".removesuffix(".0") for point in shown]
    assert panels["draw_distributions"] == panels["draw_breakdowns"] == words


LOAD = {"time_ms": [1000.0, 2000.0], "tasks": [[0, 1], [2, 1]]}


@pytest.mark.parametrize(("points", "shown"), [(1, [0]), (3, [0, 1, 2]), (4, [0, 2, 3]), (5, [0, 2, 4])])
def test_three_points_have_loads_over_time(panels, tmp_path, points, shown):
    loads = [(point, policy, 0, LOAD) for point in range(points) for policy in POLICIES]
    write_report(results(5), study(), loads, tmp_path)
    assert panels["draw_loads"] == [f"load-point-{point}" for point in shown]


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

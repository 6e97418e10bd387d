"""What a reader sees of every kind of figure besides its values: size, panels, strokes, sizes of marks, entries."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from marks import entry_marks, marks_of, size_of
from matplotlib.figure import Figure

from cluster_abm.results.of_studies.arena_pictures import draw_map, draw_regret
from cluster_abm.results.of_studies.calibration_picture import Slice, draw_calibration
from cluster_abm.results.of_studies.fitting_picture import LogAndModel as FitCurve
from cluster_abm.results.of_studies.fitting_picture import draw_fit
from cluster_abm.results.of_studies.planning_picture import Ceiling, draw_plan
from cluster_abm.results.of_studies.sensitivity_picture import draw_indices
from cluster_abm.results.of_studies.study_axes import lay_out
from cluster_abm.results.of_studies.study_grid import Looks
from cluster_abm.results.of_studies.study_pictures import (
    draw_breakdowns,
    draw_differences,
    draw_distributions,
    draw_lines,
    draw_loads,
)
from cluster_abm.results.of_studies.tuning_picture import draw_search
from cluster_abm.results.of_studies.validation_picture import draw_validation
from cluster_abm.results.pictures import Curve, draw_comparison, draw_reproduction, draw_run
from cluster_abm.results.stacked import draw_stacked

PARTS = ["cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked"]


def comparison(*names):
    of_cpu = {f"breakdown_ms.{part}": 10.0 if part == "cpu" else 0.0 for part in PARTS}
    rows = [{"policy": name, "seed": seed, "mean_slowdown": 2.0 + seed} | of_cpu for name in names for seed in (1, 2)]
    return draw_comparison, pd.DataFrame(rows), dict.fromkeys(names, (3.5, (3.0, 4.0)))


def run():
    table = pd.DataFrame({"time_ms": [10.0, 10.0, 20.0, 20.0], "node": [0, 1, 0, 1], "tasks": [1, 2, 3, 4],
                          "cpu_busy_ms": [5.0] * 4, "disk_busy_ms": [2.0] * 4})  # fmt: skip
    return draw_run, table, np.array([1.0, 2.0, 4.0])


def reproduction(*names):
    curves = [Curve(name, name, [1.0, 2.0], [3.0, 4.0], [3.5, 4.5], [(3.0, 4.0), (4.0, 5.0)]) for name in names]
    return draw_reproduction, "load", "slowdown", curves


def parts(*names):
    return draw_stacked, "life [s]", pd.DataFrame({"CPU": 2.0, "queuing": 1.0, "I/O": 3.0}, index=list(names))


def estimates(points, names):
    return pd.DataFrame([
        {"point": point, "policy": name, "mean": 2.0, "low": 1.0, "high": 3.0, "significant": point > 0}
        for point in points.index for name in names
    ])  # fmt: skip


def study(draw, loads, nodes=(4,), names=("none", "iolb"), more=()):
    """A panel for each number of nodes, with a point for each load."""
    points = pd.DataFrame([(load, count) for count in nodes for load in loads],
                          columns=["workload.utilisation", "cluster.nodes"])  # fmt: skip
    return draw, "mean_slowdown", estimates(points, names), lay_out(points), Looks(list(names)), *more


def named():
    """Two points that are no numbers."""
    points = pd.DataFrame({"interconnect.kind": ["grid", "ring"]})
    return draw_lines, "mean_slowdown", estimates(points, ["none", "iolb"]), lay_out(points), Looks(["none", "iolb"])


def distributions(panels):
    return draw_distributions, [("a point", {"none": list(np.linspace(1, 5, 101))})] * panels, Looks(["none"])


def breakdowns(*names):
    return draw_breakdowns, [("a point", pd.DataFrame(dict.fromkeys(PARTS, 1000.0), index=list(names)))] * 2


def loads(count):
    one = {"time_ms": [10.0, 20.0], "tasks": [[1, 2], [3, 4]]}
    return draw_loads, {f"mine-{number}": one for number in range(count)}


def indices(*factors):
    rows = [("none", factor, index, 0.5, 0.25, 0.75) for factor in factors for index in ("total", "first_order")]
    table = pd.DataFrame(rows, columns=["policy", "factor", "index", "value", "low", "high"])
    return draw_indices, "mean_slowdown", table, ["none"], ("total", "first_order")


def search(keys):
    names = [f"policy.k{number}" for number in range(keys)]
    table = pd.DataFrame({"candidate": range(4), "state": ["finished", "finished", "stopped", "stopped"],
                          "ratio": [1.0, 0.5, 1.2, 9.0]} | {name: [1.0, 2.0, 3.0, 4.0] for name in names})  # fmt: skip
    return draw_search, "ratio", table, dict.fromkeys(names, False), 1


def regret(count):
    names = [f"mine-{number}" for number in range(count)]
    table = pd.DataFrame({"policy": names, "regret": 0.5, "low": 0.4, "high": 0.75, "worst": 2.0})
    return draw_regret, table, "mean wait", ["mine-0"]


def arena(factors, policies=2):
    regimes = pd.DataFrame({f"f{number}": range(policies) for number in range(factors)} | {"load": range(policies)})
    names = ["none", "iolb", *(f"mine-{number}" for number in range(policies))]
    best = {number: (names[number], number == 0) for number in range(policies)}
    return draw_map, regimes, best, [(f"f{n}", "words", False) for n in range(factors)], ("load", "load")


def plan(needs):
    table = pd.DataFrame({"policy": "none", "cluster.nodes": [4, 8], "mean_slowdown": [4.0, 2.0],
                          "mean_slowdown low": [3.0, 1.0], "mean_slowdown high": [5.0, 3.0]})  # fmt: skip
    need = Ceiling("mean_slowdown", 3.0, "mean_slowdown<=3")
    return draw_plan, "cluster.nodes", table, [need] * needs, {"none": (6.0, 5.0, 7.0)}


def fit(columns):
    curve = FitCurve(*(np.array([one, 2 * one]) for one in (1.0, 2.0, 3.0, 1.0, 4.0)))
    values = {f"c{number}": (np.array([1.0, 2.0]), np.array([1.0, 3.0])) for number in range(columns)}
    return draw_fit, values, curve, curve, ("hours", "hour", "rate"), [("a pair", 0.5, 0.4, 0.3, 0.6)]


def calibration(keys):
    rows = pd.DataFrame({"use": ["fit", "held-out"], "observed": [1.0, 2.0], "predicted": [1.0, 2.0]})
    one = Slice(np.array([1.0, 2.0]), np.array([0.1, 0.2]), 1.2, 1.1, 1.5, False)
    return draw_calibration, rows, "ms", {f"cluster.k{number}": one for number in range(keys)}


def validation():
    table = pd.DataFrame(
        {"part": "cpu", "cores": [1, 2, 4, 8], "measured_ms": 2.0, "predicted_ms": [1.0, 2.0, 3.0, 4.0]}
    )
    return draw_validation, table, {}


FIGURES = {
    "comparison": lambda: comparison("none", "iolb"), "run": run,
    "reproduction": lambda: reproduction("none", "iolb"), "a series": lambda: reproduction("none"),
    "parts": lambda: parts("a", "b"),
    "lines": lambda: study(draw_lines, [0.5, 0.7]), "named": named,
    "differences": lambda: study(draw_differences, [0.5, 0.7], more=("random",)),
    "distributions": lambda: distributions(1), "breakdowns": lambda: breakdowns("none"), "loads": lambda: loads(1),
    "indices": lambda: indices("cluster.nodes"), "search": lambda: search(1), "regret": lambda: regret(2),
    "map": lambda: arena(1), "plan": lambda: plan(1), "fit": lambda: fit(1), "calibration": lambda: calibration(1),
    "validation": validation,
}  # fmt: skip


class Look(NamedTuple):
    """The panels of a figure, without the spines, and the marks beside the entries of its legends.

    A cap of an interval is twice as long as it reaches to each side.
    """

    panels: list[list[str]]
    entries: list[list[str]]


# An interval of a bar or of a point: the mean at it, unseen, then its line and the two caps.
PART_OF_A_BAR = "bar 0.7 high, edge 0.4"
BAND, STROKE = "band, edge 0, alpha 0.2", "strokes 1.6, alpha 0.8"
ALL_PARTS = ["", ", ///", ", xxx", "", ", \\\\\\", ", ooo", ", ---", ", +++"]

LOOKS = {
    "comparison": Look(
        [
            # Of each policy: its bar, and its interval with caps of 4.
            ["bar 0.7 high", "line 1.2 -, layer 2.1", "strokes 1.2", "2 x | 8 of 1"] * 2,
            [f"2 x {PART_OF_A_BAR}"],
            # The line of equal slowdowns is below the dots.
            ["2 x points 34, edge 0.5", "line 1 -, layer 0"],
        ],
        [["bar 7 high, edge 0.4"]],
    ),
    "run": Look(
        [
            ["steps 1.6 --", "steps 1.6 -"],
            ["filled steps 0 solid, alpha 0.2", "steps 1.6 solid"],
            ["AxesImage"],
            ["line 1.6 -"],
        ],
        [["line 1.6 --", "line 1.6 -"], ["bar 6.3 high, alpha 0.2", "line 1.6 -"]],
    ),
    # Where all are together the first series is the widest and shines through; alone each is as thin as the last one.
    "reproduction": Look(
        [
            ["line 5.3 -, o 12, alpha 0.7", "line 2.5 --, o 12 open, alpha 0.7",
             "line 1.3 -, s 5", "line 1 --, s 5 open"],
            ["strokes 5, alpha 0.3", "line 1.3 -, o 5", "line 1 --, o 5 open"],
            ["strokes 5, alpha 0.3", "line 1.3 -, s 5", "line 1 --, s 5 open"],
        ],
        [["line 1.5 -, o 6", "line 1.5 -, s 6", "line 1.5 -, o 5", "line 1.5 --, o 5 open", "| 14 of 5, alpha 0.3"]],
    ),
    "a series": Look(
        [["strokes 5, alpha 0.3", "line 1.3 -, o 5", "line 1 --, o 5 open"]],
        [["line 1.5 -, o 6", "line 1.5 -, o 5", "line 1.5 --, o 5 open", "| 14 of 5, alpha 0.3"]],
    ),
    "parts": Look(
        [[f"2 x {PART_OF_A_BAR}", f"2 x {PART_OF_A_BAR}, ///", f"2 x {PART_OF_A_BAR}, xxx"]],
        [["bar 7 high, edge 0.4", "bar 7 high, edge 0.4, ///", "bar 7 high, edge 0.4, xxx"]],
    ),
    # Bands have no edge, and lie below all lines.
    "lines": Look(
        [[BAND, "line 1.7 -, o 6, layer 3", BAND, "line 1.7 --, s 6, layer 3"]],
        [["line 1.5 -, o 6", "line 1.5 --, s 6", "line 8 -, alpha 0.3"]],
    ),
    "named": Look([[STROKE, "o 6, layer 3", STROKE, "s 6, layer 3"]], [["o 6", "s 6", "| 12 of 1.6"]]),
    # The line of 0 is above the bands; marks are above all lines.
    "differences": Look(
        [
            [
                "line 1.2 -, layer 1",
                *(BAND, "line 1.7 -, layer 3", "o 6, layer 4", "o 6 open, layer 4"),
                *(BAND, "line 1.7 --, layer 3", "s 6, layer 4", "s 6 open, layer 4"),
            ]
        ],
        [["line 1.5 -, o 6", "line 1.5 --, s 6", "line 8 -, alpha 0.3", "o 6", "o 6 open"]],
    ),
    "distributions": Look([["line 1.6 -, o 5"]], [["line 1.5 -, o 6"]]),
    "breakdowns": Look(
        [[f"bar 0.72 high, edge 0.4{hatch}" for hatch in ALL_PARTS]] * 2,
        [[f"bar 7 high, edge 0.4{hatch}" for hatch in ALL_PARTS]],
    ),
    "loads": Look([["mesh"]], []),
    "indices": Look(
        [["strokes 1.8, alpha 0.8", "o 6", "strokes 1.8, alpha 0.8", "D 6 open", "line 1 -, layer 0"]],
        [["o 6", "D 6 open", "line 1.8 -"]],
    ),
    # The best and the defaults are larger than all others; the line of 1 is below them.
    "search": Look(
        [["points 22, edge 1", "points 26, edge 1.5", "points 34, edge 1", "points 170, edge 1", "points 48, edge 1",
          "line 0.8 -, layer 0"]],
        [["points 22, edge 1", "points 26, edge 1.5", "points 34, edge 1", "points 170, edge 1", "points 48, edge 1"]],
    ),
    "regret": Look(
        [["bar 0.7 high, edge 0.4, ///", "bar 0.7 high", "strokes 1", "2 x | 4 of 1", "x 5 of 1"]],
        [["bar 6.3 high", "bar 6.3 high, edge 0.4, ///", "x 6 of 1"]],
    ),
    # A regime without a significant best policy is open.
    "map": Look([["o 7", "s 7 open"]], [["o 6", "s 6", "o 6", "o 6 open"]]),
    "plan": Look(
        [["line 1.3 -, o 4, layer 2.1", "strokes 1.3", "2 x _ 4", "line 1 :", "bar 1 high, edge 0, alpha 0.1",
          "line 1.2 --, layer 0"]],
        [["strokes 1.3", "line 1.2 --", "line 1 :"]],
    ),
    "fit": Look(
        [
            ["line 1.5 -", "line 1.5 --"],
            ["band, edge 1", "line 1.5 --, s 4", "line 1.5 -, o 4", "line 0.8 :"],
            ["band, edge 1", "line 1.5 --", "line 1.5 -"],
            ["line 6 -", "s 5", "o 5", "line 0.8 -"],
        ],
        [["bar 7 high, edge 1", "line 1.5 --, s 4", "line 1.5 -, o 4"]],
    ),
    # Points shine through, where many lie over each other.
    "calibration": Look(
        [
            ["2 x points 22, edge 1, alpha 0.75", "line 1 -"],
            ["line 1.3 -, o 4", "bar 1 high, edge 0, layer 0", "line 1.3 --"],
        ],
        [["points 22, edge 1, alpha 0.75"] * 2 + ["line 1 -"], ["bar 6.3 high, edge 0", "line 1.3 --"]],
    ),
    "validation": Look(
        [["4 x points 16, edge 0, alpha 0.55", "line 0.9 -, layer 0"], []],
        [["points 16, edge 0, alpha 0.55"] * 4 + ["line 0.9 -"]],
    ),
}  # fmt: skip


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """A figure of FIGURES, or of another function that makes one; it is not written."""
    found = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path, **_: (found.append(self), Path(path).touch()))

    def of(make):
        draw, *rest = make()
        draw(tmp_path / "a.png", "a title", *rest)
        return found[-1]

    return of


def legends(figure):
    return [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]


def seen(figure):
    """Its panels, bars of colours apart."""
    return [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != "<colorbar>"]


def check_letters_and_grids(figure):
    """All figures have titles, grids and legends of one look."""
    assert figure._suptitle.get_fontsize() == 13
    for axes in seen(figure):
        assert axes._left_title.get_fontsize() == 11
        grid = [line for axis in (axes.xaxis, axes.yaxis) for line in axis.get_gridlines() if line.get_visible()]
        assert {(line.get_alpha(), line.get_linewidth()) for line in grid} <= {(0.3, 0.6)}
    for legend in legends(figure):
        assert not legend.get_frame_on()
        # Inside a panel a legend is a little smaller than below the picture.
        assert {text.get_fontsize() for text in legend.get_texts()} == {10 if legend in figure.legends else 9}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIGURES)
def test_marks_have_their_strokes_and_sizes_in_panels_and_legends(drawn, kind):
    figure = drawn(FIGURES[kind])
    check_letters_and_grids(figure)
    assert [marks_of(axes) for axes in seen(figure)] == LOOKS[kind].panels
    assert [entry_marks(legend) for legend in legends(figure)] == LOOKS[kind].entries


# How many: of series, panels or rows. Size: width and height [inches]; rows and columns of panels; how many are seen.
SIZES = [
    # Four tenths of an inch a policy, from three on.
    ("comparison of 2", lambda: comparison("none", "iolb"), (12, 3.46, 1, 3, 3)),
    ("comparison of 5", lambda: comparison(*"abcde"), (12, 4.3, 1, 3, 3)),
    ("run", run, (12, 7.2, 2, 2, 4)),
    # Panels of 3.9 x 3.6 inches and 1.3 for title and legend; a single one is 7 wide. All series together are one more.
    ("1 series", lambda: reproduction("none"), (7, 4.9, 1, 1, 1)),
    ("2 series", lambda: reproduction("none", "iolb"), (11.7, 4.9, 1, 3, 3)),
    ("3 series", lambda: reproduction(*"abc"), (7.8, 8.5, 2, 2, 4)),
    ("4 series", lambda: reproduction(*"abcd"), (11.7, 8.5, 2, 3, 5)),
    ("parts of 2", lambda: parts("a", "b"), (9, 2.8, 1, 1, 1)),
    ("parts of 4", lambda: parts(*"abcd"), (9, 3.7, 1, 1, 1)),
    # Panels of 4.1 x 3.3 inches and 1.2 for title and legend; a single one is 7.5 x 4.2, and less high if it has no x.
    ("1 of lines", lambda: study(draw_lines, [0.5, 0.7]), (7.5, 5.4, 1, 1, 1)),
    ("2 of lines", lambda: study(draw_lines, [0.5, 0.6, 0.7], [4, 8]), (8.2, 4.5, 1, 2, 2)),
    ("4 of lines", lambda: study(draw_lines, [0.1, 0.2, 0.3, 0.4, 0.5], [2, 4, 6, 8]), (8.2, 7.8, 2, 2, 4)),
    ("2 of differences", lambda: study(draw_differences, [0.5, 0.6, 0.7], [4, 8], more=("none",)), (8.2, 4.5, 1, 2, 2)),
    ("1 distribution", lambda: distributions(1), (7.5, 4.5, 1, 1, 1)),
    ("5 distributions", lambda: distributions(5), (12.3, 7.8, 2, 3, 5)),
    ("3 loads", lambda: loads(3), (12.3, 4.5, 1, 3, 3)),
    ("4 loads", lambda: loads(4), (8.2, 7.8, 2, 2, 4)),
    # Rows of panels as high as their policies need, 0.4 inches each from three on, and 0.9; 1.2 for the rest.
    ("breakdowns of 3", lambda: breakdowns(*"abc"), (8.2, 3.3, 1, 2, 2)),
    ("breakdowns of 5", lambda: breakdowns(*"abcde"), (8.2, 4.1, 1, 2, 2)),
    # 0.45 inches a factor, and 2.5.
    ("1 factor", lambda: indices("cluster.nodes"), (7.5, 2.95, 1, 1, 1)),
    ("3 factors", lambda: indices("cluster.nodes", "run.a", "run.b"), (7.5, 3.85, 1, 1, 1)),
    # Panels of 4.3 x 3.6 inches, three in a row.
    ("search of 1 key", lambda: search(1), (4.9, 4.5, 1, 1, 1)),
    ("search of 4 keys", lambda: search(4), (13.5, 8.1, 2, 3, 4)),
    # A quarter of an inch a policy.
    ("regret of 2", lambda: regret(2), (10, 2.48, 1, 1, 1)),
    ("regret of 10", lambda: regret(10), (10, 4.4, 1, 1, 1)),
    # Four panels in a row, 3.3 inches high.
    ("map of 1 factor", lambda: arena(1), (14, 4.2, 1, 4, 1)),
    ("map of 5 factors", lambda: arena(5), (14, 7.5, 2, 4, 5)),
    # 6.2 inches a need, and 2 for the numbers.
    ("1 need", lambda: plan(1), (8.2, 5.4, 1, 1, 1)),
    ("2 needs", lambda: plan(2), (14.4, 5.4, 1, 2, 2)),
    # Three panels in a row, 3.5 inches high; three of them for bursts, the course and correlations.
    ("fit of 1 column", lambda: fit(1), (13.2, 7.7, 2, 3, 4)),
    ("fit of 4 columns", lambda: fit(4), (13.2, 11.2, 3, 3, 7)),
    # Panels of 4.6 x 4 inches, three in a row; one of them for the rows.
    ("calibration of no key", lambda: calibration(0), (5, 4.6, 1, 1, 1)),
    ("calibration of 1 key", lambda: calibration(1), (9.6, 4.6, 1, 2, 2)),
    ("calibration of 3 keys", lambda: calibration(3), (14.2, 8.6, 2, 3, 4)),
    ("validation", validation, (10.4, 5.2, 1, 2, 2)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("make", "size"), [pytest.param(make, size, id=name) for name, make, size in SIZES])
def test_a_figure_grows_with_what_it_shows(drawn, make, size):
    assert size_of(drawn(make)) == size


FREE = None
# Ends of both axes of each panel; None: the values with Matplotlib's margins.
ENDS = {
    # Slowdowns up to the largest end of an interval and 5 % more; two policies in the room of three, the first above.
    "comparison": [((0, 4.2), (2, -1)), ((0, 10.5), (2, -1)), (FREE, (2, -1))],
    # 20 ms; a little more than 100 %; the most tasks, 4, and 5 % more; whole nodes; slowdowns of 1 to 4 and a tenth.
    "run": [((0, 20), (0, 105)), ((0, 20), (0, 4.2)), ((0, 20), (-0.5, 1.5)), ((1 / 1.1, 4.4), (0, 1.01))],
    # Points are 6 % of their range from the edges; 0 and all intervals are seen, and 6 % more.
    "reproduction": [((0.94, 2.06), (0, 5.3))] * 3, "a series": [((0.94, 2.06), (0, 5.3))],
    # The sum, 6, has its number at its end.
    "parts": [((0, 6.72), FREE)],
    # Intervals to 3 add 0.4 of the height of 2 at most: 2.8, and 6 % more. Names have one place each.
    "lines": [(FREE, (0, 2.968))], "named": [((-0.5, 1.5), (0, 2.968))], "differences": [(FREE, (0, 2.968))],
    # 99 % of the jobs have a slowdown of at most 4.96, and there is 1.3 times as much room.
    "distributions": [((1, 6.448), (0, 1.01))],
    # Eight parts of a second with their sum behind them; one policy in the room of three.
    "breakdowns": [((0, 9.44), (1.5, -1.5))] * 2,
    "loads": [((0, 20), (-0.5, 1.5))],
    "indices": [(FREE, (-0.6, 0.6))],
    # From 0.5 to 1 with 0.6 of that at each side: 0.2 to 1.3; and a twentieth.
    "search": [(FREE, (0.145, 1.355))],
    # The worst is 200 %: half as much again. Above the first policy there is room for the legend.
    "regret": [((0, 300), (1.6, -2.6))],
    "map": [(FREE, FREE)],
    # The largest value, 4, is below three times the bound.
    "plan": [(FREE, (0, 4.32))],
    "fit": [(FREE, (0, 1.02)), (FREE, FREE), (FREE, (0, FREE)), ((-1, 1), (0.5, -0.5))],
    # From 1 to 2 and a fifth; from 1 to 4 and a little.
    "calibration": [((1 / 1.2, 2.4), (1 / 1.2, 2.4)), (FREE, (0, FREE))],
    "validation": [((0.85, 4.72), (0.85, 4.72)), (FREE, FREE)],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIGURES)
def test_axes_end_where_nothing_more_is_to_be_seen(drawn, kind):
    for axes, wanted in zip(seen(drawn(FIGURES[kind])), ENDS[kind], strict=True):
        for found, ends in zip((axes.get_xlim(), axes.get_ylim()), wanted, strict=True):
            for end, known in zip(found, ends or (FREE, FREE), strict=True):
                assert known is FREE or end == pytest.approx(known)


def test_bars_of_no_length_have_an_axis_up_to_1(drawn):
    (axes,) = drawn(lambda: (draw_stacked, "life [s]", pd.DataFrame({"CPU": [0.0]}, index=["a"]))).axes
    assert axes.get_xlim() == (0, 1)


@pytest.mark.slow
def test_names_have_no_ticks_and_some_labels_are_smaller(drawn):
    def lengths(kind):
        return [axes.yaxis.get_tick_params().get("length") for axes in seen(drawn(FIGURES[kind]))]

    def sizes(kind, which):
        return [{one.get_fontsize() for one in getattr(axes, f"get_{which}ticklabels")()} for axes in
                seen(drawn(FIGURES[kind]))]  # fmt: skip

    assert [lengths(kind) for kind in ("comparison", "parts", "breakdowns", "indices", "lines")] == [
        [0, 0, 0], [0], [0, 0], [0], [None],
    ]  # fmt: skip
    # Long numbers of logarithmic axes, and names of many policies.
    assert sizes("fit", "x") == [{8}, {8}, {10}, {10}]
    assert sizes("regret", "y") == [{9}]
    # Numbers behind bars.
    assert [{text.get_fontsize() for axes in seen(drawn(FIGURES[kind])) for text in axes.texts} for kind in
            ("comparison", "parts", "breakdowns")] == [{9}, {9}, {9}]  # fmt: skip


@pytest.mark.slow
def test_scales_of_a_calibration_and_a_validation_are_the_same_on_both_axes(drawn):
    rows, _ = drawn(FIGURES["calibration"]).axes
    assert rows.get_aspect() == 1
    measured, _ = drawn(FIGURES["validation"]).axes
    grids = [line.get_visible() for axis in (measured.xaxis, measured.yaxis) for line in axis.get_gridlines()]
    assert grids
    assert all(grids)


def test_panels_of_a_search_have_one_axis_of_ratios(drawn):
    first, second = drawn(lambda: search(2)).axes
    assert first.get_shared_y_axes().joined(first, second)


def test_correlations_are_from_minus_one_to_one_with_a_line_at_0(drawn):
    axes = seen(drawn(FIGURES["fit"]))[3]
    assert axes.get_xticks().tolist() == [-1, -0.5, 0, 0.5, 1]
    assert [*axes.lines[-1].get_xdata()] == [0, 0]


@pytest.mark.slow
def test_more_than_seven_best_policies_share_a_mark(drawn):
    def words(policies):
        return [text.get_text() for text in drawn(lambda: arena(1, policies)).legends[0].get_texts()][:-2]

    assert words(7) == ["none (1)", "iolb (1)", *(f"mine-{number} (1)" for number in range(5))]
    assert words(9) == ["none (1)", "iolb (1)", *(f"mine-{number} (1)" for number in range(5)), "others (2)"]


@pytest.mark.parametrize(("worst", "ticks"), [
    # Up to twice the worst regime: 300 % of 150 %.
    (1.5, ["0", "1", "3", "10", "30", "100", "300"]), (1.49, ["0", "1", "3", "10", "30", "100"]),
    (700.0, ["0", "1", "3", "10", "30", "100", "300", "1,000", "3,000", "10,000", "100,000"]),
])  # fmt: skip
def test_ticks_of_regrets(drawn, worst, ticks):
    def make():
        draw, table, *more = regret(2)
        return draw, table.assign(worst=worst), *more

    (axes,) = drawn(make).axes
    assert [one.get_text() for one in axes.get_xticklabels()] == ticks
    assert axes.get_xticks().tolist() == [float(text.replace(",", "")) for text in ticks]


def test_marks_of_distributions_do_not_cover_each_other(drawn):
    curves = {name: list(np.linspace(1, 5, 101)) for name in ("none", "iolb")}
    panels = [("one", curves), ("other", curves)]
    first, second = drawn(lambda: (draw_distributions, panels, Looks(["none", "iolb"]))).axes
    # Four marks a curve, a quarter of the jobs apart; those of the second policy four percentiles later.
    shown = [list(range(101))[line.get_markevery()] for line in first.lines]
    assert shown == [[5, 30, 55, 80], [9, 34, 59, 84]]
    assert first.get_shared_x_axes().joined(first, second)


def test_panels_of_breakdowns_are_as_high_as_the_longest_needs(drawn):
    tables = [pd.DataFrame(dict.fromkeys(PARTS, 1000.0), index=list(names)) for names in ("abcde", "a")]
    # A part of a hundredth of the longest bar is still seen.
    tables[0]["io"] = 80.0
    figure = drawn(lambda: (draw_breakdowns, [("one", tables[0]), ("other", tables[1])]))
    assert figure.get_size_inches().tolist() == pytest.approx([8.2, 4.1])
    assert len(figure.legends[0].get_texts()) == 8


@pytest.mark.parametrize(("letters", "rotation"), [
    # 7.5 inches have 70 letters, 35 for each of two names with 2 between them: 33 fit.
    (33, 0), (34, 90),
])  # fmt: skip
def test_names_that_do_not_fit_stand_upright(drawn, letters, rotation):
    kinds = [letter * (letters - len("interconnect = ")) for letter in "ab"]
    points = pd.DataFrame({"interconnect.kind": kinds})
    rest = "mean_slowdown", estimates(points, ["none"]), lay_out(points), Looks(["none"])
    (axes,) = drawn(lambda: (draw_lines, *rest)).axes
    assert [(len(one.get_text()), one.get_rotation()) for one in axes.get_xticklabels()] == [(letters, rotation)] * 2


def test_three_policies_of_a_single_point_stand_a_quarter_apart(drawn):
    points = pd.DataFrame(index=[0])
    rest = "mean_slowdown", estimates(points, list("abc")), lay_out(points), Looks(list("abc"))
    (axes,) = drawn(lambda: (draw_lines, *rest)).axes
    assert [one.get_text() for one in axes.get_xticklabels()] == ["a", "b", "c"]
    assert axes.get_xticks().tolist() == [-0.25, 0, 0.25]
    assert axes.get_xlim() == (-0.5, 0.5)


def test_points_have_ticks_of_four_digits(drawn):
    (axes,) = drawn(lambda: study(draw_lines, [0.123456, 0.7])).axes
    assert [one.get_text() for one in axes.get_xticklabels()] == ["0.1235", "0.7"]


def test_loads_have_no_grid_and_one_axis_of_nodes(drawn):
    first, second, bar = drawn(lambda: loads(2)).axes
    assert first.get_shared_y_axes().joined(first, second)
    grid = [line.get_visible() for axes in (first, second) for axis in (axes.xaxis, axes.yaxis)
            for line in axis.get_gridlines()]  # fmt: skip
    assert grid
    assert not any(grid)
    assert bar.get_ylabel() == "tasks on the node"


def test_the_panel_of_parts_of_a_comparison_is_a_quarter_wider(drawn):
    first, *_ = drawn(FIGURES["comparison"]).axes
    assert first.get_gridspec().get_width_ratios() == (1, 1.25, 1)
    assert [(one.get_position()[1], one.get_text()) for one in first.get_yticklabels()] == [(0, "none"), (1, "iolb")]


def test_labels_of_a_reproduction_go_over_several_lines(drawn):
    def labels(x, y):
        draw, _, _, curves = reproduction("none")
        x_label, y_label = "a" * 10 + " " + "b" * (x - 11), "a" * 10 + " " + "b" * (y - 11)
        (axes,) = drawn(lambda: (draw, x_label, y_label, curves)).axes
        return axes.get_xlabel().count("\n"), axes.get_ylabel().count("\n")

    # Beside a panel 36 letters have room, below it 52.
    assert (labels(52, 36), labels(53, 37)) == ((0, 0), (1, 1))

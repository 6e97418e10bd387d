"""What pictures of a search, a calibration, a fit, a plan and a validation show: marks, scales and words by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from shown import band, colour, dots, names, near, points, scales, strokes, ticks, visible, words

from cluster_abm.results.looks import colour_of
from cluster_abm.results.of_studies.calibration_picture import FIT, HELD_OUT, Slice, draw_calibration
from cluster_abm.results.of_studies.fitting_picture import LOG, MODEL, LogAndModel, draw_fit, in_unit
from cluster_abm.results.of_studies.planning_picture import Ceiling, plan_figure
from cluster_abm.results.of_studies.tuning_picture import BEST, DEFAULTS, FINISHED, STOPPED, draw_search
from cluster_abm.results.of_studies.validation_picture import draw_validation

NONE = math.nan

# Finished ratios are 0.5 to 1.5: 0.6 of that is the room above and below, so the axis holds 0 to 2.1.
SEARCH = pd.DataFrame({
    "candidate": [0, 1, 2, 3, 4, 5], "state": ["finished", "finished", "finished", "stopped", "stopped", "stopped"],
    "ratio": [1.0, 0.5, 1.5, 2.0, 9.0, NONE], "policy.x_ms": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
    "policy.index": ["cpu", "io", "cpu", "queue", "io", "memory"],
})  # fmt: skip
KEYS = {"policy.x_ms": True, "policy.index": False}


def test_candidates_of_a_search_are_marked_by_what_became_of_them(sheet):
    first, second = sheet(draw_search, "a search", "ratio", SEARCH, KEYS, 1).axes
    assert [(one.get_label(), dots(one)) for one in first.collections] == [
        ("stopped early", [[40, 2]]), ("stopped early, beyond the axis", near([[50, 2.1]])),
        ("on all seeds", [[10, 1], [20, 0.5], [30, 1.5]]), ("the best", [[20, 0.5]]), ("the defaults", [[10, 1]]),
    ]  # fmt: skip
    # Choices stand at their places, by name; that of a candidate without a ratio is not shown.
    assert [dots(one) for one in second.collections[:3]] == [
        [[2, 2]], near([[1, 2.1]]), [[0, 1], [1, 0.5], [0, 1.5]],
    ]  # fmt: skip
    assert (ticks(second), second.get_xlim()) == ({0: "cpu", 1: "io", 2: "queue"}, (-0.5, 2.5))
    assert (first.get_xscale(), second.get_xscale()) == ("log", "linear")
    assert (names(first), names(second)) == (("", "x [ms]", "ratio"), ("", "index", ""))
    assert [{y for _, y in points(axes.lines[0])} for axes in (first, second)] == [{1.0}, {1.0}]
    assert first.get_ylim() == pytest.approx((-0.05 * 2.1, 1.05 * 2.1))


def test_candidates_that_were_stopped_are_open_in_the_picture_and_in_the_legend(sheet):
    figure = sheet(draw_search, "a search", "ratio", SEARCH, KEYS, 1)
    open_one, beyond, finished, best, defaults = figure.axes[0].collections
    assert (len(open_one.get_facecolor()), colour(open_one.get_edgecolor()[0])) == (0, STOPPED)
    fills = [colour(one.get_facecolor()[0]) for one in (beyond, finished, best, defaults)]
    assert fills == [STOPPED, FINISHED, BEST, DEFAULTS]
    assert words(figure.legends[0]) == [one.get_label() for one in figure.axes[0].collections]
    assert len({str(one.get_paths()[0].vertices.tolist()) for one in (beyond, finished, best, defaults)}) == 4


@pytest.mark.parametrize(("ratios", "limits"), [
    # The axis always holds 1, and a tenth where all ratios are 1; it never goes below 0.
    ([1.0, 1.0], (0.94, 1.06)), ([2.0, 3.0], (0, 4.2)), ([0.5, 0.75], (0.2, 1.3)),
])  # fmt: skip
def test_ratios_of_candidates_on_all_seeds_are_within_the_axis(sheet, ratios, limits):
    table = pd.DataFrame({"candidate": [1, 2], "state": "finished", "ratio": ratios, "a.flag": [True, False]})
    (axes,) = sheet(draw_search, "a search", "ratio", table, {"a.flag": False}, 2).axes
    pad = 0.05 * (limits[1] - limits[0])
    assert axes.get_ylim() == pytest.approx((limits[0] - pad, limits[1] + pad))
    assert ticks(axes) == {0: "false", 1: "true"}
    assert dots(axes.collections[2]) == [[1, ratios[0]], [0, ratios[1]]]


def test_a_search_has_three_panels_a_row(sheet):
    table = pd.DataFrame({"candidate": [0], "state": "finished", "ratio": [1.0]} | {f"a.k{n}": [1.0] for n in range(4)})
    figure = sheet(draw_search, "a search", "ratio", table, {f"a.k{n}": False for n in range(4)}, 0)
    assert visible(figure) == [True] * 4 + [False] * 2
    assert [axes.get_ylabel() for axes in figure.axes[:4]] == ["ratio", "", "", "ratio"]
    assert [axes.get_xlabel() for axes in figure.axes[:4]] == ["k0", "k1", "k2", "k3"]


ROWS = pd.DataFrame({"use": ["fit", "held-out", "fit", "fit"], "observed": [10.0, 20.0, 30.0, 1.0],
                     "predicted": [12.0, 18.0, 60.0, NONE]})  # fmt: skip
SLICE = Slice(np.array([1.0, 2.0, 4.0]), np.array([0.3, 0.1, 0.2]), 2.5, 1.5, 3.0, True)


@pytest.mark.slow
def test_a_calibration_shows_rows_and_what_each_key_does_to_the_error(sheet):
    slices = {"cluster.disk_seek_ms": SLICE, "cluster.nodes": SLICE._replace(log=False)}
    rows, first, second = sheet(draw_calibration, "a calibration", ROWS, "ms", slices).axes
    assert [(dots(one), colour(one.get_facecolor()[0][:3])) for one in rows.collections] == [
        ([[10, 12], [30, 60]], FIT), ([[20, 18]], HELD_OUT),
    ]  # fmt: skip
    assert words(rows.get_legend()) == ["fit", "held-out", "equal"]
    # From the least of both, 10, to the largest, 60, and a fifth beyond.
    assert points(rows.lines[0]) == near([[10 / 1.2, 10 / 1.2], [72, 72]])
    assert (rows.get_xlim(), rows.get_ylim()) == (pytest.approx((10 / 1.2, 72)),) * 2
    assert (scales(rows), names(rows)) == (("log", "log"), ("rows", "observed [ms]", "predicted [ms]"))
    assert points(first.lines[0]) == near([[1, 30], [2, 10], [4, 20]])
    assert [point[0] for point in points(first.lines[1])] == [2.5, 2.5]
    (interval,) = first.patches
    assert (interval.get_x(), interval.get_width()) == (1.5, 1.5)
    assert words(first.get_legend()) == ["90 % interval", "fitted: 2.5"]
    assert (first.get_ylim()[0], scales(first), scales(second)) == (0, ("log", "linear"), ("linear", "linear"))
    assert names(first)[:2] == ("cluster.disk_seek_ms", "disk seek [ms]")
    assert first.get_ylabel().startswith("rms of log(observed / predicted) [%]")


def test_a_calibration_by_metrics_has_no_unit_and_hides_what_is_left_over(sheet):
    figure = sheet(draw_calibration, "a calibration", ROWS[:1], "", {f"a.k{n}": SLICE for n in range(3)})
    assert visible(figure) == [True] * 4 + [False] * 2
    assert names(figure.axes[0])[1:] == ("observed (each in its unit)", "predicted (each in its unit)")
    assert words(figure.axes[0].get_legend()) == ["fit", "equal"]


def test_a_calibration_without_any_prediction_is_drawn(sheet):
    (axes,) = sheet(draw_calibration, "a calibration", ROWS[3:], "ms", {}).axes
    assert (len(axes.collections), axes.get_xlim()) == (0, pytest.approx((0.1, 10)))


DISPERSIONS = LogAndModel(
    *(np.array(values) for values in ([1.0, 10.0], [2.0, 3.0], [2.5, 4.0], [1.5, 2.0], [3.0, 6.0]))
)
COURSE = LogAndModel(*(np.array(values) for values in ([0.5, 1.5], [1.0, 2.0], [1.5, 2.5], [1.0, 2.0], [2.0, 3.0])))
BARS = [("cpu,\nmemory", 0.5, 0.25, 0.125, 0.75), ("jobs apart", -0.5, 0.0, -0.25, 0.25)]


def fit(sheet, columns, dispersions=DISPERSIONS):
    words_of = ("hours of the day", "hour", "rate")
    return sheet(draw_fit, "a log", columns, dispersions, COURSE, words_of, BARS)


def test_a_column_of_a_log_is_beside_that_of_the_model(sheet):
    axes = fit(sheet, {"cpu_ms": (np.array([1.0, 10.0, 100.0, 1000.0]), np.array([0.0, 50.0]))}).axes[0]
    log, model = axes.lines
    # Of four values the first quarter of the shares is the first one; a zero lies at the least value.
    assert [at for at, share in points(log) if share in (0.12525, 0.37525, 0.62525, 0.87525)] == [1, 10, 100, 1000]
    assert [at for at, share in points(model) if share in (0.25025, 0.75025)] == [1, 50]
    assert [(colour(line.get_color()), line.get_linestyle()) for line in (log, model)] == [(LOG, "-"), (MODEL, "--")]
    assert (scales(axes), axes.get_ylim()) == (("log", "linear"), (0, 1.02))
    assert names(axes) == ("cpu_ms", "CPU time of a task [ms]", "share of the jobs below")


@pytest.mark.slow
def test_columns_that_are_empty_or_all_alike_are_drawn(sheet):
    columns = {"empty": ([1.0, 5.0], []), "one value": ([3.0], [3.0]), "last digits": ([1.0], [1.0 + 1e-12]),
               "zeros": ([0.0], [0.0])}  # fmt: skip
    figure = fit(sheet, {name: (np.array(log), np.array(model)) for name, (log, model) in columns.items()})
    drawn = [(axes.get_xlabel(), axes.get_xscale(), len(axes.lines)) for axes in figure.axes[:4]]
    assert drawn == [("empty", "log", 1), ("one value", "log", 2), ("last digits", "linear", 2), ("zeros", "log", 2)]
    assert visible(figure) == [True] * 7 + [False] * 2


def test_bursts_and_the_course_are_curves_with_the_range_over_seeds(sheet):
    figure = fit(sheet, {})
    bursts, course, _ = figure.axes
    model, log, poisson = bursts.lines
    assert (points(model), points(log)) == ([[1, 2.5], [10, 4]], [[1, 2], [10, 3]])
    assert {y for _, y in points(poisson)} == {1}
    assert band(bursts.collections[0]) == {1: [1.5, 3], 10: [2, 6]}
    assert (scales(bursts), names(bursts)[0]) == (("log", "log"), "bursts (1: Poisson)")
    of_model, of_log = course.lines
    assert (points(of_model), points(of_log)) == ([[0.5, 1.5], [1.5, 2.5]], [[0.5, 1], [1.5, 2]])
    for axes in bursts, course:
        assert [(colour(line.get_color()), line.get_linestyle()) for line in axes.lines[:2]] == [
            (MODEL, "--"), (LOG, "-"),
        ]  # fmt: skip
    assert band(course.collections[0]) == {0.5: [1, 2], 1: [1, 3], 1.5: [2, 3]}
    assert (names(course), course.get_ylim()[0]) == (("hours of the day", "hour", "rate"), 0)
    assert words(figure.legends[0]) == ["model, least to largest over seeds", "model, mean", "log"]


@pytest.mark.slow
def test_counts_over_a_single_window_are_on_a_linear_axis(sheet):
    single = LogAndModel(*(values[:1] for values in DISPERSIONS))
    assert scales(fit(sheet, {}, single).axes[0]) == ("linear", "log")


def test_what_goes_together_is_the_logs_mark_above_the_models(sheet):
    axes = fit(sheet, {}).axes[2]
    assert [points(line) for line in axes.lines[:6]] == near([
        [[0.125, 0.14], [0.75, 0.14]], [[0.25, 0.14]], [[0.5, -0.14]],
        [[-0.25, 1.14], [0.25, 1.14]], [[0, 1.14]], [[-0.5, 0.86]],
    ])  # fmt: skip
    assert [(line.get_marker(), colour(line.get_color())) for line in axes.lines[1:3]] == [("s", MODEL), ("o", LOG)]
    assert ticks(axes, "y") == {0: "cpu,\nmemory", 1: "jobs apart"}
    # Downwards, as rows are read.
    assert (axes.get_ylim(), axes.get_xlim(), axes.get_xlabel()) == ((1.5, -0.5), (-1, 1), "rank correlation")


@pytest.mark.parametrize(("longest_s", "values", "unit"), [(7200.0, 7200.0, "s"), (14_400.0, 4.0, "h")])
def test_times_of_a_fit_are_short(longest_s, values, unit):
    found, name = in_unit(np.array([0.0, longest_s]))
    assert (found.tolist(), name) == ([0, values], unit)


def plan(values, needs=None, nodes=(4, 8, 16), metric="mean_slowdown", means=(9.0, 3.0, 2.0), names_of=("none",)):
    rows = [
        {"policy": name, "cluster.nodes": n, metric: mean, f"{metric} low": mean - 1, f"{metric} high": mean + 2}
        for name in names_of for n, mean in zip(nodes, means, strict=True)
    ]  # fmt: skip
    needs = needs or [Ceiling(metric, 4.0, "slowdown <= 4")]
    return plan_figure("a plan", "cluster.nodes", pd.DataFrame(rows[::-1]), needs, values)


def test_a_plan_shows_the_metric_the_bound_and_where_it_begins_to_be_kept():
    figure = plan({"none": (7.0, 6.0, 8.5)})
    (axes,) = figure.axes
    curve, *others = axes.lines
    assert points(curve) == [[4, 9], [8, 3], [16, 2]]
    assert strokes(axes.collections[0]) == [[[4, 8], [4, 11]], [[8, 2], [8, 5]], [[16, 1], [16, 4]]]
    (begins,) = [line for line in others if line.get_linestyle() == ":"]
    (bound,) = [line for line in others if line.get_linestyle() == "--"]
    assert ([x for x, _ in points(begins)], [y for _, y in points(bound)]) == ([7, 7], [4, 4])
    (interval,) = axes.patches
    assert (interval.get_x(), interval.get_width()) == (6, 2.5)
    assert colour(interval.get_facecolor()[:3]) == colour(begins.get_color()) == colour_of("none")
    # The largest is 9, below three times the bound: 8 % beyond it.
    assert axes.get_ylim() == pytest.approx((0, 1.08 * 9))
    assert names(axes) == ("slowdown <= 4", "nodes", "mean slowdown (wall / isolated time)")
    expected = ["none", "target", "where it begins to be met (band: 95 % interval)"]
    assert words(figure.legends[0]) == expected
    assert [mark.get_linestyle() for mark in figure.legends[0].legend_handles[1:]] == ["--", ":"]


@pytest.mark.parametrize(("value", "interval"), [
    ((7.0, None, 8.0), [4, 4]), ((7.0, 6.0, None), [6, 10]), ((None, None, None), None),
])  # fmt: skip
def test_an_interval_that_leaves_the_range_ends_where_it_ends(value, interval):
    (axes,) = plan({"none": value}).axes
    assert [[one.get_x(), one.get_width()] for one in axes.patches] == ([interval] if interval else [])
    assert len([line for line in axes.lines if line.get_linestyle() == ":"]) == (interval is not None)


@pytest.mark.parametrize(("bound", "means", "top", "label"), [
    (4.0, (30.0, 3.0, 2.0), 12.0, "none"), (40.0, (30.0, 3.0, 2.0), 40.0, "none"),
    (0.0, (30.0, 3.0, 2.0), 30.0, "none"),
    (1.0, (30.0, 9.0, 4.0), 3.0, "none (above the picture)"), (1.0, (30.0, 9.0, 3.0), 3.0, "none"),
])  # fmt: skip
def test_what_is_far_above_its_bound_is_above_the_picture(bound, means, top, label):
    """A plan is seen up to three times the bound, or to the largest value, and always up to the bound."""
    figure = plan({"none": (None, None, None)}, [Ceiling("mean_slowdown", bound, "")], means=means)
    assert figure.axes[0].get_ylim() == pytest.approx((0, 1.08 * top))
    assert words(figure.legends[0])[0] == label


@pytest.mark.parametrize(("nodes", "scale"), [((1, 8, 15), "linear"), ((1, 8, 16), "log"), ((0, 8, 16), "linear")])
def test_a_plan_over_a_wide_range_is_on_a_logarithmic_scale(nodes, scale):
    (axes,) = plan({"none": (None, None, None)}, nodes=nodes).axes
    assert scales(axes) == (scale, "linear")


def test_a_plan_of_times_is_in_seconds_and_of_negative_values_reaches_down_to_them():
    figure = plan({"none": (None, None, None), "jsq": (None, None, None)},
                  [Ceiling("mean_response_ms", 40_000.0, "")], metric="mean_response_ms",
                  means=(60_000.0, 30_000.0, -10_000.0), names_of=("none", "jsq"))  # fmt: skip
    (axes,) = figure.axes
    curves = [line for line in axes.lines if len(points(line)) == 3 and line.get_linestyle() != "None"]
    assert [points(line) for line in curves] == near([[[4, 60], [8, 30], [16, -10]]] * 2)
    assert [line.get_linestyle() for line in curves] == ["-", "--"]
    assert {y for _, y in points(axes.lines[-1])} == {40}
    assert axes.get_ylim() == pytest.approx((-10, 64.8))
    assert (axes.get_ylabel(), words(figure.legends[0])[:2]) == ("mean response [s]", ["none", "jsq"])


VALIDATION = pd.DataFrame({"part": ["cpu"] * 3 + ["mixed"], "cores": [2, 1, 1, 1],
                           "predicted_ms": [100.0, 10.0, 20.0, 5.0],
                           "measured_ms": [110.0, 9.0, 25.0, 5.0]})  # fmt: skip


def test_a_validation_shows_each_response_against_its_prediction(sheet):
    cpu, mixed = sheet(draw_validation, "a machine", VALIDATION, {"cpu": "median error 2 %"}).axes
    assert [dots(one) for one in cpu.collections] == [[[10, 9], [20, 25]], [[100, 110]]]
    assert words(cpu.get_legend()) == ["1 core, 2 responses", "2 cores, 1 responses", "measured = predicted"]
    # From 0.85 times the least, 9, to 1.18 times the largest, 110.
    assert points(cpu.lines[0]) == near([[7.65, 7.65], [129.8, 129.8]])
    assert (cpu.get_xlim(), cpu.get_ylim(), scales(cpu)) == (*[pytest.approx((7.65, 129.8))] * 2, ("log", "log"))
    assert names(cpu) == ("Processes that compute\nmedian error 2 %", "predicted response time [ms]",
                          "measured response time, corrected [ms]")  # fmt: skip
    assert (dots(mixed.collections[0]), names(mixed)[0]) == ([[5, 5]], "Processes that compute and read")
    assert len({colour(one.get_facecolor()[0][:3]) for one in cpu.collections}) == 2


def test_a_part_that_was_not_measured_says_so(sheet):
    cpu, mixed = sheet(draw_validation, "a machine", VALIDATION[:3], {}).axes
    assert [text.get_text() for text in mixed.texts] == ["not measured"]
    assert (len(mixed.collections), len(cpu.texts), len(cpu.collections)) == (0, 0, 2)

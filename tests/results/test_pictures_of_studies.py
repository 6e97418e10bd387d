"""What pictures of a study show: each curve, interval, mark, scale and word by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from shown import band, bars, colour, names, near, points, scales, strokes, ticks, visible, words

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results.colours import BREAKDOWN_COLOURS
from cluster_abm.results.looks import colour_of
from cluster_abm.results.of_studies.sensitivity_picture import draw_indices
from cluster_abm.results.of_studies.study_axes import lay_out
from cluster_abm.results.of_studies.study_grid import Looks
from cluster_abm.results.of_studies.study_pictures import (
    draw_breakdowns,
    draw_differences,
    draw_distributions,
    draw_loads,
    lines_figure,
)

NONE = math.nan
LOOKS = Looks(["none", "jsq"])
GREY, GREEN = colour_of("none"), colour_of("jsq")


def estimates(rows, **more):
    """A row is point, policy, mean, and its interval."""
    table = pd.DataFrame(rows, columns=["point", "policy", "mean", "low", "high"])
    return table.assign(**more)


def along(*values, key="cluster.nodes"):
    return lay_out(pd.DataFrame({key: values}))


ROWS = [(0, "none", 4.0, 3.0, 5.0), (1, "none", 6.0, NONE, NONE), (0, "jsq", 2.0, 1.0, 2.5), (1, "jsq", 3.0, 2.0, 4.0)]


def test_a_metric_is_a_line_with_a_band_for_each_policy():
    # The points come as 8 and 4 nodes, and are drawn by their number.
    figure = lines_figure("a study", "mean_slowdown", estimates(ROWS), along(8, 4), LOOKS)
    (axes,) = figure.axes
    assert [points(line) for line in axes.lines] == near([[[4, 6], [8, 4]], [[4, 3], [8, 2]]])
    assert [colour(line.get_color()) for line in axes.lines] == [GREY, GREEN]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--"]
    assert [line.get_marker() for line in axes.lines] == ["o", "^"]
    # A point without an interval has no band.
    assert [band(one) for one in axes.collections] == [{8: [3, 5]}, {4: [2, 4], 8: [1, 2.5]}]
    assert [colour(one.get_facecolor()[0][:3]) for one in axes.collections] == [GREY, GREEN]
    assert names(axes) == ("", "nodes", "mean slowdown (wall / isolated time)")
    assert (ticks(axes), scales(axes)) == ({4: "4", 8: "8"}, ("linear", "linear"))
    assert words(figure.legends[0]) == ["none", "jsq", "95 % interval"]
    assert [mark.get_linestyle() for mark in figure.legends[0].legend_handles] == ["-", "--", "-"]


def test_policies_without_an_estimate_and_intervals_that_are_not_there_are_in_no_legend():
    rows = [(0, "jsq", 2.0, NONE, NONE), (1, "jsq", 3.0, NONE, NONE)]
    figure = lines_figure("a study", "mean_slowdown", estimates(rows), along(4, 8), LOOKS)
    assert (len(figure.axes[0].lines), words(figure.legends[0])) == (1, ["jsq"])


def test_a_policy_that_lacks_a_point_has_the_others():
    rows = [(0, "jsq", 2.0, NONE, NONE), (2, "jsq", 3.0, NONE, NONE)]
    (axes,) = lines_figure("a study", "mean_slowdown", estimates(rows), along(4, 8, 16), LOOKS).axes
    assert points(axes.lines[0]) == near([[4, 2], [16, 3]])


def test_long_times_are_in_seconds_with_their_intervals():
    rows = [(0, "jsq", 30_000.0, 20_000.0, 40_000.0), (1, "jsq", 60_000.0, 50_000.0, 70_000.0)]
    (axes,) = lines_figure("a study", "mean_response_ms", estimates(rows), along(4, 8), LOOKS).axes
    assert points(axes.lines[0]) == near([[4, 30], [8, 60]])
    assert band(axes.collections[0]) == {4: [20, 40], 8: [50, 70]}
    assert axes.get_ylabel() == "mean response [s]"


def test_a_single_point_has_policies_beside_each_other():
    layout = lay_out(pd.DataFrame(index=[0]))
    figure = lines_figure("a study", "mean_slowdown", estimates(ROWS[::2]), layout, LOOKS)
    (axes,) = figure.axes
    assert [points(line) for line in axes.lines] == near([[[-0.25, 4]], [[0.25, 2]]])
    assert [line.get_linestyle() for line in axes.lines] == ["None", "None"]
    assert [strokes(one) for one in axes.collections] == near([[[[-0.25, 3], [-0.25, 5]]], [[[0.25, 1], [0.25, 2.5]]]])
    assert ticks(axes) == {-0.25: "none", 0.25: "jsq"}
    assert words(figure.legends[0]) == ["95 % interval"]
    assert figure.legends[0].legend_handles[0].get_marker() == "|"


def test_a_single_policy_stands_in_the_middle():
    layout = lay_out(pd.DataFrame(index=[0]))
    (axes,) = lines_figure("a study", "mean_slowdown", estimates(ROWS[:1]), layout, LOOKS).axes
    assert (points(axes.lines[0]), ticks(axes)) == (near([[0, 4]]), {0: "none"})


def test_points_that_are_no_numbers_have_their_names():
    layout = along("star", "ring", key="interconnect.kind")
    figure = lines_figure("a study", "mean_slowdown", estimates(ROWS), layout, LOOKS)
    (axes,) = figure.axes
    assert [points(line) for line in axes.lines] == near([[[-0.25, 4], [0.75, 6]], [[0.25, 2], [1.25, 3]]])
    assert ticks(axes) == {0: "interconnect = star", 1: "interconnect = ring"}
    assert axes.get_xlim() == (-0.5, 1.5)
    assert words(figure.legends[0]) == ["none", "jsq", "95 % interval"]
    assert [mark.get_linestyle() for mark in figure.legends[0].legend_handles] == ["None"] * 3


def test_many_points_of_several_keys_are_scattered_over_each_key():
    """Ten points that share no value: a panel a key, in which policies stand a fifth of a point's room apart."""
    values = np.arange(10.0)
    layout = lay_out(pd.DataFrame({"cluster.nodes": 10 + values, "workload.utilisation": values / 10}))
    rows = [(point, name, 4.0, 3.0, 5.0) for point in range(10) for name in ("none", "jsq")]
    figure = lines_figure("a study", "mean_slowdown", estimates(rows), layout, LOOKS)
    first, second = figure.axes
    assert (first.get_xlabel(), second.get_xlabel()) == ("nodes", "utilisation")
    assert (first.get_ylabel(), second.get_ylabel()) == ("mean slowdown (wall / isolated time)", "")
    assert {line.get_linestyle() for line in first.lines} == {"None"}
    # Of nodes: a fifth of 9, a tenth of it each, from -1/2 to 1/2: 0.09 to either side.
    assert [points(line)[3] for line in first.lines] == near([[12.91, 4], [13.09, 4]])
    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("", "")
    assert ticks(first).keys() != {*range(10, 20)}


def test_small_multiples_are_named_by_what_their_points_share():
    layout = lay_out(pd.DataFrame({"cluster.nodes": [4, 4, 4, 8, 8, 8], "workload.utilisation": [0.3, 0.5, 0.7] * 2}))
    rows = [(point, "jsq", 1.0 + point, NONE, NONE) for point in range(6)]
    first, second = lines_figure("a study", "mean_slowdown", estimates(rows), layout, LOOKS).axes
    assert (names(first)[:2], names(second)[:2]) == (("nodes = 4", "utilisation"), ("nodes = 8", "utilisation"))
    assert points(first.lines[0]) == near([[0.3, 1], [0.5, 2], [0.7, 3]])
    assert points(second.lines[0]) == near([[0.3, 4], [0.5, 5], [0.7, 6]])


@pytest.mark.slow
@pytest.mark.parametrize(("xs", "scale", "given"), [
    ([1, 15], "linear", {1: "1", 15: "15"}), ([1, 16], "log", {1: "1", 16: "16"}),
    ([0, 16], "linear", {0: "0", 16: "16"}),
    ([*range(1, 9)], "linear", {n: str(n) for n in range(1, 9)}),
    ([10, 20, 30, 40, 51, 62, 73, 84, 95], "linear", None),
    ([1, 2, 4, 8, 16, 32, 64, 128], "log", {2**n: str(2**n) for n in range(8)}),
    ([1, 2, 4, 8, 16, 32, 64, 128, 256], "log", None),
])  # fmt: skip
def test_up_to_eight_points_have_a_tick_each_and_a_wide_range_is_logarithmic(xs, scale, given):
    rows = [(point, "jsq", 2.0, NONE, NONE) for point in range(len(xs))]
    (axes,) = lines_figure("a study", "mean_slowdown", estimates(rows), along(*xs), LOOKS).axes
    assert axes.get_xscale() == scale
    assert ticks(axes) == given if given else not {*xs} <= ticks(axes).keys()


@pytest.mark.parametrize(("values", "interval", "scale", "limits", "cut"), [
    # Up to ten times the least.
    ([2.0, 20.0], (1.0, 21.0), "linear", (0, 1.06 * 21), False),
    # Intervals have four tenths of the curves' height: to 28, and 6 % of it.
    ([2.0, 20.0], (1.0, 60.0), "linear", (0, 1.06 * 28), True),
    ([3.0, 60.0], (2.0, 90.0), "log", (2, 90), False),
    ([3.0, 60.0], (1.9, 60.0), "log", (2, 90), True),
    ([3.0, 60.0], (2.0, 91.0), "log", (2, 90), True),
])  # fmt: skip
def test_values_over_a_wide_range_are_on_a_logarithmic_scale(values, interval, scale, limits, cut):
    rows = [(point, "jsq", value, *interval) for point, value in enumerate(values)]
    figure = lines_figure("a study", "mean_slowdown", estimates(rows), along(4, 8), LOOKS)
    assert figure.axes[0].get_yscale() == scale
    assert figure.axes[0].get_ylim() == pytest.approx(limits)
    assert words(figure.legends[0])[-1] == "95 % interval" + (" (cut by the frame: few seeds)" if cut else "")


def test_a_study_without_any_value_says_so():
    rows = [(0, "jsq", NONE, NONE, NONE), (1, "jsq", NONE, NONE, NONE)]
    (axes,) = lines_figure("a study", "mean_slowdown", estimates(rows), along(4, 8), LOOKS).axes
    assert ([text.get_text() for text in axes.texts], axes.get_ylim()) == (["nothing finished"], (0, 1))


def differences(sheet, significant, layout=None):
    rows = [(0, "jsq", -2.0, -3.0, -1.0), (1, "jsq", 1.0, -1.0, 2.0)]
    table = estimates(rows, significant=pd.Series(significant, dtype=object))
    return sheet(draw_differences, "a study", "mean_slowdown", table, layout or along(4, 8), LOOKS, "none")


def test_a_significant_difference_is_a_filled_mark(sheet):
    figure = differences(sheet, [True, False])
    (axes,) = figure.axes
    zero, curve, real, unsure = axes.lines
    assert (points(zero), points(curve)) == (near([[0, 0], [1, 0]]), near([[4, -2], [8, 1]]))
    assert (points(real), points(unsure)) == (near([[4, -2]]), near([[8, 1]]))
    assert [colour(line.get_markerfacecolor()) for line in (real, unsure)] == [GREEN, "#FFFFFF"]
    assert [line.get_linestyle() for line in (curve, real, unsure)] == ["--", "None", "None"]
    assert (curve.get_marker(), real.get_marker()) == ("", "^")
    assert band(axes.collections[0]) == {4: [-3, -1], 8: [-1, 2]}
    assert axes.get_ylabel() == "mean slowdown (wall / isolated time),\nless that of none"
    assert words(figure.legends[0]) == ["jsq", "95 % interval (Holm)", "significant (Holm, 5 %)", "not significant"]
    fills = [colour(mark.get_markerfacecolor()) for mark in figure.legends[0].legend_handles[2:]]
    assert fills == ["#444444", "#FFFFFF"]


def test_ratios_are_drawn_about_1(sheet):
    rows = estimates([(0, "jsq", 0.5, 0.4, 0.8), (1, "jsq", 1.25, 0.9, 2.0)], significant=[True, False], is_ratio=True)
    (axes,) = sheet(draw_differences, "a study", "mean_wait_ms", rows, along(4, 8), LOOKS, "none").axes
    one, curve, *_ = axes.lines
    assert (points(one), points(curve)) == (near([[0, 1], [1, 1]]), near([[4, 0.5], [8, 1.25]]))
    assert axes.get_ylabel() == "mean wait of a job / none's"


def test_where_a_point_has_no_ratio_all_are_differences(sheet):
    rows = estimates([(0, "jsq", 0.5, 0.4, 0.8), (1, "jsq", 1.25, 0.9, 2.0)], significant=True, is_ratio=[True, False])
    (axes,) = sheet(draw_differences, "a study", "mean_slowdown", rows, along(4, 8), LOOKS, "none").axes
    assert axes.get_ylabel().endswith("less that of none")


def test_a_difference_of_one_sample_is_open_and_the_legend_says_so(sheet):
    figure = differences(sheet, [True, None], lay_out(pd.DataFrame({"policy.index": ["cpu", "io"]})))
    assert (points(figure.axes[0].lines[2]), points(figure.axes[0].lines[3])) == (near([[0, -2]]), near([[1, 1]]))
    assert words(figure.legends[0])[-1] == "not significant, or one sample"


def test_differences_of_a_single_point_are_named_on_the_axis(sheet):
    rows = estimates([(0, "jsq", -2.0, -2.5, -1.0)], significant=[True])
    layout = lay_out(pd.DataFrame(index=[0]))
    figure = sheet(draw_differences, "a study", "mean_slowdown", rows, layout, LOOKS, "none")
    assert words(figure.legends[0]) == ["95 % interval (Holm)", "significant (Holm, 5 %)", "not significant"]


QUANTILES = np.concatenate([np.linspace(1, 10.9, 100), [90.0]])


def test_distributions_of_slowdowns_leave_out_the_last_percent(sheet):
    panels = [("load = 1", {"none": QUANTILES, "jsq": QUANTILES + 1}), ("load = 2", {"jsq": QUANTILES})]
    figure = sheet(draw_distributions, "a study", panels, LOOKS)
    first, second = figure.axes
    assert [len(first.lines), len(second.lines)] == [2, 1]
    assert np.array(points(first.lines[1]))[[0, 50, 100]].tolist() == near([[2, 0], [7, 0.5], [91, 1]])
    assert colour(second.lines[0].get_color()) == GREEN
    # From the least to 1.3 times the largest 99th percentile, 11.9.
    assert (first.get_xlim(), first.get_ylim()) == (pytest.approx((1, 1.3 * 11.9)), (0, 1.01))
    assert (first.get_xscale(), second.get_xscale()) == ("log", "log")
    assert names(first) == ("load = 1", "slowdown (wall / isolated time)", "jobs with at most this slowdown [%]")
    assert (names(second)[::2], first.yaxis.get_major_formatter()(0.5)) == (("load = 2", ""), "50")
    assert words(figure.legends[0]) == ["none", "jsq"]


@pytest.mark.parametrize(("curves", "scale", "remarks"), [
    ({}, "linear", ["no job finished"]), ({"jsq": np.zeros(101)}, "linear", []), ({"jsq": np.ones(101)}, "log", []),
])  # fmt: skip
def test_distributions_of_nothing_and_of_one_value(sheet, curves, scale, remarks):
    (axes,) = sheet(draw_distributions, "a study", [("", curves)], LOOKS).axes
    assert ([text.get_text() for text in axes.texts], axes.get_xscale()) == (remarks, scale)
    if scale == "log":
        assert axes.get_xlim() == pytest.approx((1, 1.3))


def parts(**of_policies):
    return pd.DataFrame(of_policies).T.reindex(columns=list(BREAKDOWN)).astype(float)


def test_breakdowns_are_bars_of_parts_with_their_sums(sheet):
    first = parts(none={"cpu": 1000.0, "io_queue": 3000.0}, jsq={"cpu": 1000.0, "paging": 5.0})
    second = parts(none={"cpu": 2000.0}, jsq={})
    figure = sheet(draw_breakdowns, "a study", [("load = 1", first), ("load = 2", second)])
    one, other = figure.axes
    # Paging, of 5 ms, is less than 2 thousandths of the longest bar, 4 s: it is not drawn, but it counts.
    assert bars(one) == near([[0, 1, 0], [0, 1, 1], [1, 3, 0], [1, 0, 1]])
    assert [colour(bar.get_facecolor()) for bar in one.patches[::2]] == [
        BREAKDOWN_COLOURS["cpu"], BREAKDOWN_COLOURS["io_queue"],
    ]  # fmt: skip
    assert [text.get_text() for text in one.texts] == [" 4", " 1"]
    assert [text.get_text() for text in other.texts] == [" 2", " no task finished"]
    assert (ticks(one, "y"), one.get_xlim()) == ({0: "none", 1: "jsq"}, pytest.approx((0, 1.18 * 4)))
    assert one.get_ylim()[0] > one.get_ylim()[1]
    assert (names(one)[:2], names(other)[:2]) == (
        ("load = 1", "mean wall time of a task [s]"), ("load = 2", "mean wall time of a task [s]"),
    )  # fmt: skip
    assert words(figure.legends[0]) == ["CPU", "I/O queue"]


def test_breakdowns_of_nothing_have_no_legend(sheet):
    figure = sheet(draw_breakdowns, "a study", [("", parts(none={}))])
    assert (figure.legends, figure.axes[0].get_xlim()) == ([], (0, 1))


def test_short_times_of_breakdowns_are_in_milliseconds(sheet):
    (axes,) = sheet(draw_breakdowns, "a study", [("", parts(none={"cpu": 100.0}))]).axes
    assert (bars(axes), names(axes)[1]) == (near([[0, 100, 0]]), "mean wall time of a task [ms]")


def test_loads_over_time_are_on_one_scale(sheet):
    loads = {"none": {"time_ms": [10_000, 20_000], "tasks": [[0, 8], [1, 2]]},
             "jsq": {"time_ms": [10_000, 30_000], "tasks": [[3, 3], [4, 4]]}}  # fmt: skip
    figure = sheet(draw_loads, "a study", loads)
    one, other, bar = figure.axes
    assert [axes.collections[0].get_array().tolist() for axes in (one, other)] == [[[0, 8], [1, 2]], [[3, 3], [4, 4]]]
    assert [axes.collections[0].get_clim() for axes in (one, other)] == [pytest.approx((0, 8), abs=1e-9)] * 2
    assert [np.unique(axes.collections[0].get_coordinates()[..., 0]).tolist() for axes in (one, other)] == [
        [0, 10, 20], [0, 10, 30],
    ]  # fmt: skip
    assert np.unique(one.collections[0].get_coordinates()[..., 1]).tolist() == [-0.5, 0.5, 1.5]
    assert (names(one), names(other)) == (("none", "time [s]", "node"), ("jsq", "time [s]", ""))
    assert one.get_xlim() == (0, 30)
    assert bar.get_ylabel() == "tasks on the node"


def test_loads_of_an_idle_cluster_have_a_scale_up_to_1(sheet):
    figure = sheet(draw_loads, "a study", {"none": {"time_ms": [7_200_000 * 2], "tasks": [[0]]}})
    assert figure.axes[0].collections[0].get_clim() == pytest.approx((0, 1), abs=1e-9)
    assert (names(figure.axes[0])[1], figure.axes[0].get_xlim()) == ("time [h]", (0, 4))


INDICES = pd.DataFrame([
    ("none", "cluster.nodes", "total", 0.25, 0.125, 0.5), ("none", "cluster.nodes", "first_order", 0.125, 0.0, 0.25),
    ("none", "policy.index", "total", 0.375, NONE, NONE), ("none", "policy.index", "first_order", 0.5, 0.25, 0.75),
    ("jsq", "cluster.nodes", "total", 0.5, 0.25, 0.625),
], columns=["policy", "factor", "index", "value", "low", "high"])  # fmt: skip


def test_the_factor_that_matters_most_stands_above(sheet):
    """By its largest total index: 0.5, under `jsq`, against 0.375. Totals stand 0.14 above a factor's place."""
    figure = sheet(draw_indices, "what matters", "mean_slowdown", INDICES, ["none", "jsq"], ("total", "first_order"))
    one, other = figure.axes
    assert ticks(one, "y") == {0: "index", 1: "nodes"}
    assert not one.yaxis_inverted()
    total, first, zero = one.lines
    assert points(total) == near([[0.375, 0.14], [0.25, 1.14]])
    assert points(first) == near([[0.5, -0.14], [0.125, 0.86]])
    assert [point[0] for point in points(zero)] == [0, 0]
    assert strokes(one.collections[0])[-1] == near([[0.125, 1.14], [0.5, 1.14]])
    assert strokes(one.collections[1]) == near([[[0.25, -0.14], [0.75, -0.14]], [[0, 0.86], [0.25, 0.86]]])
    assert points(other.lines[0]) == near([[NONE, 0.14], [0.5, 1.14]])
    fills = [colour(line.get_markerfacecolor()) for line in (total, first)]
    assert (fills[1], fills[0] == colour(total.get_color())) == ("#FFFFFF", True)
    assert [colour(one.get_color()) for one in one.collections] == [colour(line.get_color()) for line in (total, first)]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["none", "jsq"]
    assert one.get_xlabel() == "mean slowdown (wall / isolated time):\nshare of the variance"
    assert words(figure.legends[0]) == ["total: with all its interactions", "first order: alone", "95 % interval"]
    marks = figure.legends[0].legend_handles
    assert [colour(mark.get_markerfacecolor()) for mark in marks[:2]] == fills
    assert [mark.get_marker() for mark in marks[:2]] == [total.get_marker(), first.get_marker()]


def test_effects_of_morris_are_no_shares(sheet):
    table = INDICES.replace({"total": "mu_star", "first_order": "sigma"})
    figure = sheet(draw_indices, "what matters", "mean_slowdown", table, ["none"], ("mu_star", "sigma"))
    assert figure.axes[0].get_xlabel().endswith("effect over the factor's range")
    assert words(figure.legends[0])[:2] == [
        "μ*: mean size of the effect", "σ: its spread (interactions, curvature)",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("count", "shown", "hidden"), [(1, 1, 0), (4, 4, 0), (5, 5, 1)])
def test_places_left_over_are_hidden(sheet, count, shown, hidden):
    figure = sheet(draw_distributions, "a study", [(str(place), {}) for place in range(count)], LOOKS)
    assert visible(figure) == [True] * shown + [False] * hidden

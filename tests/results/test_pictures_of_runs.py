"""What pictures of a run, of a comparison and of a reproduction show: each length, mark, scale and word by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from shown import bars, colour, dots, heights, names, near, points, scales, strokes, ticks, visible, words

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results import pictures
from cluster_abm.results.colours import BREAKDOWN_COLOURS
from cluster_abm.results.looks import colour_of
from cluster_abm.results.pictures import Curve, comparison_figure, reproduction_figure, run_figure
from cluster_abm.results.stacked import stacked_figure

NONE = math.nan


def runs(slowdowns, parts=None):
    """Rows of runs: policy to the slowdown of each seed; policy to the milliseconds of each part, of all seeds."""
    parts = parts or {}
    return pd.DataFrame([
        {"policy": policy, "seed": seed, "mean_slowdown": value}
        | {f"breakdown_ms.{part}": parts.get(policy, {"cpu": 1000.0}).get(part, 0.0) for part in BREAKDOWN}
        for policy, values in slowdowns.items() for seed, value in enumerate(values, 1)
    ])  # fmt: skip


def compared(slowdowns, intervals=None, parts=None):
    """The three panels: the means of those slowdowns, with intervals by policy."""
    means = {name: (sum(values) / len(values), (intervals or {}).get(name)) for name, values in slowdowns.items()}
    return comparison_figure("a title", runs(slowdowns, parts), means)


def test_slowdowns_are_bars_with_their_intervals():
    seeds, ends = {"none": [2.0, 6.0], "jsq": [1.0, 3.0]}, {"none": (3.0, 5.5), "jsq": (1.25, 2.5)}
    axes = compared(seeds, ends).axes[0]
    assert bars(axes) == near([[0, 4, 0], [0, 2, 1]])
    assert [colour(bar.get_facecolor()) for bar in axes.patches] == [colour_of("none"), colour_of("jsq")]
    assert [strokes(one)[0] for one in axes.collections] == near([[[3, 0], [5.5, 0]], [[1.25, 1], [2.5, 1]]])
    assert [text.get_text() for text in axes.texts] == ["4 [3, 5.5]", "2 [1.25, 2.5]"]
    assert list(ticks(axes, "y").items()) == [(0.0, "none"), (1.0, "jsq")]
    # The first policy is at the top.
    assert axes.get_ylim()[0] > 1 > 0 > axes.get_ylim()[1]
    assert names(axes)[:2] == ("Slowdown (mean of 2 seeds, 95 % interval)", "mean slowdown (wall / isolated time)")


@pytest.mark.parametrize(("high", "shown"), [(6.0, 6.0), (8.0, 8.0), (100.0, 8.0)])
def test_an_interval_may_leave_the_picture_but_no_bar_shrinks_below_half_of_it(high, shown):
    # The largest mean is 4: intervals are seen up to 8, with a twentieth beyond.
    axes = compared({"none": [2.0, 6.0], "jsq": [1.0, 3.0]}, {"none": (3.0, high)}).axes[0]
    assert axes.get_xlim() == pytest.approx((0, 1.05 * shown))


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "interval", "title"), [
    ([4.0], None, "Slowdown (one seed)"),
    ([4.0, 4.0], None, "Slowdown (one sample: 2 seeds, the same runs)"),
    ([4.0, 4.0], (NONE, NONE), "Slowdown (mean of 2 seeds, 95 % interval)"),
    ([4.0, 4.0], (1.0, math.inf), "Slowdown (mean of 2 seeds, 95 % interval)"),
])  # fmt: skip
def test_where_there_is_no_interval_none_is_drawn(seeds, interval, title):
    axes = compared({"none": seeds}, {"none": interval}).axes[0]
    assert (names(axes)[0], len(axes.collections)) == (title, 0)
    assert [text.get_text() for text in axes.texts] == ["4"]


@pytest.mark.parametrize(("seeds", "text"), [
    ([NONE, NONE], " no job finished"), ([3.0, NONE], " no job finished in 1 of 2 seeds"),
])  # fmt: skip
def test_a_policy_under_which_no_job_finished_has_no_bar(seeds, text):
    axes = compared({"none": seeds, "jsq": [1.0, 3.0]}).axes[0]
    assert bars(axes) == near([[0, 2, 1]])
    assert [one.get_text() for one in axes.texts] == [text, "2"]


def test_where_time_went_is_a_bar_of_parts():
    parts = {"none": {"cpu": 1000.0, "io": 500.0}, "jsq": {"cpu": 800.0, "paging": 200.0},
             "mlb": dict.fromkeys(BREAKDOWN, NONE)}  # fmt: skip
    figure = compared({"none": [2.0], "jsq": [1.0], "mlb": [NONE]}, parts=parts)
    axes = figure.axes[1]
    # Of each part a bar a policy, in seconds, from where the part before ends: CPU, I/O, paging.
    assert bars(axes) == near([[0, 1, 0], [0, 0.8, 1], [0, 0, 2], [1, 0.5, 0], [0.8, 0, 1], [0, 0, 2],
                               [1.5, 0, 0], [0.8, 0.2, 1], [0, 0, 2]])  # fmt: skip
    assert [colour(bar.get_facecolor()) for bar in axes.patches[::3]] == [
        BREAKDOWN_COLOURS[part] for part in ("cpu", "io", "paging")
    ]
    assert words(figure.legends[0]) == ["CPU", "I/O", "paging"]
    assert [(text.get_text(), text.xy) for text in axes.texts] == [(" no task finished", (0, 2.0))]
    assert axes.get_xlim() == pytest.approx((0, 1.05 * 1.5))
    assert names(axes)[:2] == ("Where a task's time went", "mean wall time of a task [s]")


def test_where_time_went_is_in_a_unit_in_which_it_is_short_and_without_any_time_still_drawn():
    axes = compared({"none": [2.0]}, parts={"none": {"cpu": 200.0}}).axes[1]
    assert (bars(axes), names(axes)[1]) == (near([[0, 200, 0]]), "mean wall time of a task [ms]")
    # The longest bar decides.
    axes = compared({"none": [2.0], "jsq": [2.0]}, parts={"none": {"cpu": 200.0}, "jsq": {"cpu": 800.0}}).axes[1]
    assert bars(axes) == near([[0, 0.2, 0], [0, 0.8, 1]])
    figure = compared({"none": [NONE]}, parts={"none": {}})
    assert (bars(figure.axes[1]), figure.axes[1].get_xlim(), figure.legends) == ([], (0, 1), [])


def test_seeds_are_held_against_the_first_policys():
    # A seed has its height in every row: a quarter above and below.
    axes = compared({"none": [2.0, 6.0], "jsq": [1.0, 9.0]}).axes[2]
    assert [dots(one) for one in axes.collections] == near([[[1, -0.25], [1, 0.25]], [[0.5, 0.75], [1.5, 1.25]]])
    assert names(axes)[:2] == ("Seed by seed, on the same jobs", "mean slowdown / none's")
    assert points(axes.lines[0]) == near([[1, 0], [1, 1]])
    assert [colour(one.get_facecolor()) for one in axes.collections] == [colour_of("none"), colour_of("jsq")]


def test_seeds_of_a_single_policy_are_its_slowdowns():
    axes = compared({"jsq": [2.0, 60.0]}).axes[2]
    assert dots(axes.collections[0]) == near([[2, -0.25], [60, 0.25]])
    assert (names(axes)[:2], len(axes.lines), axes.get_xscale()) == (("Seed by seed", "mean slowdown"), 0, "linear")


def test_seeds_are_held_against_the_first_policy_under_which_jobs_finished():
    axes = compared({"none": [NONE, NONE], "jsq": [1.0, NONE], "mlb": [2.0, 8.0]}).axes[2]
    assert names(axes)[1] == "mean slowdown / jsq's"
    found = [x for one in axes.collections for x, _ in one.get_offsets().filled(NONE).tolist()]
    assert found == near([NONE, NONE, 1, NONE, 2, NONE])
    nothing = compared({"none": [NONE], "jsq": [NONE]}).axes[2]
    assert ([text.get_text() for text in nothing.texts], len(nothing.collections)) == (["no job finished"], 0)


@pytest.mark.slow
@pytest.mark.parametrize(("slowdowns", "title", "counts"), [
    ({"none": [3.0, 3.0], "jsq": [2.0, 2.0]}, "One sample, on the same jobs", [1, 1]),
    ({"none": [3.0, 3.0], "jsq": [2.0, 4.0]}, "Seed by seed, on the same jobs", [1, 2]),
    ({"none": [3.0, 4.0], "jsq": [2.0, 2.0]}, "Seed by seed, on the same jobs", [2, 2]),
    ({"none": [3.0], "jsq": [2.0]}, "Seed by seed, on the same jobs", [1, 1]),
    ({"none": [3.0, 3.0]}, "One sample", [1]),
])  # fmt: skip
def test_seeds_that_gave_the_same_run_are_one_dot(slowdowns, title, counts):
    axes = compared(slowdowns).axes[2]
    assert [len(one.get_offsets()) for one in axes.collections] == counts
    assert names(axes)[0] == title
    # A single dot is in the middle of its row.
    assert [dots(one)[0][1] for one in axes.collections] == [
        place if count == 1 else place - 0.25 for place, count in enumerate(counts)
    ]


@pytest.mark.parametrize(("slowest", "scale"), [(10.0, "linear"), (10.5, "log")])
def test_ratios_over_more_than_a_decade_are_on_a_logarithmic_scale(slowest, scale):
    assert compared({"none": [1.0, 1.0], "jsq": [1.0, slowest]}).axes[2].get_xscale() == scale


A = Curve("a", "none", [1, 2, 4], [10.0, 20.0, None], [12.0, 18.0, NONE], [(10.0, 14.0), None, (NONE, NONE)])
B = Curve("b", "jsq", [1, 2, 4], [11.0, 12.0, 13.0], [10.0, 30.0, 25.0], [None, (28.0, 33.0), (20.0, 26.0)])


def reproduced(curves, axis=()):
    return reproduction_figure("a title", "load", "slowdown [1]", curves, axis)


@pytest.mark.slow
def test_published_values_are_dashed_and_open_measured_ones_solid_and_filled():
    figure = reproduced([A, B])
    together, *alone = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["all series", "a", "b"]
    measured, published = near([[1, 12], [2, 18], [4, NONE]]), near([[1, 10], [2, 20], [4, NONE]])
    assert [points(line) for line in together.lines[:2]] == [measured, published]
    assert [points(line) for line in alone[0].lines] == [measured, published]
    assert [points(line) for line in together.lines[2:]] == [points(line) for line in alone[1].lines]
    assert [line.get_linestyle() for line in together.lines] == ["-", "--"] * 2
    grey, green = colour_of("none"), colour_of("jsq")
    assert [colour(line.get_markerfacecolor()) for line in together.lines] == [grey, "#FFFFFF", green, "#FFFFFF"]
    assert [colour(line.get_color()) for line in together.lines] == [grey, grey, green, green]
    assert [line.get_marker() for line in together.lines] == ["o", "o", "^", "^"]
    # Curves that coincide: the later one is thinner. By itself each is as thick as any other.
    assert together.lines[0].get_linewidth() > together.lines[2].get_linewidth()
    assert alone[0].lines[0].get_linewidth() == alone[1].lines[0].get_linewidth()


def test_intervals_are_in_each_series_own_panel():
    together, first, second = reproduced([A, B]).axes
    assert len(together.collections) == 0
    assert strokes(first.collections[0]) == near([[[1, 10], [1, 14]]])
    assert strokes(second.collections[0]) == near([[[2, 28], [2, 33]], [[4, 20], [4, 26]]])
    assert colour(second.collections[0].get_color()) == colour_of("jsq")


def test_a_single_series_is_a_panel_with_its_intervals():
    (axes,) = reproduced([A]).axes
    assert (names(axes), len(axes.collections), len(axes.lines)) == (("a", "load", "slowdown [1]"), 1, 2)


def bare(x, published, measured, ci95=None, name="c"):
    return Curve(name, "none", x, published, measured, [ci95] * len(x))


@pytest.mark.parametrize(("curves", "expected"), [
    ([A, B], ["a", "b", "measured", "published", "95 % interval"]),
    ([bare([1, 2], [None, None], [5.0, 6.0])], ["c", "measured"]),
    # Room for intervals is four tenths of the curves' height above them, and a margin: to 10 and 4, and 6 % of 14.
    ([bare([1], [10.0], [8.0], (5.0, 14.8))], ["c", "measured", "published", "95 % interval"]),
    ([bare([1], [10.0], [8.0], (5.0, 14.9))],
     ["c", "measured", "published", "95 % interval (cut by the frame: few seeds)"]),
])  # fmt: skip
def test_the_legend_of_a_reproduction_says_what_is_drawn(curves, expected):
    assert words(reproduced(curves).legends[0]) == expected


def test_the_legends_marks_are_those_of_the_lines():
    marks = reproduced([A, B]).legends[0].legend_handles
    assert [mark.get_linestyle() for mark in marks] == ["-", "-", "-", "--", "None"]
    assert [mark.get_marker() for mark in marks] == ["o", "^", "o", "o", "|"]
    assert colour(marks[3].get_markerfacecolor()) == "#FFFFFF" != colour(marks[2].get_markerfacecolor())


@pytest.mark.parametrize(("count", "columns", "hidden"), [(1, 1, 0), (2, 3, 0), (3, 2, 0), (4, 3, 1), (5, 3, 0)])
def test_names_of_axes_stand_at_the_left_and_below_also_above_a_hidden_panel(count, columns, hidden):
    """With the panel of all series there are count + 1, in rows of 3, four in two rows of 2."""
    figure = reproduced([bare([1, 2], [5.0, 6.0], [5.0, 6.0], name=str(number)) for number in range(count)])
    shown = count + (count > 1)
    assert visible(figure) == [True] * shown + [False] * hidden
    for number, axes in enumerate(figure.axes[:shown]):
        assert axes.get_ylabel() == ("slowdown [1]" if number % columns == 0 else "")
        is_lowest = number + columns >= shown
        assert axes.get_xlabel() == ("load" if is_lowest else "")
        assert axes.xaxis.get_tick_params()["labelbottom"] == is_lowest


@pytest.mark.parametrize(("x", "expected"), [
    ([4, 1, 2], {1: "1", 2: "2", 4: "4"}), ([0.3], {0.3: "0.3"}), ([1000, 2000], {1000: "1,000", 2000: "2,000"}),
    ([1, 2, 3, 4, 5, 60], {1: "1", 2: "2", 3: "3", 4: "4", 5: "5", 60: "60"}),
])  # fmt: skip
def test_few_whole_numbers_have_a_tick_each(x, expected):
    (axes,) = reproduced([bare(x, [5.0] * len(x), [5.0] * len(x))]).axes
    assert ticks(axes) == expected


@pytest.mark.parametrize("x", [[1, 2, 3, 4, 5, 6, 70], [1, 2.73]])
def test_many_points_and_fractions_have_no_tick_each(x):
    (axes,) = reproduced([bare(x, [5.0] * len(x), [5.0] * len(x))]).axes
    assert not {*x} <= {*ticks(axes)}


def test_named_points_have_their_names_and_are_not_joined():
    (axes,) = reproduced([bare([0, 1], [5.0, 6.0], [5.0, 7.0])], ["lu", "fft"]).axes
    assert ticks(axes) == {0: "lu", 1: "fft"}
    assert [line.get_linestyle() for line in axes.lines] == ["None", "None"]


@pytest.mark.parametrize(("values", "interval", "scale", "limits", "cut"), [
    # Up to 15 times the least value it is linear, from 0.
    ([2.0, 30.0], None, "linear", (0, 31.8), False),
    ([0.0, 31.0], None, "linear", (0, 32.86), False),
    # Beyond, from half the least to a tenth above the largest, or above an interval of at most twice that.
    ([2.0, 40.0], None, "log", (1, 44), False),
    ([2.0, 40.0], (1.0, 60.0), "log", (1, 66), False),
    ([2.0, 40.0], (1.0, 88.0), "log", (1, 88), False),
    ([2.0, 40.0], (1.0, 89.0), "log", (1, 88), True),
    ([2.0, 40.0], (0.9, 40.0), "log", (1, 44), True),
])  # fmt: skip
def test_values_over_a_wide_range_are_on_a_logarithmic_scale(values, interval, scale, limits, cut):
    figure = reproduced([bare([1, 2], [None, None], values, interval)])
    axes = figure.axes[0]
    assert (axes.get_yscale(), axes.get_xscale()) == (scale, "linear")
    assert axes.get_ylim() == pytest.approx(limits)
    assert ("cut by the frame" in " ".join(words(figure.legends[0]))) == cut


def measured(tasks, cpu_ms, disk_ms, every_ms=10_000.0):
    """A nodes_frame: a list a node of values at each time."""
    return pd.DataFrame([
        {"time_ms": every_ms * (place + 1), "node": node, "tasks": tasks[node][place],
         "cpu_busy_ms": cpu_ms[node][place], "disk_busy_ms": disk_ms[node][place]}
        for node in range(len(tasks)) for place in range(len(tasks[node]))
    ])  # fmt: skip


TWO = measured([[0, 6], [2, 1]], [[5e3, 10e3], [1e3, 7e3]], [[0, 0], [2e3, 12e3]])


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "channels", "cpu", "labels", "title"), [
    (1.0, 1, [30.0, 55.0], ["CPU", "disk"], "Utilisation between measurements"),
    (2.0, 1, [15.0, 27.5], ["CPU, all cores", "disk"], "Utilisation"),
    (1.0, 2, [30.0, 55.0], ["CPU", "disk, a channel or more"], "Utilisation"),
])  # fmt: skip
def test_utilisation_is_that_between_measurements_in_the_mean_of_nodes_and_cores(cores, channels, cpu, labels, title):
    """CPUs are busy for 5 and 1 of the first 10 s, 5 and 6 of the second; disks for 0 and 2, and 0 and 10."""
    axes = run_figure("a title", TWO, np.array([1.0]), cores, channels).axes[0]
    assert [heights(patch) for patch in axes.patches] == near([cpu, [10.0, 50.0]])
    assert [patch.get_data().edges.tolist() for patch in axes.patches] == near([[0, 10, 20]] * 2)
    assert (words(axes.get_legend()), axes.get_ylim()) == (labels, (0, 105))
    assert names(axes) == (title, "time [s]", "busy, mean of all nodes [%]")
    looks = [(colour(patch.get_edgecolor()), patch.get_linestyle()) for patch in axes.patches]
    assert looks == [(BREAKDOWN_COLOURS["cpu"], "--"), (BREAKDOWN_COLOURS["io"], "-")]


def test_tasks_of_a_run_are_their_mean_and_the_least_and_most_of_any_node():
    _, axes, heat, _, bar = run_figure("a title", TWO, np.array([1.0])).axes
    ranges, mean = axes.patches
    assert (ranges.get_data().baseline.tolist(), heights(ranges), heights(mean)) == ([0, 1], [2, 6], [1, 3.5])
    assert words(axes.get_legend()) == ["least to most", "mean"]
    assert axes.get_ylim() == pytest.approx((0, 1.05 * 6))
    (image,) = heat.images
    assert np.asarray(image.get_array()).tolist() == [[0, 6], [2, 1]]
    assert (image.get_clim(), bar.get_ylabel()) == (pytest.approx((0, 6), abs=1e-9), "tasks")
    assert (heat.get_xlim(), heat.get_ylim()) == ((0, 20), (-0.5, 1.5))
    assert names(heat) == ("Tasks on each node when measured", "time [s]", "node")
    assert names(axes) == ("Tasks on a node when measured", "time [s]", "tasks")


def test_a_run_of_one_empty_node_has_its_mean_alone_and_a_scale_up_to_1():
    _, axes, heat, *_ = run_figure("a title", measured([[0, 0]], [[0, 0]], [[0, 0]]), np.array([1.0])).axes
    assert (len(axes.patches), axes.get_legend(), axes.get_ylim()) == (1, None, pytest.approx((0, 1.05)))
    assert heat.images[0].get_clim() == pytest.approx((0, 1), abs=1e-9)


def test_of_many_measurements_some_in_a_row_make_one_bin(monkeypatch):
    """Four measurements, an hour apart, in two bins: tasks 0 and 2, then 3 and 5; busy for 1 of 2 hours, then for 2."""
    monkeypatch.setattr(pictures, "MOST_BINS", 2)
    hour = 3_600_000.0
    table = measured([[0, 2, 3, 5]], [[0, hour, 2 * hour, 3 * hour]], [[0] * 4], hour)
    busy, axes, heat, *_ = run_figure("a title", table, np.array([1.0])).axes
    assert heights(busy.patches[0]) == near([50, 100])
    assert busy.patches[0].get_data().edges.tolist() == near([0, 2, 4])
    assert heights(axes.patches[0]) == near([1, 4])
    assert (np.asarray(heat.images[0].get_array()).tolist(), names(heat)[1]) == ([[1, 4]], "time [h]")


def test_the_distribution_of_slowdowns_is_that_of_all_tasks():
    axes = run_figure("a title", TWO, np.array([8.0, 2.0, 4.0, 4.0])).axes[3]
    assert points(axes.lines[0]) == near([[2, 0], [2, 0.25], [4, 0.5], [4, 0.75], [8, 1]])
    assert (axes.get_xscale(), axes.get_xlim(), axes.get_ylim()) == ("log", pytest.approx((2 / 1.1, 8.8)), (0, 1.01))
    assert axes.yaxis.get_major_formatter()(0.25) == "25"
    assert names(axes) == ("Slowdown of 4 finished tasks", "slowdown (wall / isolated time)",
                           "tasks with at most this slowdown [%]")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("count", "sampled", "drawn"), [
    (3, "", [1, 2, 3]), (5, ", 3 of them drawn", [1, 3, 5]),
])  # fmt: skip
def test_of_very_many_slowdowns_some_are_drawn(monkeypatch, count, sampled, drawn):
    monkeypatch.setattr(pictures, "MOST_VALUES", 3)
    axes = run_figure("a title", TWO, np.arange(1.0, count + 1)).axes[3]
    assert names(axes)[0] == f"Slowdown of {count} finished tasks{sampled}"
    assert sorted({x for x, _ in points(axes.lines[0])}) == drawn


def test_a_run_without_finished_tasks_says_so():
    axes = run_figure("a title", TWO, np.array([])).axes[3]
    assert [text.get_text() for text in axes.texts] == ["no task finished"]
    assert (len(axes.lines), names(axes)[0], axes.get_xscale()) == (0, "Slowdown of 0 finished tasks", "linear")


def test_stacked_parts_have_the_looks_of_what_they_mostly_are():
    parts = pd.DataFrame({"CPU": [3.0, 2.0], "I/O": [1.0, 0.0], "anything": [0.0, 2.0]}, index=["a", "b"])
    (axes,) = stacked_figure("a title", "life [s]", parts).axes
    assert [colour(bar.get_facecolor()) for bar in axes.patches[::2]] == [
        BREAKDOWN_COLOURS[part] for part in ("cpu", "io", "blocked")
    ]
    assert [bar.get_hatch() for bar in axes.patches[::2]] == ["", "xxx", "+++"]
    # The first row is at the top; a bar of 4 has room for its number.
    assert (axes.yaxis_inverted(), axes.get_xlim()) == (True, pytest.approx((0, 1.12 * 4)))
    assert scales(axes) == ("linear", "linear")


def test_stacked_parts_of_no_length_are_drawn():
    (axes,) = stacked_figure("a title", "life [s]", pd.DataFrame({"CPU": [0.0]}, index=["a"])).axes
    assert (axes.get_xlim(), [text.get_text() for text in axes.texts]) == ((0, 1), [" 0"])

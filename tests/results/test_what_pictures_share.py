"""What all pictures share: looks, ticks, legends, units, limits; and what a film's pictures show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from shown import colour, dots, near, strokes, ticks, words

from cluster_abm.results import film
from cluster_abm.results.colours import BREAKDOWN_COLOURS, DOWN, LIGHTEST, POLICY_COLOURS, SPARE_COLOURS, colours_of
from cluster_abm.results.film import Picture, Scale, Scene, scale_of, staged
from cluster_abm.results.load_scale import LoadScale, SeenLoads, joint, low_end, round_full, scale_to
from cluster_abm.results.style import (
    columns_of,
    error_bars,
    in_unit_of,
    legend_below,
    legend_beside_title,
    limit,
    log_ticks,
    look_of_part,
    looks_of,
    new_figure,
    plain_ticks,
    remark,
    tidy,
    whole_numbers,
)


@pytest.fixture
def axes():
    return Figure().subplots()


def shown(axes, low, high, which="x"):
    """The texts of the ticks between two ends."""
    getattr(axes, f"set_{which}lim")(low, high)
    return [text for at, text in ticks(axes, which).items() if low <= at <= high]


def test_looks_of_policies_repeat_no_colour_marker_or_line_as_long_as_there_are_others():
    looks = looks_of(["none", "jsq", *(f"mine-{number}" for number in range(7))])
    assert [look["marker"] for look in looks.values()] == ["o", "s", "^", "D", "v", "P", "X", "*", "o"]
    lines = [look["linestyle"] for look in looks.values()]
    assert (lines[:4], lines[6:], len({*map(str, lines)})) == (["-", "--", "-.", ":"], lines[:3], 6)
    assert len({look["color"] for look in looks.values()}) == 9


def test_colours_are_the_policies_own_and_the_next_spare_one_where_it_is_taken():
    assert colours_of(["jsq", "none"]) == [POLICY_COLOURS["jsq"], POLICY_COLOURS["none"]]
    assert colours_of(["jsq", "jsq", "jsq"]) == [POLICY_COLOURS["jsq"], *SPARE_COLOURS[:2]]


@pytest.mark.parametrize("part", [*BREAKDOWN_COLOURS])
def test_parts_of_a_breakdown_have_their_colour_and_queues_another_hatch(part):
    assert look_of_part(part)["color"] == BREAKDOWN_COLOURS[part]
    if f"{part}_queue" in BREAKDOWN_COLOURS:
        assert look_of_part(part)["hatch"] != look_of_part(f"{part}_queue")["hatch"]


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (9, 3)])
def test_up_to_three_panels_stand_in_a_row_and_four_in_two(count, columns):
    assert columns_of(count) == columns


@pytest.mark.parametrize(("unit", "longest", "found"), [
    ("ms", 20_000.0, (1.0, "ms")), ("ms", 20_001.0, (1000.0, "s")), ("ms", 2 * 3.6e6 + 1, (3.6e6, "h")),
    ("ms", float("inf"), (1.0, "ms")), ("MB", 1e9, (1.0, "MB")),
])  # fmt: skip
def test_times_of_an_axis_above_twenty_seconds_are_in_a_longer_unit(unit, longest, found):
    assert in_unit_of(unit, longest) == found


INF = float("inf")


@pytest.mark.parametrize(("values", "ends", "limits", "cut"), [
    # From 0 to the largest, and 6 % more.
    ([1.0, 10.0], [], (0, 10.6), False),
    # Intervals have 0.4 of that: to 14, and 6 % of 14. What is never negative has no room below 0.
    ([1.0, 10.0], [0.0, 12.0], (0, 12.72), False), ([1.0, 10.0], [14.8], (0, 14.84), False),
    ([1.0, 10.0], [14.9], (0, 14.84), True), ([1.0, 10.0], [-1.0, 12.0], (0, 12.72), True),
    # From -10 to 10 an interval has 8 more: down to -18, and 6 % of 28 beyond.
    ([-10.0, 10.0], [-12.0], (-13.32, 11.32), False), ([-10.0, 10.0], [-19.0], (-19.68, 11.68), False),
    ([-10.0, 10.0], [-20.0], (-19.68, 11.68), True),
    # What is not finite is not seen, and all at 0 has a height of 1.
    ([INF, 10.0], [INF, 12.0], (0, 12.72), False), ([0.0], [], (0, 1), False), ([-10.0], [], (-10.6, 0.6), False),
])  # fmt: skip
def test_limits_show_0_and_the_values_and_intervals_as_far_as_there_is_room(axes, values, ends, limits, cut):
    assert limit(axes, np.array(values), np.array(ends)) == cut
    assert axes.get_ylim() == pytest.approx(limits)


def test_a_panel_without_values_says_so(axes):
    assert not limit(axes, np.array([INF]), np.array([1.0]))
    assert ([text.get_text() for text in axes.texts], axes.get_ylim()) == (["nothing finished"], (0, 1))
    assert not axes.xaxis.get_tick_params()["labelbottom"]


def test_a_remark_stands_in_the_middle(axes):
    remark(axes, "no job")
    assert (axes.texts[0].get_position(), axes.texts[0].get_transform()) == ((0.5, 0.5), axes.transAxes)


def test_a_tidy_panel_has_its_names_and_a_grid_across_its_values():
    for grid, seen in (("y", [False, True]), ("x", [True, False])):
        axes = Figure().subplots()
        tidy(axes, "a title", "load", "slowdown", grid=grid)
        assert (axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()) == ("a title", "load", "slowdown")
        assert [axis.get_tick_params().get("gridOn", False) for axis in (axes.xaxis, axes.yaxis)] == seen
        edges = {side: spine.get_visible() for side, spine in axes.spines.items()}
        assert edges == {"left": True, "bottom": True, "top": False, "right": False}
        assert axes.get_axisbelow() is True


def test_ticks_are_round_with_thousands_separators_and_as_many_decimals_each(axes):
    tidy(axes, "", "", "")
    assert shown(axes, 0, 2000)[-1] == "2,000"
    assert {len(text.partition(".")[2]) for text in shown(axes, 0.5, 1.5) if text != "0"} == {1}
    # What has been chosen stays.
    axes.set_xticks([1, 2], ["one", "two"])
    tidy(axes, "", "", "")
    assert ticks(axes) == {1: "one", 2: "two"}


def test_counted_things_have_whole_ticks_alone(axes):
    axes.xaxis.set_major_locator(whole_numbers())
    plain = Figure().subplots()
    plain_ticks(plain)
    for one, whole in (axes, True), (plain, False):
        one.set_xlim(0, 2)
        assert all(float(at).is_integer() for at in one.get_xticks()) == whole


@pytest.mark.parametrize("which", ["x", "y"])
def test_logarithmic_ticks_are_numbers_and_stand_on_their_own_axis(axes, which):
    log_ticks(axes, of_y=which == "y")
    assert (axes.get_xscale(), axes.get_yscale()) == (("log", "linear") if which == "x" else ("linear", "log"))
    assert shown(axes, 1, 1e4, which) == ["1", "10", "100", "1,000", "10,000"]
    # Of up to three decades also 2 and 5; below 15 times more of them; below 4 times even steps.
    assert {"1", "2", "5", "10", "20", "50"} <= {*shown(axes, 1, 90, which)}
    assert {"1", "1.5", "2", "3", "5", "7"} <= {*shown(axes, 1, 10, which)}
    even = np.diff([float(text) for text in shown(axes, 1, 3, which)])
    assert even.tolist() == near([even[0]] * len(even))
    assert {text.get_text() for text in getattr(axes, f"get_{which}minorticklabels")()} <= {""}


def test_a_curve_of_means_has_its_intervals(axes):
    error_bars(axes, *(np.array(values) for values in ([1.0, 2.0], [5.0, 6.0], [4.0, 3.0], [8.0, 7.0])), label="a")
    assert strokes(axes.collections[0]) == [[[1, 4], [1, 8]], [[2, 3], [2, 7]]]
    assert (axes.lines[0].get_marker(), axes.lines[0].get_ydata().tolist()) == ("o", [5, 6])


def legend(labels, given=(), width=4.0):
    """A legend's texts and its columns."""
    figure = Figure(figsize=(width, 3))
    legend_below(figure, [Line2D([], [], label=label) for label in labels], given)
    return [(words(one), one._ncols) for one in figure.legends]


@pytest.mark.parametrize(("labels", "columns"), [
    # Four inches have 44 letters; an entry has those of its text and 7 beside it.
    (["a" * 4] * 4, 4), (["a" * 5] * 4, 3), (["a" * 15] * 2, 2), (["a" * 16] * 2, 1), (["a" * 99], 1),
    # A column is as wide as its longest entry: 22 + 11 + 11 and 23 + 11 + 11.
    (["a" * 15, "a", "a" * 4, "a", "a" * 4], 3), (["a" * 16, "a", "a" * 4, "a", "a" * 4], 2),
])  # fmt: skip
def test_a_legend_has_as_many_columns_as_fit(labels, columns):
    assert legend(labels) == [(labels, columns)]


def test_a_legend_has_the_words_given_and_is_left_out_if_there_are_none():
    assert legend(["a", "b"], ["one", "two"]) == [(["one", "two"], 2)]
    assert legend([]) == []


def test_a_legend_beside_the_title_is_in_its_line_at_the_right(axes):
    axes.plot([0, 1], label="a")
    legend_beside_title(axes)
    # Matplotlib's 4: the legend's lower right corner, at the right end of the panel's top.
    assert (words(axes.get_legend()), axes.get_legend()._loc) == (["a"], 4)


def test_a_long_title_has_lines_of_about_the_same_length():
    lines = new_figure(2.0, 1.0, "aaaa bbbb cccc dddd eeee").get_suptitle().split("\n")
    # Eighteen letters fit: two lines of 14 and 9.
    assert lines == ["aaaa bbbb cccc", "dddd eeee"]


PLACES = [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0)]
SCENE = Scene("a run", PLACES, [(PLACES[0], PLACES[1])])
NOW = Picture(12_345.6, np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([True, False, True]), ())


def test_a_film_shows_loads_time_and_what_is_out():
    figure, (stage,) = staged([SCENE], scale_of("cpu", 2.0), True)
    stage.show(NOW)
    axes, bar = figure.axes
    fills = [colour(one) for one in stage.nodes.to_rgba(NOW.loads)]
    assert [fills[0], fills[2]] == [LIGHTEST.upper(), BREAKDOWN_COLOURS["cpu"].upper()]
    assert dots(stage.nodes) == near([[*place] for place in PLACES])
    assert axes.get_title(loc="left") == "12.3 s"
    (out,) = [one for one in axes.collections if len(one.get_offsets()) == 1]
    assert (dots(out), colour(out.get_edgecolor()[0])) == ([[1, 0.5]], DOWN.upper())
    # The unit square's y points downwards.
    assert axes.yaxis_inverted()
    assert (figure.get_suptitle(), ticks(bar, "y")) == ("a run", {0: "0", 1: "1", 2: "2"})
    stage.show(replace(NOW, up=np.ones(3, bool), now_ms=60_000.0))
    assert (len(out.get_offsets()), axes.get_title(loc="left")) == (0, "60.0 s")


def test_a_film_of_two_runs_has_a_title_each_and_one_scale():
    figure, stages = staged([SCENE, replace(SCENE, title="another")], scale_of("io", 2.0), False)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["a run", "another"]
    assert (figure.get_suptitle(), len(figure.axes), len(stages)) == ("", 3, 2)
    assert figure.axes[2].get_ylabel() == "I/O processing ahead [s]"


def test_classes_have_a_colour_each_and_their_names():
    scale = Scale("load class", ("#000000", "#888888", "#ffffff"), LoadScale(2.0), ("low", "middle", "high"))
    figure, (stage,) = staged([SCENE], scale, False)
    assert [colour(one) for one in stage.nodes.to_rgba([0, 1, 2])] == ["#000000", "#888888", "#FFFFFF"]
    assert ticks(figure.axes[1], "y") == {0: "low", 1: "middle", 2: "high"}


def test_arrows_are_of_the_last_moves_and_no_more_than_sixty():
    _, (stage,) = staged([SCENE], scale_of("cpu", 2.0), False)
    way = [[PLACES[0], PLACES[1]]]
    for count, arrows in ((1, 1), (61, 60), (0, 0)):
        stage.show(replace(NOW, ways=[way] * count))
        assert len(stage._axes.patches) == arrows


@pytest.mark.parametrize(("what", "count", "drawn"), [
    ("wires", film.MOST_WIRES, True), ("wires", film.MOST_WIRES + 1, False),
    ("numbers", film.MOST_NUMBERED, True), ("numbers", film.MOST_NUMBERED + 1, False),
])  # fmt: skip
def test_of_very_many_lines_and_nodes_none_are_drawn_or_numbered(what, count, drawn):
    axes = Figure().subplots()
    places = [(number / count, 0.5) for number in range(count if what == "numbers" else 3)]
    wires = [((0.0, 0.0), (1.0, 1.0))] * (count if what == "wires" else 0)
    film.Stage(axes, Scene("", places, wires), scale_of("cpu", 2.0))
    if what == "wires":
        assert any(isinstance(one, LineCollection) for one in axes.collections) == drawn
    else:
        assert [text.get_text() for text in axes.texts] == ([str(number) for number in range(count)] if drawn else [])


@pytest.mark.parametrize(("index", "per_core", "loads", "words_of", "full", "low"), [
    ("cpu", False, [1.0], "tasks running or ready", 2, 0), ("cpu", True, [1.0], "tasks running or ready per core", 2, 0),
    ("io", False, [0.1], "I/O processing ahead [s]", 1, 0),
    # The largest is above 16 times the median: three decades below 100 it begins, at 1 task at least.
    ("cpu", False, [1.0, 1.0, 90.0], "tasks running or ready", 100, 1),
    ("cpu", True, [1.0, 1.0, 90.0], "tasks running or ready per core", 100, 0.1),
    ("io", True, [0.5, 0.5, 90.0], "I/O processing ahead [s]", 100, 0.1),
])  # fmt: skip
def test_the_scale_of_a_film_is_that_of_its_loads(index, per_core, loads, words_of, full, low):
    scale = scale_of(index, loads, per_core)
    assert (scale.words, scale.loads) == (words_of, LoadScale(pytest.approx(full), pytest.approx(low)))
    assert (scale.colours[0].upper(), scale.colours[-1].upper()) == (LIGHTEST.upper(), BREAKDOWN_COLOURS[index].upper())


def test_an_even_scale_has_its_middle_load_at_the_root_of_a_half():
    scale = LoadScale(8.0)
    assert scale.share([0.0, 2.0, 8.0, 9.0, -1.0]).tolist() == near([0, 0.5, 1, 1, 0])
    assert scale.load([0.0, 0.5, 1.0, 2.0]).tolist() == near([0, 2, 8, 8])
    assert scale.ticks == [0, 4, 8]


def test_a_logarithmic_scale_is_even_below_its_first_power_and_has_as_much_room_for_it_as_for_a_decade():
    scale = LoadScale(100.0, 1.0)
    assert scale.share([0.5, 1.0, 10.0, 100.0]).tolist() == near([1 / 6, 1 / 3, 2 / 3, 1])
    assert scale.load([1 / 6, 1 / 3, 2 / 3, 1]).tolist() == near([0.5, 1, 10, 100])


@pytest.mark.parametrize(("full", "expected"), [
    (50.0, [0, 1, 10, 50]), (20.0, [0, 1, 10, 20]), (18.0, [0, 1, 18]), (100.0, [0, 1, 10, 100]),
])  # fmt: skip
def test_a_power_just_below_the_end_has_no_tick(full, expected):
    assert LoadScale(full, 1.0).ticks == near(expected)


@pytest.mark.parametrize(("full", "least", "low"), [(100.0, 0.01, 0.1), (200.0, 0.01, 1.0), (100.0, 1.0, 1.0)])
def test_a_logarithmic_scale_has_three_decades_at_most(full, least, low):
    assert low_end(full, least) == pytest.approx(low)


@pytest.mark.parametrize(("largest", "wide", "low"), [(90.0, False, 0), (90.0, True, 1), (4.9, True, 0), (9.0, True, 1)])
def test_a_scale_of_less_than_five_times_its_beginning_is_even(largest, wide, low):
    assert scale_to(largest, wide, 1.0, 1.0).low == low


def test_loads_of_nothing_leave_a_scale_as_it_is():
    seen = SeenLoads(2.0, 1.0)
    seen.add(np.zeros(4))
    assert (seen.largest, seen.is_wide, seen.scale) == (0, False, LoadScale(2.0))
    seen.add(np.array([5.0]))
    seen.add(np.array([3.0]))
    assert (seen.largest, seen.scale) == (5, LoadScale(10.0))


@pytest.mark.parametrize(("largest", "wide"), [(25.0, True), (19.0, False)])
def test_a_scale_is_wide_above_sixteen_times_the_median(largest, wide):
    """The median's bin of a tenth of a decade ends at 10^0.1 = 1.26 or below: 16 times that is 20.1."""
    seen = SeenLoads(2.0, 1.0)
    seen.add(np.array([1.1, 1.1, 1.1, largest]))
    assert seen.is_wide == wide


def test_round_ends_and_joint_scales():
    assert round_full(float("nan"), 2.0) == 2
    # Of two logarithmic scales the later beginning counts, up to the farther end.
    assert joint([LoadScale(50.0, 0.1), LoadScale(20.0, 1.0)]) == LoadScale(50.0, 1.0)

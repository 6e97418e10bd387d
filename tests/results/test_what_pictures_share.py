"""What all pictures share: looks, ticks, legends, units, limits."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from shown import near, strokes, ticks, words

from cluster_abm.results.colours import BREAKDOWN_COLOURS
from cluster_abm.results.looks import SPARE_COLOURS, colour_of, colours_of, looks_of
from cluster_abm.results.style import (
    columns_of,
    error_bars,
    in_unit_of,
    legend_below,
    legend_beside_title,
    limit,
    log_ticks,
    look_of_part,
    new_figure,
    remark,
    save_both,
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
    assert [looks[name]["marker"] for name in ("none", "jsq")] == ["o", "^"]
    assert len({look["marker"] for look in looks.values()}) == 9
    lines = [look["linestyle"] for look in looks.values()]
    assert (lines[:4], lines[6:], len({*map(str, lines)})) == (["-", "--", "-.", ":"], lines[:3], 6)
    assert len({look["color"] for look in looks.values()}) == 9


def test_colours_are_the_policies_own_and_the_next_one_where_it_is_taken():
    assert colours_of(["jsq", "none"]) == [colour_of("jsq"), colour_of("none")]
    # Two shades of its own come first: 65 % of it, and it with 25 % of white.
    assert colours_of(["jsq"] * 4) == [colour_of("jsq"), "#004427", "#408E6D", SPARE_COLOURS[0]]


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
    tidy(plain, "", "", "")
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


def test_a_picture_is_written_as_png_and_svg_which_do_not_tell_when(tmp_path):
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot([0, 1])
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        # What stands behind a dot of the name is no ending.
        written = save_both(figure, tmp_path / folder / "mean.ms")
        assert [path.name for path in written] == ["mean.ms.png", "mean.ms.svg"]
    png, svg = ([(tmp_path / folder / f"mean.ms.{end}").read_bytes() for folder in "ab"] for end in ("png", "svg"))
    assert (png[0], svg[0]) == (png[1], svg[1])
    assert png[0].startswith(b"\x89PNG")
    assert not any(word in text for word in (b"Software", b"dc:date", b"Matplotlib v") for text in (png[0], svg[0]))


@pytest.mark.slow
@pytest.mark.parametrize(("high", "between"), [
    # Steps of a logarithmic axis: below 15 times its beginning also 1.5, 3 and 7, below 1,000 times 2 and 5.
    (14.9, {"1.5", "2", "3", "5", "7"}), (15.0, {"2", "5"}), (990.0, {"2", "5"}), (1000.0, set()),
])  # fmt: skip
def test_steps_of_a_logarithmic_axis_by_its_range(high, between):
    axes = Figure(figsize=(12, 4)).subplots()
    log_ticks(axes)
    assert {*shown(axes, 1, high)} & {"1.5", "2", "3", "5", "7"} == between


def test_an_axis_has_seven_steps_at_most():
    axes = Figure(figsize=(12, 4)).subplots()
    tidy(axes, "", "", "")
    assert shown(axes, 0, 7) == [str(number) for number in range(8)]
    assert shown(axes, 0, 8) == ["0", "2", "4", "6", "8"]

"""Positions in charts of lines and in heat maps, by hand from the values and the margins.

A chart of 348 x 143 pixels has 300 x 100 between its axes. Its margins are 40 left, 8 right, 25 above and 18 below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawn import LETTER, number, numbers, read

from cluster_abm.results.load_scale import LoadScale
from viz import charts, colours
from viz.charts import Line
from viz.colours import INDICES

NAN = math.nan
SIZE = (348.0, 143.0)
BLACK = "#000000"


def drawn(values, times_s=None, title="t", size=SIZE, **more):
    times_s = list(range(len(values))) if times_s is None else times_s
    return read(charts.lines(title, times_s, [Line("", BLACK, False, values)], *size, **more))


def strokes(picture, ink=BLACK):
    return [one for one in picture.iter("path") if one.get("stroke") == ink]


def scale_of(picture):
    """The numbers at the vertical axis, upwards: y of the grid line, and text."""
    lines = sorted((numbers(one.get("d")) for one in strokes(picture, colours.LINE)), key=lambda one: -one[1])
    words = sorted((number(one, "y"), one.text) for one in picture.iter("text") if number(one, "x") == 35)[::-1]
    assert [y for y, _ in words] == pytest.approx([y + 3.5 for _, y, _ in lines], abs=0.11)
    # From axis to axis.
    assert {(left, right) for left, _, right in lines} <= {(40, size_of(picture)[0] - 8)}
    return [(y, text) for (_, y, _), (_, text) in zip(lines, words, strict=True)]


def size_of(picture):
    (found,) = picture.iter("svg")
    return numbers(found.get("viewBox"))[2:]


def times_of(picture):
    """The times at the lower edge: x of the mark, text, and anchor of the text."""
    height = size_of(picture)[1]
    marks = [numbers(one.get("d")) for one in strokes(picture, colours.FAINT)]
    words = [one for one in picture.iter("text") if number(one, "y") == height - 4]
    # A mark is a stroke of 3 pixels down from the axis.
    assert {(y, down) for _, y, down in marks} <= {(height - 18, 3)}
    assert [number(one, "x") for one in words] == pytest.approx([x for x, *_ in marks], abs=0.1)
    return [(x, one.text, one.get("text-anchor")) for (x, *_), one in zip(marks, words, strict=True)]


def test_a_line_lies_between_the_axes_by_its_time_and_value():
    (line,) = strokes(drawn([0.0, 5.0, 10.0], [2.0, 3.0, 6.0]))
    # The axis ends at 10, so a pixel is 0.1. The 4 seconds are 300 pixels.
    assert line.get("d") == "M40.0 125.0L115.0 75.0L340.0 25.0"
    assert (line.get("fill"), line.get("stroke-dasharray")) == ("none", None)


@pytest.mark.parametrize(("values", "path"), [
    # A missing value interrupts the line, at the beginning too.
    ([NAN, 10.0, NAN, 5.0, 0.0], "M115.0 25.0M265.0 75.0L340.0 125.0"),
    ([0.0, math.inf, 10.0, 10.0, 10.0], "M40.0 125.0M190.0 25.0L265.0 25.0L340.0 25.0"),
])  # fmt: skip
def test_a_line_is_interrupted_where_a_value_is_missing(values, path):
    (line,) = strokes(drawn(values))
    assert line.get("d") == path


def test_a_value_above_the_given_end_is_cut_at_105_per_cent():
    (line,) = strokes(drawn([50.0, 1000.0], top=100.0))
    assert line.get("d") == "M40.0 75.0L340.0 20.0"


@pytest.mark.parametrize(("values", "top", "words"), [
    ([1.0, 3.5], None, ["0", "2", "4"]), ([1.0], 100.0, ["0", "50", "100"]),
    # The axis ends at 1 if no value is above 0.
    ([NAN, NAN], None, ["0", "0.5", "1"]), ([0.0, 0.0], None, ["0", "0.5", "1"]),
    # Long numbers are in thousands and millions.
    ([19_000.0], None, ["0", "10k", "20k"]), ([18e6], None, ["0", "10M", "20M"]),
    ([1.9e4], 1.8e4, ["0", "9,000", "18k"]),
])  # fmt: skip
def test_a_low_chart_has_three_numbers(values, top, words):
    assert scale_of(drawn(values, top=top)) == [(y, text) for y, text in zip((125, 75, 25), words, strict=True)]


def test_a_high_chart_has_a_mark_at_each_round_value():
    # 170 - 25 - 18 = 127 pixels from 0 to 4.
    found = scale_of(drawn([4.0], size=(348.0, 170.0)))
    assert [text for _, text in found] == ["0", "1", "2", "3", "4"]
    assert [y for y, _ in found] == pytest.approx([152 - 127 * value / 4 for value in range(5)], abs=0.06)
    assert len(scale_of(drawn([4.0], size=(348.0, 169.0)))) == 3


@pytest.mark.parametrize(("last", "width", "found"), [
    # At most one mark per 90 pixels. Texts at the ends stay within the frame.
    (3.0, 348.0, [(40, "0 s", "start"), (240, "2 s", "middle")]),
    (20.0, 348.0, [(40, "0 s", "start"), (190, "10 s", "middle"), (340, "20 s", "end")]),
    # At least two marks.
    (1.0, 100.0, [(40, "0 s", "start"), (92, "1 s", "end")]),
])  # fmt: skip
def test_round_times_are_marked_at_their_positions(last, width, found):
    assert times_of(drawn([1.0, 1.0], [0.0, last], size=(width, 143.0))) == found


def test_a_chart_that_begins_later_has_its_first_round_time_inside():
    times = times_of(drawn([1.0, 1.0], [5.0, 20.0]))
    assert [(text, anchor) for _, text, anchor in times] == [("10 s", "middle"), ("20 s", "end")]
    assert times[0][0] == pytest.approx(40 + 300 / 3)


def test_a_single_time_is_at_the_left_of_an_axis_of_one_second():
    picture = drawn([5.0], [0.0])
    assert strokes(picture)[0].get("d").startswith("M40.0")
    assert [text for _, text, _ in times_of(picture)][::2] == ["0 s", "1 s"]


@pytest.mark.parametrize(("first", "last", "most", "found"), [
    (0, 143, 4, [0, 50, 100]), (0, 150, 4, [0, 50, 100, 150]), (0, 10, 6, [0, 2, 4, 6, 8, 10]),
    (0, 10, 11, [*range(11)]), (3, 3.5, 3, [3, 3.2, 3.4]), (7, 7, 3, [7]), (9, 7, 3, [9]), (1, 19, 2, [10]),
    # 0.1 + 0.2 exceeds 0.3 in its last bit.
    (0, 0.1 + 0.2, 4, [0, 0.1, 0.2, 0.3]),
])  # fmt: skip
def test_round_times_within_a_largest_number(first, last, most, found):
    assert charts.round_times(first, last, most) == found


@pytest.mark.parametrize(("value", "end"), [
    (1.0, 1), (1.01, 1.5), (1.6, 2), (2.5, 3), (3.5, 4), (4.5, 5), (5.5, 6), (6.5, 8), (8.5, 10), (10.0, 10),
    (0.011, 0.015), (-1.0, 1), (0.0, 1),
])  # fmt: skip
def test_an_axis_ends_at_the_next_round_number(value, end):
    assert charts.round_above(value) == pytest.approx(end)


def two(first="A", second="B"):
    lines = [Line(first, "#ff0000", False, [1.0, 1.0]), Line(second, "#0000ff", True, [2.0, 2.0], 2.6)]
    return read(charts.lines("t", [0.0, 1.0], lines, *SIZE))


def test_a_legend_is_at_the_right_of_the_title_with_a_sample_before_each_name():
    picture = two("first", "second")
    words = [one for one in picture.iter("text") if one.text in ("first", "second")]
    words.sort(key=lambda one: number(one, "x"))
    title = next(one for one in picture.iter("text") if one.text == "t")
    assert [one.text for one in words] == ["first", "second"]
    assert {number(one, "y") for one in words} == {number(title, "y")}
    ends = [number(one, "x") + LETTER * len(one.text) for one in words]
    assert 340 - 10 < ends[1] <= 340
    for word, ink, before in zip(words, ("#ff0000", "#0000ff"), (0.0, ends[0]), strict=True):
        sample, _ = sorted(strokes(picture, ink), key=lambda one: "h" not in one.get("d"))
        x, y, length = numbers(sample.get("d"))
        assert before < x < x + length < number(word, "x") < x + length + 8
        # The sample is at half of the height of small letters.
        assert number(word, "y") - 5 < y < number(word, "y")


def test_a_line_and_its_sample_look_alike():
    for ink, width, is_dashed in (("#ff0000", 1.8, False), ("#0000ff", 2.6, True)):
        found = strokes(two(), ink)
        assert len(found) == 2
        assert {number(one, "stroke-width") for one in found} == {width}
        assert {one.get("stroke-dasharray") is not None for one in found} == {is_dashed}


def test_lines_without_a_name_are_in_no_legend():
    picture = two("", "B")
    assert [len(strokes(picture, ink)) for ink in ("#ff0000", "#0000ff")] == [1, 2]


@pytest.mark.parametrize("tip", ["", "what it is"])
def test_a_title_has_a_tip_for_mouse_and_keyboard_where_there_is_one(tip):
    picture = drawn([1.0], title="Busy", tip=tip)
    title = next(one for one in picture.iter("text") if one.text == "Busy")
    assert (title.get("data-tip"), title.get("tabindex"), title.get("data-key")) == (
        (tip, "0", "Busy") if tip else (None, None, None)
    )
    assert (number(title, "x"), next(picture.iter("svg")).get("aria-label")) == (0, "Busy")


def heat(nodes=3, size=(348.0, 138.0), times_s=(0.0, 10.0, 20.0), index="cpu"):
    kind = INDICES[index]
    return read(charts.heat_map("loads", times_s, np.zeros((len(times_s), nodes)), kind, LoadScale(2.0), *size))


def test_a_heat_map_fills_the_room_between_its_axes():
    picture = heat()
    for one in (next(picture.iter("image")), next(picture.iter("rect"))):
        assert number(one, "x", "y", "width", "height") == [40, 20, 300, 100]
    assert next(picture.iter("image")).get("preserveAspectRatio") == "none"
    # Times are at the same x as in the charts of lines.
    assert times_of(picture) == [(40, "0 s", "start"), (190, "10 s", "middle"), (340, "20 s", "end")]


@pytest.mark.parametrize(("height", "words"), [(87.0, ["node"]), (86.0, [])])
def test_a_heat_map_labels_its_first_node_below_and_its_last_above(height, words):
    picture = heat(nodes=17, size=(348.0, height))
    found = sorted((number(one, "y"), one.text) for one in picture.iter("text") if number(one, "x") == 35 and one.text)
    assert [text for _, text in found] == ["16", *words, "0"]
    bottom = height - 18
    # Digits are 8 pixels high: the upper number begins at the upper edge, the lower one stands on the lower edge.
    assert 20 <= found[0][0] - 8 <= 22
    assert found[-1][0] == bottom
    if words:
        assert found[1][0] - 3 == (20 + bottom) / 2


def test_the_title_and_tip_of_a_heat_map():
    title = next(heat(index="io").iter("text"))
    assert (title.text, title.get("data-tip")) == (
        "loads",
        f"Each row is a node, each column a moment; coloured as the map above. {INDICES['io'].tip}",
    )

"""Positions and texts of the legend of a map, by hand from the scale and the order of the parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from drawn import colour_at, mapped, network, number, numbers, of_class, pairs, read, span

from cluster_abm.results.load_scale import LoadScale
from viz import colours
from viz.colours import CLASSES, INDICES
from viz.network import DIGIT, LEAST_MARGIN, legend, legend_height

WIDE, NARROW = 600.0, 400.0


def shown(index="cpu", scale=None, all_up=True, where=None):
    where = where or mapped(network())
    (found,) = of_class(read(legend(where, INDICES[index], scale or LoadScale(2.0), all_up)), "legend")
    return found


def bar(found):
    """The rectangles of the colours: the first group of a legend."""
    return found.find("g").findall("rect")


def rest(found):
    """The elements after the colours in their order, without the strokes of arrows and crosses."""
    return [one for one in found if one.tag != "g" and one.tag != "path"]


def texts(found):
    return [one.text for one in found.iter("text")]


@pytest.mark.parametrize("index", ["cpu", "class"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_legend_begins_at_the_left_margin_in_each_of_its_lines(index, width):
    found = shown(index, where=mapped(network(), width))
    left = number(bar(found)[0], "x")
    assert 0 < left <= LEAST_MARGIN
    if width == NARROW:
        assert span(rest(found)[0])[0] == pytest.approx(left, abs=1)


@pytest.mark.parametrize(("width", "lines"), [(539.0, 2), (540.0, 1)])
@pytest.mark.parametrize("index", ["cpu", "class"])
def test_a_narrow_legend_has_two_lines_and_a_wide_one_has_one(width, lines, index):
    assert legend_height(width) == 24 * lines
    where = mapped(network("star"), width)
    found = shown(index, all_up=False, where=where)
    first, below = number(bar(found)[0], "y"), number(rest(found)[0], "cy")
    assert (below - first > 20) == (lines == 2)
    # In one line the sizes come after the colours.
    if lines == 1:
        ends = [span(one)[1] for one in found.find("g") if one.tag != "path"]
        assert max(ends) < span(rest(found)[0])[0]
    # The legend is within the room below the nodes.
    ys = [number(one, "y" if one.tag in ("rect", "text") else "cy") for one in found.iter() if one.tag in
          ("rect", "text", "circle")]  # fmt: skip
    assert where.height - legend_height(width) <= min(ys) < max(ys) < where.height


@pytest.mark.parametrize(("scale", "words"), [
    # A scale without decades has numbers at half and at its end. Only the last number has a unit.
    (LoadScale(2.0), {0.0: "0", 0.5**0.5: "1", 1.0: "2 tasks"}),
    # Three decades and the range below 1 have a quarter of the bar each.
    (LoadScale(1000.0, 1.0), {0.0: "0", 0.25: "1", 0.5: "10", 0.75: "100", 1.0: "1,000 tasks"}),
])  # fmt: skip
def test_numbers_of_a_bar_are_at_their_loads(scale, words):
    colours_of = shown(scale=scale).find("g")
    left, right = span(colours_of.findall("rect")[0])[0], span(colours_of.findall("rect")[-1])[1]
    marks = sorted(numbers(one.get("d"))[0] for one in colours_of.findall("path"))
    assert marks == pytest.approx([left + share * (right - left) for share in words], abs=0.1)
    found = sorted((number(one, "x"), one.text) for one in colours_of.findall("text"))
    assert [text for _, text in found] == list(words.values())
    # The first number begins at its mark; the others are centred on theirs, without the unit.
    assert found[0][0] == pytest.approx(marks[0], abs=0.1)
    for (x, text), mark in list(zip(found, marks, strict=True))[1:]:
        assert x + DIGIT * len(text.split()[0]) / 2 == pytest.approx(mark, abs=0.1)


def test_a_number_that_would_overlap_the_last_is_left_out_with_its_mark():
    # 1,000 is at 4 / 4.3 of 168 pixels, 12 pixels left of 2,000: they would overlap.
    colours_of = shown(scale=LoadScale(2000.0, 1.0)).find("g")
    assert sorted(texts(colours_of), key=len) == ["0", "1", "10", "100", "2,000 tasks"]
    assert len(colours_of.findall("path")) == 5


def test_numbers_and_marks_are_right_below_the_bar():
    colours_of = shown().find("g")
    top, height = number(colours_of.findall("rect")[0], "y", "height")
    assert {numbers(one.get("d"))[1] for one in colours_of.findall("path")} == {top + height}
    (y,) = {number(one, "y") for one in colours_of.findall("text")}
    # Digits of font size 11 are about 8 pixels high.
    assert top + height + 2 <= y - 8 <= top + height + 6


def test_a_bar_goes_from_the_lightest_colour_to_the_full_one_without_a_gap():
    steps = bar(shown("io"))
    assert all(span(one)[1] == span(other)[0] for one, other in pairwise(steps))
    assert len({(one.get("y"), one.get("width"), one.get("height")) for one in steps}) == 1
    # A step has the colour of its middle.
    for place, one in enumerate(steps):
        share = (place + 0.5) / len(steps)
        assert colours.rgb(one.get("fill")) == pytest.approx(colour_at("io", share), abs=0.51)


def test_each_class_has_a_square_and_its_name():
    found = list(shown("class").find("g"))
    squares, words = found[::2], found[1::2]
    assert [(one.get("fill"), name.text) for one, name in zip(squares, words, strict=True)] == [
        (colour, name) for name, colour in CLASSES
    ]
    assert {one.get("width") == one.get("height") for one in squares} == {True}
    for one, other in pairwise(found):
        assert span(one)[1] + 2 < span(other)[0] < span(one)[1] + 15
    # A name stands beside the middle of its square.
    for one, name in zip(squares, words, strict=True):
        y, height = number(one, "y", "height")
        assert y + height / 2 < number(name, "y") <= y + height


@pytest.mark.parametrize(("kind", "all_up", "words"), [
    ("torus", True, []), ("star", True, ["switch"]), ("torus", False, ["out"]), ("star", False, ["switch", "out"]),
])  # fmt: skip
def test_marks_come_before_their_words_and_do_not_overlap(kind, all_up, words):
    found = shown(all_up=all_up, where=mapped(network(kind)))
    parts = rest(found)
    assert texts(parts_of(found)) == ["more tasks", "moved", *words]
    assert [one.tag for one in parts] == [
        "circle", "circle", "text", "polygon", "text", *{"switch": ["rect", "text"]}.get(words[0] if words else "", []),
        *(["circle", "text"] if "out" in words else []),
    ]  # fmt: skip
    for one, other in pairwise(parts):
        assert span(one)[1] < span(other)[0] <= span(one)[1] + 35
    small, large = parts[:2]
    assert number(small, "r") < number(large, "r")


def parts_of(found):
    """A legend without its colours."""
    found.remove(found.find("g"))
    return found


def test_all_marks_of_a_line_are_centred_at_one_height():
    found = parts_of(shown(all_up=False, where=mapped(network("star"))))
    (y,) = {number(one, "cy") for one in found.iter("circle")}
    (square,) = found.iter("rect")
    assert number(square, "y") + number(square, "height") / 2 == y
    (head,) = found.iter("polygon")
    tip, *base = pairs(head.get("points"))
    assert tip[1] == pytest.approx(y, abs=0.5)
    assert sum(one[1] for one in base) / 2 == pytest.approx(y, abs=0.5)
    # The arrow points to the right, and its line ends within its head.
    assert {one[0] for one in base} == {base[0][0]}
    line = numbers(found.findall("path")[0].get("d"))
    assert line[1] == pytest.approx(y, abs=0.5)
    assert line[0] < base[0][0] <= line[0] + line[2] < tip[0]
    # Letters are about 8 pixels high.
    assert {number(one, "y") - 4 for one in found.iter("text")} == {y}


def test_the_mark_of_a_failed_node_is_a_cross_in_a_circle():
    found = parts_of(shown(all_up=False))
    (circle,) = [one for one in found.iter("circle") if one.get("stroke") == colours.DOWN]
    x, y, radius = number(circle, "cx", "cy", "r")
    (cross,) = [one for one in found.iter("path") if one.get("stroke") == colours.DOWN]
    corners = np.array(pairs(cross.get("d"))) - (x, y)
    assert circle.get("fill") == colours.PAPER
    # Two strokes join the corners of a square, centred within the circle.
    assert corners[[0, 2]] == pytest.approx(-corners[[1, 3]], abs=0.11)
    assert np.hypot(*corners.T).max() < radius
    assert np.abs(corners[0] @ corners[2]) < 0.5


def test_sizes_of_unlike_nodes_are_explained_as_cores():
    where = mapped(network(), cores=[1, 2, 4, 8])
    assert "more cores" in texts(shown(where=where))
    assert "more tasks" in texts(shown())


def test_the_tip_of_a_legend_explains_the_colours():
    colours_of = shown("memory").find("g")
    assert colours_of.get("data-tip") == f"Colours: {INDICES['memory'].tip}"
    # The keyboard reaches it too.
    assert colours_of.get("tabindex") == "0"

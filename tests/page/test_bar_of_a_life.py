"""A job's life as a bar of its parts, with its legend."""

from __future__ import annotations

from itertools import pairwise

import pytest
from drawn import number, numbers, read

from cluster_abm.model.observing.watching import JobLife
from cluster_abm.results.colours import BREAKDOWN_COLOURS
from viz import charts

PARTS = {"cpu": 100.0, "io": 600.0, "paging": 0.0, "migration": 300.0}


def lived(width=400.0, parts=PARTS):
    picture = read(charts.life(JobLife(3, "running", 2, 1, (0, 4), parts), width))
    bars = [one for one in picture.iter("rect") if one.find("title") is not None]
    squares = [one for one in picture.iter("rect") if one.find("title") is None]
    return picture, bars, squares, list(picture.iter("text"))


def test_the_parts_of_a_life_fill_the_bar_in_order():
    _, bars, _, _ = lived()
    assert [number(one, "x", "width") for one in bars] == [[0, 40], [40, 240], [280, 120]]
    assert [one.get("fill") for one in bars] == [BREAKDOWN_COLOURS[part] for part in ("cpu", "io", "migration")]
    assert [one.find("title").text for one in bars] == [
        "CPU: 0.1 s (10 %)", "I/O: 0.6 s (60 %)", "transfer: 0.3 s (30 %)",
    ]  # fmt: skip
    assert len({number(one, "y") for one in bars}) == 1


def test_the_legend_of_a_life_begins_with_the_longest_part():
    _, bars, squares, words = lived()
    assert [one.text for one in words] == ["I/O 60 %", "transfer 30 %", "CPU 10 %"]
    assert [one.get("fill") for one in squares] == [BREAKDOWN_COLOURS[part] for part in ("io", "migration", "cpu")]
    end = 0.0
    for square, word in zip(squares, words, strict=True):
        x, width = number(square, "x", "width")
        assert end <= x < x + width < number(word, "x") < x + width + 8
        end = number(word, "x") + 6 * len(word.text)
        assert number(square, "y") + number(square, "height") == pytest.approx(number(word, "y"), abs=2)
    # The legend is below the bar.
    assert number(squares[0], "y") > number(bars[0], "y") + number(bars[0], "height")


@pytest.mark.parametrize(("width", "lines"), [(260.0, [3]), (200.0, [2, 1]), (120.0, [1, 1, 1])])
def test_a_narrow_legend_of_a_life_has_several_lines(width, lines):
    # "I/O 60 %" takes some 14 + 48 pixels, "transfer 30 %" 14 + 78, "CPU 10 %" 14 + 48, with 12 between them.
    picture, _, squares, words = lived(width)
    ys = [number(one, "y") for one in words]
    assert [ys.count(y) for y in sorted(set(ys))] == lines
    assert all(number(one, "x") + 6 * len(one.text) <= width for one in words)
    # Each line begins at the left; lines do not overlap.
    assert [number(squares[ys.index(y)], "x") for y in sorted(set(ys))] == [0] * len(lines)
    assert all(other - one >= 11 for one, other in pairwise(sorted(set(ys))))
    # The picture ends below its last line.
    assert numbers(next(picture.iter("svg")).get("viewBox"))[2] == width
    assert 0 < numbers(next(picture.iter("svg")).get("viewBox"))[3] - max(ys) < 16


def test_a_life_without_any_time_is_an_empty_bar():
    picture, bars, squares, words = lived(parts=dict.fromkeys(PARTS, 0.0))
    assert (bars, squares, words) == ([], [], [])
    assert next(picture.iter("svg")).get("aria-label") == "life of job 3"

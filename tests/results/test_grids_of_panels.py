"""Grids of panels in pictures of studies: labels of axes, sizes, and entries of legends."""

from __future__ import annotations

import pandas as pd
import pytest
from shown import visible

from cluster_abm.results.looks import colour_of
from cluster_abm.results.of_studies.study_grid import Looks, grid_of, outer_labels
from cluster_abm.results.of_studies.validation_picture import draw_validation


@pytest.mark.parametrize(("count", "places", "left", "below"), [
    # Rows have three panels; four panels are two rows of two. A panel above a hidden one is the lowest of its column.
    (1, 1, [0], [0]), (3, 3, [0], [0, 1, 2]), (4, 4, [0, 2], [2, 3]), (5, 6, [0, 3], [2, 3, 4]),
    (7, 9, [0, 3, 6], [4, 5, 6]),
    # Without panels there is one empty panel.
    (0, 1, [0], [0]),
])  # fmt: skip
def test_labels_are_at_the_left_and_lowest_panels(count, places, left, below):
    figure, grid = grid_of("a title", count, sharex=True)
    outer_labels(grid, count, "load", "slowdown")
    shown = grid[: max(1, count)]
    assert visible(figure) == [True] * len(shown) + [False] * (places - len(shown))
    assert [place for place, axes in enumerate(shown) if axes.get_ylabel() == "slowdown"] == left
    assert [place for place, axes in enumerate(shown) if axes.get_xlabel() == "load"] == below
    assert [place for place, axes in enumerate(shown) if axes.xaxis.get_tick_params()["labelbottom"]] == below


def test_each_row_of_panels_has_its_height_and_each_column_its_width():
    sizes = {count: grid_of("a title", count, height=2.0)[0].get_size_inches() for count in (1, 3, 4, 7)}
    assert sizes[4][1] - sizes[1][1] == pytest.approx(2)
    assert sizes[7][1] - sizes[1][1] == pytest.approx(4)
    assert sizes[1][0] < sizes[3][0] == sizes[7][0]


@pytest.mark.parametrize(("keys", "line", "marker"), [
    ({}, "-", "^"), ({"joined": False}, "None", "^"), ({"markers": False}, "-", ""),
])  # fmt: skip
def test_entries_of_a_legend_look_like_the_curves(keys, line, marker):
    looks = Looks(["jsq", "mlb"])
    first, second = looks.handles(["jsq", "mlb"], **keys)
    assert (first.get_linestyle(), first.get_marker(), first.get_label()) == (line, marker, "jsq")
    assert (first.get_color(), second.get_color()) == (colour_of("jsq"), colour_of("mlb"))
    # A change of a look does not affect other pictures.
    looks["jsq"]["color"] = "red"
    assert looks["jsq"]["color"] == colour_of("jsq")


def test_both_parts_of_a_validation_are_side_by_side(sheet):
    table = pd.DataFrame({"part": ["cpu"], "cores": [1], "measured_ms": [2.0], "predicted_ms": [2.0]})
    width, height = sheet(draw_validation, "a title", table, {}).get_size_inches()
    # Two almost square panels.
    assert 0.7 < (width / 2) / height < 1.4
    assert width < 16

"""Pictures of a run that leave the page: what is in them, measured in the figure itself."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cluster_abm.results import film
from cluster_abm.results.film import Picture, Scene, scale_of

PLACES = [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0)]
SCENE = Scene("a run", PLACES, [(PLACES[0], PLACES[1])])


def picture(tasks=(0.0, 0.0, 0.0), up=(True, True, True), ways=()):
    return Picture(0.0, np.zeros(3), np.array(tasks), np.array(up), ways)


@pytest.mark.parametrize("some_fail", [False, True])
def test_the_legend_says_what_there_is(some_fail):
    figure, _ = film._staged([SCENE], scale_of("cpu", 4.0), some_fail)
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["no task", "12 tasks or more", "task moved", *(["node out"] if some_fail else [])]
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert box.y1 <= figure.axes[0].get_window_extent().y0
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_the_legends_circles_are_as_large_as_the_nodes():
    figure, (stage,) = film._staged([SCENE], scale_of("cpu", 4.0), False)
    stage.show(picture(tasks=(0.0, 12.0, 90.0)))
    least, most, _ = (line.get_markersize() for line in figure.legends[0].get_lines())
    assert stage.nodes.get_sizes() == pytest.approx([least**2, most**2, most**2])


@pytest.mark.parametrize("tasks", [0.0, 12.0])
def test_an_arrow_ends_at_the_rims_of_its_nodes(tasks):
    figure, (stage,) = film._staged([SCENE], scale_of("cpu", 4.0), False)
    stage.show(picture(tasks=(tasks,) * 3, ways=[[[PLACES[0], PLACES[1]]]]))
    figure.draw_without_rendering()
    (axes, *_) = figure.axes
    (arrow,) = axes.patches
    ends = axes.transData.transform([arrow._path_original.vertices[0], arrow._path_original.vertices[-1]])
    radius = math.sqrt(stage.nodes.get_sizes()[0]) / 2 * figure.dpi / 72
    for end, node in zip(ends, axes.transData.transform(PLACES[:2]), strict=True):
        # Within a few pixels: neither under the node nor in the air.
        assert radius < math.dist(end, node) < radius + 5


def test_a_node_of_a_tenth_of_the_load_is_not_white():
    scale = scale_of("io", 90.0)
    shades = [sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for colour in scale.colours]
    assert shades == sorted(shades, reverse=True)
    assert (shades[0] - shades[len(shades) // 10]) > 0.25 * (shades[0] - shades[-1])

"""The sizes, strokes and layers of a film's marks, and how many of them there are at most."""

from __future__ import annotations

import math

import numpy as np
import pytest
from marks import entry_marks, marks_of
from matplotlib.figure import Figure

from cluster_abm.results.films import film
from cluster_abm.results.films.film import FilmPicture, Scene, scale_of

SCALE = scale_of("cpu", 2.0)


def scene(nodes=3, wires=1, title="a run"):
    places = [((number + 0.5) / nodes, 0.5) for number in range(nodes)]
    return Scene(title, places, [((0.0, 0.0), (1.0, 1.0))] * wires)


def stage_of(**given):
    axes = Figure().subplots()
    return axes, film.Stage(axes, scene(**given), SCALE)


@pytest.mark.slow
@pytest.mark.parametrize(("scenes", "size"), [(1, (7.0, 5.6)), (2, (12.6, 5.6)), (3, (18.2, 5.6))])
def test_a_film_is_as_wide_as_its_runs(scenes, size):
    figure, stages = film.staged([scene()] * scenes, SCALE, False)
    assert figure.get_size_inches().tolist() == pytest.approx(list(size))
    assert len(stages) == scenes
    # One bar of colours, one legend in one line.
    assert (len(figure.axes), len(figure.legends), figure.legends[0]._ncols) == (scenes + 1, 1, 3)
    assert not figure.legends[0].get_frame_on()


def test_titles_of_films():
    figure, _ = film.staged([scene()], SCALE, False)
    assert (figure.get_suptitle(), figure.axes[0].get_title()) == ("a run", "")
    assert (figure.axes[0]._left_title.get_text(), figure.axes[0]._left_title.get_fontsize()) == ("0 s", 11)
    figure, _ = film.staged([scene(), scene(title="another")], SCALE, False)
    titles = [axes.title for axes in figure.axes[:2]]
    assert [(one.get_text(), one.get_fontsize(), one.get_fontweight()) for one in titles] == [
        ("a run\n ", 11, "bold"), ("another\n ", 11, "bold"),
    ]  # fmt: skip
    # The time stands in the line below the title.
    assert [axes.title.get_position()[1] for axes in figure.axes[:2]] == [1.0] * 2


def test_entries_of_the_legend_are_as_large_as_what_they_explain():
    figure, _ = film.staged([scene()], SCALE, True)
    # Up to 24 nodes have 500 square points at most, and a quarter of that without a task.
    least, most = f"o {math.sqrt(125):.3g}", f"o {math.sqrt(500):.3g}"
    assert entry_marks(figure.legends[0]) == [least, most, "line 1.5 -, > 5", "x 8 of 1"]


@pytest.mark.parametrize(("nodes", "room"), [(3, 500.0), (24, 500.0), (25, 480.0), (48, 250.0)])
def test_nodes_are_smaller_the_more_there_are(nodes, room):
    assert stage_of(nodes=nodes)[1].room == pytest.approx(room)


@pytest.mark.parametrize(("tasks", "share"), [(0.0, 0.25), (4.0, 0.5), (12.0, 1.0), (13.0, 1.0)])
def test_the_surface_of_a_node_grows_up_to_twelve_tasks(tasks, share):
    _, stage = stage_of()
    stage.show(FilmPicture(0.0, np.zeros(3), np.full(3, tasks), np.ones(3, bool), ()))
    assert stage.nodes.get_sizes() == pytest.approx([500 * share] * 3)


@pytest.mark.parametrize(("wires", "stroke"), [
    # Up to 150 lines have full strength, 300 half of it, and more never less than 0.3: 0.3 + half of the strength wide.
    (1, "strokes 0.8, layer 1"), (150, "strokes 0.8, layer 1"), (300, "strokes 0.55, alpha 0.5, layer 1"),
    (1200, "strokes 0.45, alpha 0.3, layer 1"), (1201, None),
])  # fmt: skip
def test_links_are_fainter_the_more_there_are(wires, stroke):
    axes, _ = stage_of(wires=wires)
    assert [one for one in marks_of(axes) if one.startswith("strokes")] == ([stroke] if stroke else [])


@pytest.mark.parametrize(("nodes", "sizes"), [(40, {7}), (41, {6}), (80, {6}), (81, set())])
def test_numbers_are_smaller_from_41_nodes_on_and_left_out_from_81(nodes, sizes):
    axes, _ = stage_of(nodes=nodes)
    assert {text.get_fontsize() for text in axes.texts} == sizes
    assert {(text.get_ha(), text.get_va(), text.get_zorder()) for text in axes.texts} <= {
        ("center", "center_baseline", 5)
    }


def test_layers_of_a_stage():
    axes, stage = stage_of()
    way = [[(0.1, 0.5), (0.9, 0.5)]]
    stage.show(FilmPicture(0.0, np.zeros(3), np.zeros(3), np.array([True, True, False]), [way]))
    # Links, nodes, crosses, the bar of the time, arrows.
    assert marks_of(axes) == [
        "strokes 0.8, layer 1", "points 125, edge 0.8, layer 3", "points 60, edge 1.5, layer 4", "line 3 -",
            "FancyArrowPatch",
    ]  # fmt: skip
    (arrow,) = axes.patches
    assert (arrow.get_zorder(), arrow.get_mutation_scale(), arrow.get_fill()) == (2, 9, False)
    assert (axes.get_xlim(), axes.get_ylim()) == ((-0.06, 1.06), (1.06, -0.06))
    assert (len(axes.get_xticks()), len(axes.get_yticks())) == (0, 0)
    assert not any(spine.get_visible() for spine in axes.spines.values())


def test_an_arrow_keeps_to_the_right_of_its_way_and_free_of_the_rims():
    figure, (stage,) = film.staged([scene()], SCALE, False)
    way = [[(1 / 6, 0.5), (5 / 6, 0.5)]]
    stage.show(FilmPicture(0.0, np.zeros(3), np.zeros(3), np.ones(3, bool), [way]))
    (arrow,) = figure.axes[0].patches
    ends = arrow._path_original.vertices
    # Beside the way by 0.006 of the unit square; y points downwards.
    assert ends[:, 1] == pytest.approx(0.506)
    # A radius in points over the points of a side, and 0.004 more.
    box, (width, height) = figure.axes[0].get_position(), figure.get_size_inches()
    side = (box.width * width + box.height * height) / 2 * 72 / 1.12
    rim = math.sqrt(125) / 2 / side + 0.004
    assert [ends[0, 0] - 1 / 6, 5 / 6 - ends[-1, 0]] == pytest.approx([rim, rim])


def test_an_arrow_is_round_at_a_corner():
    axes, stage = stage_of()
    way = [[(0.1, 0.1), (0.1, 0.9), (0.9, 0.9)]]
    stage.show(FilmPicture(0.0, np.zeros(3), np.zeros(3), np.ones(3, bool), [way]))
    vertices = axes.patches[0]._path_original.vertices
    # Right of its way is outside of this corner: at 0.094, 0.906, from 0.07 before it to 0.07 behind it.
    assert vertices[1:4] == pytest.approx(np.array([[0.094, 0.836], [0.094, 0.906], [0.164, 0.906]]))

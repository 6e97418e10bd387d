"""Pictures of a run that leave the page: what is in them, measured in the figure itself."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image
from shown import colour, dots, near, ticks

from cluster_abm.results.colours import DOWN, PAPER, RAMP
from cluster_abm.results.films import film
from cluster_abm.results.films.film import FilmPicture, Scale, Scene, scale_of
from cluster_abm.results.films.film_files import write_film
from cluster_abm.results.node_sizes import shown_in_legend

PLACES = [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0)]
SCENE = Scene("a run", PLACES, [(PLACES[0], PLACES[1])])


UNLIKE = Scene("unlike nodes", PLACES, [], np.array([1, 8, 64]))
ALIKE = Scene("nodes of eight cores", PLACES, [], np.array([8, 8, 8]))


def picture(tasks=(0.0, 0.0, 0.0), up=(True, True, True), ways=()):
    return FilmPicture(0.0, np.zeros(3), np.array(tasks), np.array(up), ways)


@pytest.mark.parametrize("some_fail", [False, True])
def test_the_legend_says_what_there_is(some_fail):
    figure, _ = film.staged([SCENE], scale_of("cpu", 4.0), some_fail)
    (legend,) = figure.legends
    words = [text.get_text() for text in legend.get_texts()]
    assert words == ["no task", "12 tasks or more", "task moved", *(["node out"] if some_fail else [])]
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert box.y1 <= figure.axes[0].get_window_extent().y0
    assert figure.bbox.x0 <= box.x0
    assert box.x1 <= figure.bbox.x1


def test_the_legends_circles_are_as_large_as_the_nodes():
    figure, (stage,) = film.staged([SCENE], scale_of("cpu", 4.0), False)
    stage.show(picture(tasks=(0.0, 12.0, 90.0)))
    least, most, _ = (line.get_markersize() for line in figure.legends[0].get_lines())
    assert stage.nodes.get_sizes() == pytest.approx([least**2, most**2, most**2])


def test_nodes_of_unlike_cores_are_as_large_as_their_cores_say_and_the_legend_says_so():
    figure, (stage,) = film.staged([UNLIKE], scale_of("cpu", 4.0, per_core=True), False)
    stage.show(picture(tasks=(90.0, 3.0, 0.0)))
    # The smallest is a sixteenth of the largest, not a 64th: it is to be seen.
    assert stage.nodes.get_sizes() == pytest.approx(stage.room * np.array([1 / 16, 1 / 8, 1]))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["1 core", "8 cores", "64 cores", "task moved"]
    sizes = [line.get_markersize() ** 2 for line in legend.get_lines()[:3]]
    assert sizes == pytest.approx(stage.nodes.get_sizes())
    figure.draw_without_rendering()
    assert figure.axes[1].get_ylabel() == "tasks running or ready per core"
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_nodes_of_eight_cores_each_have_their_size_by_tasks_per_core():
    figure, (stage,) = film.staged([ALIKE], scale_of("cpu", 4.0, per_core=True), False)
    stage.show(picture(tasks=(0.0, 48.0, 96.0)))
    assert stage.nodes.get_sizes() == pytest.approx(stage.room * np.array([0.25, 0.625, 1]))
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["no task", "12 tasks per core or more", "task moved"]


def test_of_many_sizes_the_legend_shows_the_least_the_middle_and_the_largest():
    assert shown_in_legend([2, 4, 1, 16, 512, 16]) == [("1 core", 1 / 16), ("4 cores", 1 / 16), ("512 cores", 1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [0.0, 12.0])
def test_an_arrow_ends_at_the_rims_of_its_nodes(tasks):
    figure, (stage,) = film.staged([SCENE], scale_of("cpu", 4.0), False)
    stage.show(picture(tasks=(tasks,) * 3, ways=[[[PLACES[0], PLACES[1]]]]))
    figure.draw_without_rendering()
    (axes, *_) = figure.axes
    (arrow,) = axes.patches
    ends = axes.transData.transform([arrow._path_original.vertices[0], arrow._path_original.vertices[-1]])
    radius = math.sqrt(stage.nodes.get_sizes()[0]) / 2 * figure.dpi / 72
    for end, node in zip(ends, axes.transData.transform(PLACES[:2]), strict=True):
        # Within a few pixels: neither under the node nor in the air.
        assert radius < math.dist(end, node) < radius + 5


def test_nodes_have_their_numbers_in_an_ink_that_stands_out_and_links_are_drawn():
    figure, (stage,) = film.staged([SCENE], scale_of("cpu", 40.0), False)
    stage.show(FilmPicture(0.0, np.array([0.0, 20.0, 40.0]), np.zeros(3), np.array([True, True, False]), ()))
    (axes, *_) = figure.axes
    numbers = {text.get_text(): text for text in axes.texts}
    assert sorted(numbers) == ["0", "1", "2"]
    # A node that is out has its cross.
    assert [numbers[name].get_visible() for name in "012"] == [True, True, False]
    for node, name in ((0, "0"), (1, "1")):
        fill, ink = stage.nodes.to_rgba([0.0, 20.0, 40.0])[node], to_rgb(numbers[name].get_color())
        assert contrast(fill, ink) >= 4.5
    (wires,) = [one for one in axes.collections if isinstance(one, LineCollection)]
    assert len(wires.get_segments()) == 1


def contrast(one, other):
    """As the Web Content Accessibility Guidelines have it."""
    lights = sorted(
        sum(
            weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
            for weight, part in zip((0.2126, 0.7152, 0.0722), colour[:3], strict=True)
        )
        for colour in (one, other)
    )
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def test_shades_follow_the_loads_evenly_and_no_load_is_white():
    _, (stage,) = film.staged([SCENE], scale_of("io", 8.0), False)
    shown = [colour(one) for one in stage.nodes.to_rgba([0.0, 1e-6, 5.0, 10.0])]
    # 5 of 10 is the middle of nine shades.
    assert shown == [PAPER.upper(), RAMP[-1].upper(), RAMP[4].upper(), RAMP[0].upper()]


@pytest.mark.slow
def test_a_gif_has_every_picture_and_what_differs_between_them(tmp_path):
    shown = [replace(picture(), loads=np.array([0.0, load, 2.0]), now_ms=100.0 * load) for load in (0.0, 1.0, 2.0, 2.0)]
    write_film(tmp_path / "a.gif", [SCENE], [[one] for one in shown], scale_of("cpu", 2.0))
    with Image.open(tmp_path / "a.gif") as gif:
        # The last one is the same as the one before, which is shown for longer.
        frames, shown_ms = [], 0
        for place in range(gif.n_frames):
            gif.seek(place)
            shown_ms += gif.info["duration"]
            frames.append(np.asarray(gif.convert("RGB"), float))
    assert len(frames) == 3
    assert shown_ms == pytest.approx(4 * 1000 / 12, abs=40)
    # Nodes 1 gets darker: the picture changes there, and nowhere but there and at the clock.
    changed = np.abs(frames[1] - frames[0]).sum(axis=2) > 60
    assert 0 < changed.mean() < 0.05


def test_a_gif_shows_the_time(tmp_path):
    shown = [replace(picture(), now_ms=1000.0 * seconds) for seconds in (1.0, 88.8)]
    write_film(tmp_path / "a.gif", [SCENE], [[one] for one in shown], scale_of("cpu", 2.0))
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.n_frames == 2
        frames = [np.asarray(gif.convert("L"), float)]
        gif.seek(1)
        frames.append(np.asarray(gif.convert("L"), float))
    rows, columns = np.nonzero(np.abs(frames[1] - frames[0]) > 60)
    # At the upper left, and nowhere else.
    assert len(rows)
    assert rows.max() < frames[0].shape[0] / 6
    assert columns.max() < frames[0].shape[1] / 4


NOW = FilmPicture(12_345.6, np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([True, False, True]), ())


@pytest.mark.slow
def test_a_film_shows_loads_time_and_what_is_out():
    figure, (stage,) = film.staged([SCENE], scale_of("cpu", 2.0), True)
    stage.show(NOW)
    axes, bar = figure.axes
    fills = [colour(one) for one in stage.nodes.to_rgba(NOW.loads)]
    assert [fills[0], fills[2]] == [PAPER.upper(), RAMP[0].upper()]
    assert dots(stage.nodes) == near([[*place] for place in PLACES])
    assert axes.get_title(loc="left") == "12.3 s"
    _, out = [one for one in axes.collections if isinstance(one, PathCollection)]
    assert (dots(out), colour(out.get_edgecolor()[0])) == ([[1, 0.5]], DOWN.upper())
    # The unit square's y points downwards.
    assert axes.yaxis_inverted()
    assert (figure.get_suptitle(), ticks(bar, "y")) == ("a run", {0: "0", 1: "1", 2: "2"})
    stage.show(replace(NOW, up=np.ones(3, bool), now_ms=60_000.0))
    assert (len(out.get_offsets()), axes.get_title(loc="left")) == (0, "60.0 s")


def test_a_film_of_two_runs_has_a_title_each_and_one_scale():
    figure, stages = film.staged([SCENE, replace(SCENE, title="another")], scale_of("io", 2.0), False)
    assert [axes.get_title().strip() for axes in figure.axes[:2]] == ["a run", "another"]
    assert (figure.get_suptitle(), len(figure.axes), len(stages)) == ("", 3, 2)
    assert figure.axes[2].get_ylabel() == "I/O processing ahead [s]"


@pytest.mark.slow
def test_arrows_are_of_the_moves_and_no_more_than_sixty():
    _, (stage,) = film.staged([SCENE], scale_of("cpu", 2.0), False)
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


@pytest.mark.parametrize(("count", "named"), [(2, True), (film.MOST_NAMED, True), (film.MOST_NAMED + 1, False)])
def test_the_names_of_nodes_stand_beneath_them_as_they_are(count, named):
    axes = Figure().subplots()
    names = ["$a$", *(f"a very long name {number}" for number in range(1, count))]
    film.Stage(axes, Scene("", [(0.5, 0.5)] * count, [], names=names), scale_of("cpu", 2.0))
    drawn = [text for text in axes.texts if not text.get_text().isdigit()]
    assert [text.get_text() for text in drawn] == (["$a$"] + ["a very long n…"] * (count - 1) if named else [])
    assert not any(text.get_parse_math() for text in drawn)


@pytest.mark.parametrize(("index", "per_core", "loads", "words_of", "full"), [
    ("cpu", False, [1.0], "tasks running or ready", 2),
    ("cpu", True, [1.0], "tasks running or ready per core", 2),
    ("io", False, [0.1], "I/O processing ahead [s]", 1),
    ("cpu", False, [1.0, 1.0, 90.0], "tasks running or ready", 100),
    ("io", True, [], "I/O processing ahead [s]", 1),
])  # fmt: skip
def test_the_scale_of_a_film_ends_at_a_round_load_above_all_of_its_own(index, per_core, loads, words_of, full):
    assert scale_of(index, loads, per_core) == Scale(words_of, pytest.approx(full))

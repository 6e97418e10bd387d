"""The contents of a picture that the page keeps; runs are stand-ins, and nothing is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import decision, frame, run_of

from cluster_abm.results.load_scale import LoadScale
from viz import keep
from viz.colours import film_scale, index_of


@pytest.fixture
def kept(monkeypatch):
    """The arguments of drawing for these runs and load: scenes with their pictures, and the scale."""
    monkeypatch.setattr(keep, "png", lambda shown, scale: (shown, scale))
    return lambda runs, index="cpu": keep.picture(runs, index)


def run(title, full, per_core=False, loads=0.0, moves=()):
    loads = {"cpu": np.array([loads, 0, 0, 0]), "io": np.array([0, loads, 0, 0])}
    found = run_of(frame(now_ms=3000.0, loads=loads, moves=moves, up=np.array([True, True, False, True])))
    found.model.title, found.per_core = title, per_core
    found.scale = lambda index: LoadScale(full)
    return found


def test_each_run_is_a_scene_with_the_title_and_positions_of_its_map(kept):
    runs = [run("one", 2.0, loads=1.5), run("two", 8.0)]
    shown, _ = kept(runs)
    assert [scene.title for scene, _ in shown] == ["one", "two"]
    scene, picture = shown[0]
    # A grid of two by two fills the unit square.
    assert [tuple(map(float, place)) for place in scene.places] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert (list(scene.wires), scene.cores.tolist()) == (runs[0].map.wires, [1, 1, 1, 1])
    assert (picture.now_ms, picture.loads.tolist()) == (3000.0, [1.5, 0, 0, 0])
    assert picture.up.tolist() == [True, True, False, True]
    assert kept(runs, "io")[0][0][1].loads.tolist() == [0, 1.5, 0, 0]


def test_all_runs_share_the_largest_scale_per_core_if_any_run_needs_it(kept):
    for per_core in ((False, False), (False, True), (True, True)):
        _, scale = kept([run("a", 2.0, per_core[0]), run("b", 8.0, per_core[1])])
        assert scale == film_scale(index_of("cpu", any(per_core)), LoadScale(8.0))


def test_moves_are_arrows_along_their_routes(kept):
    ((_, picture),), _ = kept([run("one", 2.0, moves=(decision(0, 1), decision(3, 1)))])
    ways = [[tuple(map(float, point)) for piece in way for point in piece] for way in picture.ways]
    assert ways == [[(0, 0), (1, 0)], [(1, 1), (1, 0)]]


def test_without_a_run_there_is_no_picture_and_no_table():
    assert (keep.picture([], "cpu"), keep.jobs([])) == (b"", b"")

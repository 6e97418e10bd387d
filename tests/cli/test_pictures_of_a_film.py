"""The pictures that a film keeps of a run: evenly spaced, up to a largest number."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cluster_abm.cli import animate


class Run:
    """Stands in for a run of `slices` slices of 10 ms: one task ends in the third slice, one in the last."""

    def __init__(self, slices):
        self.now_ms, self._end_ms = 0.0, 10.0 * slices
        self.network = None
        self.setup = SimpleNamespace(cluster=SimpleNamespace(slice_ms=10.0))

    @property
    def running(self):
        return self.now_ms < self._end_ms

    @property
    def engine(self):
        return SimpleNamespace(finished=(self.now_ms >= 30.0) + (not self.running), total_tasks=2)

    def run(self, until_ms):
        self.now_ms = min(until_ms, self._end_ms)


class Picture:
    def __init__(self, now_ms):
        self.loads = now_ms


@pytest.fixture
def filmed(monkeypatch):
    monkeypatch.setattr("cluster_abm.interconnect.layout.positions", lambda network: {})
    monkeypatch.setattr("cluster_abm.model.Watcher", lambda model: SimpleNamespace(frame=lambda: model.now_ms))
    monkeypatch.setattr("cluster_abm.model.observing.watching.telling_index", lambda setup: "cpu_ms")
    # The tests look at the time of a picture only.
    monkeypatch.setattr("cluster_abm.model.observing.watching.picture_of", lambda frame, *_: Picture(frame))
    monkeypatch.setattr(animate, "MOST_PICTURES", 4)

    def call(slices):
        shares = []
        cameraman = animate.Cameraman(Run(slices))
        cameraman.run(shares.append)
        return [one.loads for one in cameraman._kept], cameraman._every_ms, shares

    return call


@pytest.mark.parametrize(("slices", "pictures", "every_ms"), [
    (0, [0], 10), (3, [0, 10, 20, 30], 10),
    # A film keeps 4 pictures. At a fifth, every second picture is dropped and the step doubles.
    (4, [0, 20, 40], 20), (6, [0, 20, 40, 60], 20), (8, [0, 40, 80], 40), (12, [0, 40, 80, 120], 40),
])  # fmt: skip
def test_pictures_are_evenly_spaced_at_any_length_of_a_run(filmed, slices, pictures, every_ms):
    kept, step_ms, _ = filmed(slices)
    assert (kept, step_ms) == (pictures, every_ms)


def test_progress_is_the_share_of_ended_tasks(filmed):
    assert filmed(3)[2] == [0.0, 0.0, 1.0]
    assert filmed(4)[2] == [0.0, 0.0, 0.5, 1.0]


def test_progress_is_at_most_1_and_0_without_tasks(filmed, monkeypatch):
    monkeypatch.setattr(Run, "engine", SimpleNamespace(finished=0, total_tasks=0))
    assert filmed(1)[2] == [0.0]
    monkeypatch.setattr(Run, "engine", SimpleNamespace(finished=3, total_tasks=2))
    assert filmed(1)[2] == [1.0]


@pytest.mark.usefixtures("filmed")
@pytest.mark.parametrize(("cores", "per_core"), [([1, 1], False), ([1, 4], True)])
def test_a_film_is_written_of_the_kept_pictures(monkeypatch, capsys, cores, per_core):
    written, scales = [], []
    monkeypatch.setattr(
        "cluster_abm.interconnect.layout.positions", lambda network: {0: (0, 0), 1: (1, 0), "s": (2, 0)}
    )
    monkeypatch.setattr("cluster_abm.interconnect.layout.wires", lambda network, at: ["a wire"])
    monkeypatch.setattr("cluster_abm.results.film.scale_of", lambda *given, **named: scales.append((given, named)))
    monkeypatch.setattr("cluster_abm.results.film_files.write_film", lambda *given: written.append(given))
    run = Run(4)
    run.network = SimpleNamespace(nodes=2, node_names=("a", "b"))
    monkeypatch.setattr(Run, "engine", SimpleNamespace(finished=0, total_tasks=1, nodes={"cores": np.array(cores)}))
    cameraman = animate.Cameraman(run)
    cameraman.run(lambda share: None)
    cameraman.write("f.gif", "a title")
    ((path, (scene,), kept, scale, _),) = written
    assert (path, [one.loads for (one,) in kept], scale) == ("f.gif", [0, 20, 40], None)
    # Only nodes have a place in the film; the switch "s" has not.
    assert (scene.title, scene.places, scene.wires, list(scene.cores)) == (
        "a title",
        [(0, 0), (1, 0)],
        ["a wire"],
        cores,
    )
    assert scene.names == ("a", "b")
    assert scales == [(("cpu_ms", [0, 20, 40]), {"per_core": per_core})]
    assert capsys.readouterr().err == "film in f.gif: a picture every 0.02 s\n"

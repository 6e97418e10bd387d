"""Frames of a watched run: their times and which are kept. The model only counts slices."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from drawn import frame, mapped, network

from cluster_abm.model.observing.watching import JobLife
from viz import run as runs
from viz.colours import INDICES
from viz.run import LEAST_KEPT, MOST_KEPT, Watched, WatchedRun

SLICE_MS = 10.0


class Model:
    """Stands in for a model that ends at a given time. Its only load is the number of slices so far, at node 0."""

    def __init__(self, end_ms=math.inf, cores=(1, 1, 1, 1), nodes=None):
        cores = np.array(cores if nodes is None else [1] * nodes)
        self.now_ms, self.end_ms, self.running = 0.0, end_ms, True
        self.network = network("complete", len(cores))
        self.engine = SimpleNamespace(nodes={"cores": cores})
        self.offered_load, self.setup = None, None

    def step(self):
        assert self.running
        self.now_ms += SLICE_MS
        self.running = self.now_ms < self.end_ms


class Watcher:
    """Frames of such a model, and lives of jobs that hold their number and time."""

    def __init__(self, model):
        self.model = model

    def frame(self, job=None):
        loads = np.zeros(self.model.network.nodes)
        loads[0] = self.model.now_ms / SLICE_MS
        return frame(
            len(loads), now_ms=self.model.now_ms, running=self.model.running, loads=dict.fromkeys(INDICES, loads),
            mean_slowdown=self.model.now_ms, life=None if job is None else self.life(job),
        )  # fmt: skip

    def life(self, job):
        return JobLife(job, f"at {self.model.now_ms:g}", 1, 0, (), {})


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch):
    monkeypatch.setattr(runs, "Watcher", Watcher)
    monkeypatch.setattr(runs, "warnings_of", lambda setup, load: ["a warning"])


def begun(**keys):
    """A run of such a model."""
    found = WatchedRun.__new__(WatchedRun)
    Watched.__init__(found, Model(**keys), 600.0, 400.0)
    return found


def test_a_run_begins_with_a_frame_at_time_0():
    run = begun()
    assert (run.times_s, run.frame.now_ms, run.frames) == ([0.0], 0.0, [run.frame])
    assert (run.map.width, run.map.height, run.map.at) == (600.0, 400.0, mapped(network("complete", 4)).at)
    # Without an offered load there is no text about it.
    assert (run.offered, run.warnings) == ("", ["a warning"])


@pytest.mark.parametrize(("cores", "per_core"), [((1, 1), False), ((1, 2), True), ((8, 8), True)])
def test_tasks_are_counted_per_core_where_some_node_has_several(cores, per_core):
    assert begun(cores=cores).per_core == per_core


def test_a_frame_is_taken_at_the_first_boundary_from_its_time_on():
    run = begun()
    for until_ms in (20.0, 45.0, 45.0, 60.0 + 1e-10):
        run.advance(until_ms)
    assert run.times_s == pytest.approx([0, 0.02, 0.05, 0.05, 0.06])
    assert run.column("io")[:, 0].tolist() == [0, 2, 5, 5, 6]
    assert run.column("io").shape == (5, 4)
    assert run.series("mean_slowdown") == [0, 20, 50, 50, 60]


def test_a_run_that_is_stopped_takes_its_frame_at_once():
    run, left = begun(), [True, True, False]
    run.advance(1000.0, goes_on=lambda: left.pop(0))
    assert run.times_s == [0, 0.02]


def test_a_run_that_has_ended_keeps_its_state_while_the_clock_goes_on():
    run = begun(end_ms=30.0)
    for until_ms in (20.0, 40.0, 60.0):
        run.advance(until_ms)
    # The run ends at 30 ms, within the second frame. The third frame has the time of the clock.
    assert run.times_s == [0, 0.02, 0.03, 0.06]
    assert [one.now_ms for one in run.frames] == [0, 20, 30, 30]


def test_a_look_takes_a_frame_only_if_the_model_has_gone_on():
    run = begun()
    run.look()
    assert run.times_s == [0]
    run.model.step()
    run.look()
    run.look()
    assert run.times_s == [0, 0.01]


def test_only_the_newest_frame_has_the_life_of_the_picked_job():
    run = begun()
    run.advance(10.0)
    run.advance(20.0, job=4)
    assert [one.life and one.life.job for one in run.frames] == [None, None, 4]
    run.pick(7)
    assert [one.life and one.life.job for one in run.frames] == [None, None, 7]
    assert run.frame.life.state == "at 20"
    run.pick(None)
    assert [one.life for one in run.frames] == [None] * 3
    assert run.times_s == [0, 0.01, 0.02]


@pytest.mark.parametrize(("nodes", "most"), [(4, MOST_KEPT), (2000, 150), (6000, LEAST_KEPT)])
def test_every_second_frame_is_dropped_at_the_largest_number(nodes, most, monkeypatch):
    # 300,000 values are kept: 150 frames of 2000 nodes, and at least 60 frames.
    monkeypatch.setattr(runs, "map_of", lambda *_: mapped(network()))
    run = begun(nodes=nodes)
    for border in range(1, most):
        run.advance(10.0 * border)
    assert len(run.times_s) == most
    # At the next frame every second one is dropped; the newest frame is shown too.
    run.advance(10.0 * most)
    assert run.times_s == pytest.approx([0.02 * place for place in range(most // 2 + 1)])
    run.advance(10.0 * (most + 1))
    assert run.times_s[-2:] == pytest.approx([0.01 * most, 0.01 * (most + 1)])
    run.advance(10.0 * (most + 2))
    assert run.times_s[-2:] == pytest.approx([0.01 * most, 0.01 * (most + 2)])
    assert len(run.frames) == len(run.times_s) == most // 2 + 2


def test_picking_a_job_changes_no_kept_frame():
    run = begun(nodes=6000)
    for border in range(1, LEAST_KEPT + 2):
        run.advance(10.0 * border)
    before = run.times_s
    run.pick(3)
    assert run.times_s == before
    assert [one.life for one in run.frames[:-1]] == [None] * (len(before) - 1)
    assert run.frames[-1].life.job == 3


def test_a_scale_covers_all_loads_so_far():
    run = begun()
    run.advance(70.0)
    # Scales of tasks end at 2, 4, 10, 20 ...; 7 tasks need 10.
    assert run.scale("cpu").full == 10
    run.advance(70.0)
    assert run.scale("io").full >= 7


def test_a_map_of_another_size_has_the_same_positions():
    run = begun()
    before = run.map
    run.resize(600.0, 400.0)
    assert run.map is before
    run.resize(600.0, 500.0)
    assert (run.map.width, run.map.height, run.map.places) == (600.0, 500.0, before.places)
    run.resize(700.0, 500.0)
    assert run.map.width == 700.0

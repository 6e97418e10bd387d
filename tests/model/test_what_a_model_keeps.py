"""What a model keeps of its past: as much as is asked for, and nothing that grows for no reader."""

from __future__ import annotations

import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.model import Watcher
from cluster_abm.model.moving import routes_in_use
from cluster_abm.study.runner.one_run import finished_model


def test_decisions_are_kept_or_counted():
    kept = finished(**busy())
    counted = ClusterModel(scenario(**busy()), seed=1, keep_decisions=False)
    counted.run()
    assert same_records(kept, counted)
    assert kept.summary() == counted.summary()
    frame, empty = kept.decisions_frame(), counted.decisions_frame()
    assert len(frame) == frame.attrs["taken"] == empty.attrs["taken"] > 0
    assert "note" not in frame.attrs
    assert len(empty) == 0
    assert list(empty.columns) == list(frame.columns)
    assert f"{len(frame)} decisions were counted" in empty.attrs["note"]
    assert counted.parts.log.kept == []


def test_runs_of_studies_keep_none():
    with finished_model(scenario(**busy()), 1) as model:
        assert model.decisions_frame().attrs["taken"] > 0
        assert model.parts.log.kept == []


@pytest.mark.slow
def test_a_watched_run_that_keeps_none_shows_the_newest():
    seen = []
    for keep in (True, False):
        model = ClusterModel(scenario(**busy()), seed=1, keep_decisions=keep)
        watcher = Watcher(model)
        frames = []
        while model.running:
            for _ in range(50):
                model.step()
            frames.append(watcher.frame())
        seen.append([(frame.moves, frame.decisions) for frame in frames])
        assert len(watcher._inbox) == 0
    assert repr(seen[0]) == repr(seen[1])
    assert any(moves for moves, _ in seen[0])


@pytest.mark.slow
def test_routes_of_tasks_that_have_arrived_are_forgotten(monkeypatch):
    monkeypatch.setattr(routes_in_use, "KEPT_ROUTES", 8)
    # A link that fails at the very end: routes are kept for its sake.
    overrides = busy(
        interconnect__kind="star", policy__name="random", workload__duration_s=60.0, run__until=120_000.0,
        failures__event=[{"at_s": 1e6, "link": [0, "switch"]}],
    )  # fmt: skip
    model = ClusterModel(scenario(**overrides), seed=1)
    most = 0
    while model.running:
        model.step()
        most = max(most, len(model.parts.routes_in_use._routes))
    assert model.parts.departures.remote_executions > 100
    assert 0 < most < 100


def test_a_view_stays_as_it_was_while_later_views_differ():
    model = ClusterModel(scenario(**busy()), seed=1)
    model.run(until_ms=2_000)
    view = model.view_of(model.load_managers[0])
    before = view.loads.copy()
    for manager in model.load_managers:
        model.view_of(manager)
    model.run(until_ms=8_000)
    later = model.view_of(model.load_managers[0])
    assert (view.loads == before).all()
    assert (later.loads != before).any()
    assert (view.now_ms, later.now_ms) == (2_000, 8_000)

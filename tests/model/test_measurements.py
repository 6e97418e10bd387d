"""What is measured while a run goes on, and that looking changes nothing."""

import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.model.observing import measurements


def times(model):
    return model.nodes_frame()["time_ms"].unique()


@pytest.mark.slow
def test_a_long_run_is_measured_more_coarsely_and_evenly(monkeypatch):
    monkeypatch.setattr(measurements, "MOST_ROWS", 0)
    monkeypatch.setattr(measurements, "FEWEST_KEPT", 16)
    leaping = finished(**busy(measure__period_ms=100.0))
    seen = times(leaping)
    assert len(seen) <= 16
    gaps = np.diff(seen[:-1])
    assert len(set(gaps)) == 1
    doublings = np.log2(gaps[0] / 100.0)
    assert doublings >= 1
    assert doublings == int(doublings)
    assert seen[0] == gaps[0]
    assert seen[-1] == leaping.now_ms
    stepping = ClusterModel(scenario(**busy(measure__period_ms=100.0)), seed=1)
    while stepping.running:
        stepping.step()
    assert stepping.nodes_frame().equals(leaping.nodes_frame())


@pytest.mark.slow
@pytest.mark.parametrize("period_ms", [3.0, 10.0, 25.0, 1e9])
def test_results_do_not_depend_on_the_measuring_period(period_ms):
    model = finished(**busy(measure__period_ms=period_ms))
    assert same_records(model, finished(**busy()))
    assert (times(model)[:-1] % 10.0 == 0).all()

"""What the simulator is asked: cases that are known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cluster_abm.validation import prediction
from cluster_abm.validation.memory import DEMAND_MB, predicted_share
from cluster_abm.validation.plans import Disk, bounded_pareto, busy_sets, reading_sets
from cluster_abm.validation.prediction import PredictedProcess, predict

DISK = Disk(seek_ms=5.0, mb_per_s=100.0)


def computing(node, start_ms, cpu_ms):
    return PredictedProcess(node, start_ms, ((cpu_ms, False),))


def test_cases_by_hand():
    """Several sets at once, a node each: none of them disturbs another."""
    tasks = [
        # Two equal processes share a core: each takes twice its demand, but for a quantum.
        computing(0, 0.0, 100.0), computing(0, 0.0, 100.0),
        # One alone, late.
        computing(1, 500.0, 30.0),
        # It computes, reads 200 KB and computes: 10 + (5 + 2) + 10, and again 2 + 7 + 2.
        PredictedProcess(2, 0.0, ((20.0, True), (4.0, True)), 200.0),
        # Both read after 5 ms of CPU each, the second after the first: 10 + 7 + 7 + 5 ms.
        PredictedProcess(3, 0.0, ((10.0, True),), 200.0), PredictedProcess(3, 0.0, ((10.0, True),), 200.0),
    ]  # fmt: skip
    found = predict(tasks, 1, 1.0, DISK)
    assert found[:2] == pytest.approx([200.0, 200.0], abs=1.0)
    assert found[2:4] == pytest.approx([30.0, 27.0 + 11.0])
    # The first asks at 9 ms, is served until 16 ms and computes alone until 21 ms.
    assert found[4:] == pytest.approx([21.0, 28.0])


def test_two_cores():
    tasks = [computing(0, 0.0, 100.0), computing(0, 0.0, 100.0), computing(0, 0.0, 100.0)]
    assert predict(tasks, 2, 0.5) == pytest.approx([150.0] * 3, abs=1.0)
    assert predict(tasks[:2], 2, 0.5) == pytest.approx([100.0] * 2)


def test_processor_sharing_of_unequal_demands():
    """30, 60 and 90 ms from one instant on: 90, 90 + 60, 150 + 30."""
    found = predict([computing(0, 0.0, demand) for demand in (30.0, 60.0, 90.0)], 1, 0.01)
    assert found == pytest.approx([90.0, 150.0, 180.0], abs=0.1)


def test_many_sets_are_predicted_in_parts(monkeypatch):
    tasks = [computing(node, start, 10.0 + node) for node in range(6) for start in (0.0, 3.0)]
    whole = predict(tasks, 1, 1.0)
    monkeypatch.setattr(prediction, "MOST_TASKS", 105)
    assert predict(tasks, 1, 1.0).tolist() == whole.tolist()
    assert predict([], 1, 1.0).tolist() == []


def test_the_order_of_starts_is_not_that_of_the_processes():
    assert predict([computing(0, 50.0, 10.0), computing(0, 0.0, 20.0)], 1, 1.0).tolist() == [10.0, 20.0]


@pytest.mark.parametrize("share", [0.75, 0.5])
def test_faults_of_a_task_that_does_not_fit(share):
    assert predicted_share(share * DEMAND_MB) == pytest.approx(1 - share, abs=1e-4)


@pytest.mark.slow
def test_sets_are_the_same_for_the_same_seed_and_have_the_law_that_is_said():
    for kind in (busy_sets, reading_sets):
        sets = kind(4, 0.2, 2, 6)
        first = [next(sets) for _ in range(200)]
        again = kind(4, 0.2, 2, 6)
        assert first == [next(again) for _ in range(200)]
        assert next(kind(5, 0.2, 2, 6)) != first[0]
        assert {len(one) for one in first} == set(range(2, 7))
        assert all(one[0].start_ms == 0 for one in first)
        assert all(list(one) == sorted(one, key=lambda program: program.start_ms) for one in first)
    assert all(row.units % 2 == 0 for one in first for program in one for row in program.rows)
    # P(X > x) = (low/x)^shape, cut off at the upper bound.
    values = bounded_pareto(np.random.default_rng(1).random(100_000), 1.1, 40.0, 1000.0)
    assert values.min() >= 40
    assert values.max() <= 1000
    tail = (40.0 / np.array([60.0, 100.0, 400.0])) ** 1.1
    cut = (40.0 / 1000.0) ** 1.1
    expected = (tail - cut) / (1 - cut)
    assert [(values > x).mean() for x in (60, 100, 400)] == pytest.approx(expected.tolist(), abs=0.006)

"""LMIP's load classes, each criterion at its threshold."""

from __future__ import annotations

import pytest

from cluster_abm.formulas import ClassThresholds, load_class
from cluster_abm.formulas.load_class import HIGH, IDLE, LOW, NORMAL

# CPU [%], mean queue, memory [%]; CPU is low to 30 and high above 80, memory to 40 and above 70, the queue to 1 and
# above 4; memory is full above 85.
CASES = [
    # The paper's two own numbers.
    (1.0, 0.0, 0.0, IDLE),
    (1.1, 0.0, 0.0, LOW),
    (50.0, 2.0, 85.0, NORMAL),
    (50.0, 2.0, 85.1, HIGH),
    # Full memory is tested first, then idleness: a node that pages and computes nothing is no idle node, but one with
    # a long queue that has computed nothing for five seconds is.
    (0.0, 0.0, 85.1, HIGH),
    (0.0, 5.0, 80.0, IDLE),
    # CPU and memory high together, or the queue.
    (80.1, 2.0, 70.1, HIGH),
    (80.0, 2.0, 70.1, NORMAL),
    (80.1, 2.0, 70.0, NORMAL),
    (50.0, 4.0, 50.0, NORMAL),
    (50.0, 4.1, 50.0, HIGH),
    # High goes before low.
    (30.0, 4.1, 40.0, HIGH),
    (80.1, 1.0, 70.1, HIGH),
    # CPU and memory low together, or the queue.
    (30.0, 2.0, 40.0, LOW),
    (30.1, 2.0, 40.0, NORMAL),
    (30.0, 2.0, 40.1, NORMAL),
    (100.0, 1.0, 70.0, LOW),
    (100.0, 1.1, 70.0, NORMAL),
]


@pytest.mark.parametrize(("cpu_percent", "queue", "memory_percent", "expected"), CASES)
def test_each_criterion_at_its_threshold(cpu_percent, queue, memory_percent, expected):
    assert load_class(cpu_percent, queue, memory_percent, ClassThresholds()) == expected


def test_thresholds_are_parameters():
    assert load_class(5.0, 0.0, 10.0, ClassThresholds(idle_cpu_percent=5.0)) == IDLE
    assert load_class(50.0, 2.0, 60.0, ClassThresholds(full_memory_percent=59.0)) == HIGH
    assert load_class(50.0, 2.0, 60.0, ClassThresholds(low_cpu_percent=50.0, low_memory_percent=60.0)) == LOW
    assert load_class(50.0, 2.0, 60.0, ClassThresholds(high_queue=1.5, low_queue=1.0)) == HIGH


def test_classes_are_ordered_by_load():
    assert IDLE < LOW < NORMAL < HIGH

"""What a load manager sees of a task that announces another CPU demand than it has, worked by hand (task_by_hand)."""

from __future__ import annotations

import numpy as np
import pytest
from task_by_hand import MS, ahead, engine_of, measured, start

from cluster_abm.engine.tables import DEMAND
from cluster_abm.policy.tasks import CANDIDATE

# X computes 2000 ms at speed 1, which are 1000 ms on its node, and has had 200 of them after 248 ms (task_by_hand).
OF_WORK = ("cpu_ms", "page_ms", "io_ms")


def engine_that_announces(cpu_ms: float, *jobs, **more):
    engine = engine_of(*jobs, **more)
    demands = np.zeros(1, DEMAND)
    demands["cpu_ms"], demands["announced_ms"] = 2000.0, cpu_ms
    engine.tables = engine.tables._replace(demands=demands)
    start(engine)
    return engine


def of_work(loads):
    return {name: loads[name] for name in OF_WORK}


@pytest.mark.parametrize(("announced_ms", "left_ms"), [(2000.0, 1000.0), (3000.0, 1500.0), (600.0, 300.0)])
def test_all_work_ahead_is_that_of_the_announced_demand(announced_ms, left_ms):
    """CPU ahead here is half the demand, for the node's speed is 2; I/O and paging go with it."""
    assert of_work(measured(engine_that_announces(announced_ms), 0)) == pytest.approx(ahead(left_ms))


def test_what_is_received_is_taken_from_what_was_announced_but_never_more():
    """Of 300 ms of CPU here that were announced the task has had as much as of its true 1000; after 300 nothing is
    left, and 700 are in truth."""
    engine = engine_that_announces(600.0, {"phases": 0, "io_per_ms": 0.0}, fault_rate_per_ms=0.0, switch_ns=0)
    for at_ms, announced_ms, true_ms in ((100, 200.0, 900.0), (300, 0.0, 700.0), (470, 0.0, 530.0)):
        assert measured(engine, at_ms)["cpu_ms"] == pytest.approx(announced_ms)
        loads = engine.empty_loads()
        engine.measure(at_ms * MS, loads, truly=True)
        assert float(loads["cpu_ms"][0]) == pytest.approx(true_ms)
        row = engine.candidates(0, at_ms * MS, CANDIDATE)[0]
        # At speed 1; its age is the CPU that it has had.
        assert (row["cpu_ms"], row["age_ms"]) == pytest.approx((2 * announced_ms, 2000.0 - 2 * true_ms))
    engine.serve(2**60)
    assert engine.records["finish_ns"][0] == 1000 * MS


def test_what_it_announces_changes_nothing_of_its_course():
    courses = []
    for announced_ms in 2000.0, 9000.0:
        engine = engine_that_announces(announced_ms)
        engine.serve(2**60)
        courses.append(engine.records.tobytes())
    assert courses[0] == courses[1]

"""When processes start for the page's runs: the workers are stand-ins, no process is started."""

from __future__ import annotations

import time
from concurrent.futures import Future

import pytest

from viz.server.runs import TICK_S, Runs
from viz.server.said import Task

# Each looks for half a second whether more are started.
pytestmark = pytest.mark.slow


class StandIn:
    """A worker that computes for ever."""

    def __init__(self):
        self.knows, self.ready, self.is_killed = set(), Future(), False

    def compute(self, number, task):
        return Future()

    def abandon(self, number):
        pass

    def kill(self):
        self.is_killed = True


@pytest.fixture
def begun(monkeypatch):
    """The workers that have been started, the first first."""
    workers = []

    def started(asked, hear):
        workers.append(StandIn())
        return workers[-1], workers[-1].ready

    monkeypatch.setattr("viz.server.runs.started", started)
    return workers


@pytest.fixture
def runs(begun):
    runs = Runs({}, ready=2)
    yield runs
    runs.close()


def stays_at(count, begun):
    """Whether so many have been started, and no more within some looks at what waits."""
    time.sleep(5 * TICK_S)
    return len(begun) == count


def ask(runs, whose, seed=1):
    runs.ask(whose, Task({"seed": seed}, ("jsq",), "run"), lambda _: None)


def test_workers_start_one_after_another_up_to_those_that_are_kept_ready(runs, begun):
    ask(runs, "me")
    assert stays_at(1, begun)
    begun[0].ready.set_result(1)
    assert stays_at(2, begun)
    begun[1].ready.set_result(2)
    assert stays_at(2, begun)


@pytest.mark.parametrize(("visitors", "workers"), [(3, 3), (4, 4), (6, 4)])
def test_each_visitor_who_waits_has_a_worker_start_at_once_up_to_a_limit(runs, begun, visitors, workers):
    for number in range(visitors):
        ask(runs, f"visitor {number}", number)
    assert stays_at(workers, begun)


def test_a_visitor_for_whom_something_is_computed_has_none_beyond_those_that_are_kept_ready(runs, begun):
    ask(runs, "me")
    assert stays_at(1, begun)
    begun[0].ready.set_result(1)
    assert stays_at(2, begun)
    begun[1].ready.set_result(2)
    for seed in (2, 3, 4):
        ask(runs, "me", seed)
    assert stays_at(2, begun)
    ask(runs, "another", 5)
    assert stays_at(3, begun)

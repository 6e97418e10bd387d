"""Work of one process: the runs that it carries out, the runs of other processes, and the booking of results.

The store, the progress bar and the model are stand-ins.
"""

from __future__ import annotations

import pytest
from stand_in_runs import Bar, Keeper, request
from support import scenario

from cluster_abm.study.runner import work as module
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor
from cluster_abm.study.runner.work import Request, RequestedRuns
from cluster_abm.study.store.store import Record


def test_runs_are_carried_out_seed_by_seed_and_booked_at_once(carried, monkeypatch):
    monkeypatch.setattr(module.time, "sleep", pytest.fail)
    keeper, bar, finished = Keeper(), Bar(), []
    work = RequestedRuns(request(), keeper, bar, on_finished=finished.append)
    runs = [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert (bar.total, bar.done, work.expected, bar.calls) == (4, 0, 4, ["begins", "held"])
    work.carry_on(InlineExecutor())
    assert carried.names == runs
    assert keeper.calls[:3] == [("claim", runs[0]), ("add", runs[0]), ("release", runs[0])]
    assert (work.made, work.finished, work.failed, bar.done) == (4, set(runs), {}, 4)
    assert [record.name for record in finished] == runs
    # The store is tidied before each run.
    assert keeper.tidied == [0, 1, 2, 3]
    assert keeper.claims == []
    assert bar.shown[0] == {"running": 1, "failed": 0}


def test_progress_is_measured_from_the_moment_at_which_each_policy_has_finished_a_run(carried):
    setups = {"a": scenario(policy__name="jsq"), "b": scenario(policy__name="none"), "c": scenario(policy__name="none")}
    keeper, bar = Keeper(), Bar()
    asked = Request(tuple(setups), lambda run: setups[run[0]], lambda key, _: (1, 2))
    RequestedRuns(asked, keeper, bar).carry_on(InlineExecutor())
    assert bar.calls == ["begins", "held", ("measured at", 2)]


def test_known_runs_are_not_carried_out_again(carried):
    before = Record("b", 1, error="ValueError: before")
    keeper, bar = Keeper(), Bar()
    work = RequestedRuns(request(), keeper, bar, {"a": {1: 0.5, 9: 0.5}, "b": {1: None}}, {("b", 1): before})
    # Seed 9 is not in the request: it does not count.
    assert (work.finished, work.failed) == ({("a", 1)}, {("b", 1): before})
    assert (bar.done, bar.total) == (2, 4)
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 2), ("b", 2)]
    assert (work.made, len(work.finished), work.expected) == (2, 3, 4)
    # A run without the metric has finished too.
    assert RequestedRuns(request(), Keeper(), Bar(), {"a": {1: None}}).finished == {("a", 1)}


def test_the_values_of_finished_runs_decide_how_many_seeds_follow(carried):
    asked = []

    def seeds(key, values):
        asked.append(dict(values))
        return (
            range(1, 2 + sum(value is not None for value in values.values()) + 1) if len(values) < 3 else (1, 2, 3, 4)
        )

    carried.fates = {2: "ValueError: x"}
    bar = Bar()
    work = RequestedRuns(
        Request(("a",), lambda _: scenario(), seeds, value=lambda record: record.metrics["x"] * 2), Keeper(), bar
    )
    work.carry_on(InlineExecutor())
    # The failed run, seed 2, has no value.
    assert asked == [{}, {1: 1.0}, {1: 1.0, 2: None}, {1: 1.0, 2: None, 3: 1.0}, {1: 1.0, 2: None, 3: 1.0, 4: 1.0}]
    assert carried.names == [("a", seed) for seed in (1, 2, 3, 4)]
    assert (work.expected, bar.total, list(work.seeds_of("a"))) == (4, 4, [1, 2, 3, 4])
    assert set(work.failed) == {("a", 2)}


def test_a_run_that_another_process_has_claimed_is_left_to_it_and_polled(carried, monkeypatch):
    keeper, bar = Keeper(), Bar()
    keeper.foreign = {("a", 1)}
    theirs, slept = Record("a", 1, {"x": 7.0}), []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 2:
            keeper.records["a", 1] = theirs
            keeper.foreign.clear()

    monkeypatch.setattr(module.time, "sleep", sleep)
    finished = []
    work = RequestedRuns(request(("a",)), keeper, bar, on_finished=finished.append)
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 2)]
    assert (work.made, work.finished) == (1, {("a", 1), ("a", 2)})
    assert theirs in finished
    assert slept == [0.5, 0.5]
    assert {"running": 0, "failed": 0, "elsewhere": 1} in bar.shown
    assert keeper.claims == []


def test_a_run_is_taken_over_if_another_process_gives_up_its_claim(carried, monkeypatch):
    keeper = Keeper()
    keeper.foreign = {("a", 1)}
    monkeypatch.setattr(module.time, "sleep", lambda _: keeper.foreign.clear())
    work = RequestedRuns(request(("a",), (1,)), keeper, Bar())
    work.carry_on(InlineExecutor())
    assert (carried.names, work.made) == ([("a", 1)], 1)


@pytest.mark.parametrize(("to_retry", "written_ns", "tried"), [
    # The record from before the retry does not count; a record that another process has written since does.
    ({("a", 1): 50}, 50, True), ({("a", 1): 50}, 60, False), ({}, 50, False), ({("a", 1): None}, None, False),
])  # fmt: skip
def test_a_failed_run_is_retried_unless_another_process_has_retried_it(carried, to_retry, written_ns, tried):
    keeper = Keeper()
    keeper.records["a", 1] = Record("a", 1, error="ValueError: before")
    keeper.times["a", 1] = written_ns
    work = RequestedRuns(request(("a",), (1,)), keeper, Bar(), to_retry=to_retry)
    work.carry_on(InlineExecutor())
    assert (work.made, set(work.finished), set(work.failed)) == (
        (1, {("a", 1)}, set()) if tried else (0, set(), {("a", 1)})
    )
    assert keeper.claims == []


def test_a_failed_run_that_has_finished_since_is_not_retried(carried):
    keeper = Keeper()
    keeper.records["a", 1] = Record("a", 1, {"x": 7.0})
    keeper.times["a", 1] = 50
    work = RequestedRuns(request(("a",), (1,)), keeper, Bar(), to_retry={("a", 1): 50})
    work.carry_on(InlineExecutor())
    assert (work.made, work.finished, carried.names) == (0, {("a", 1)}, [])

"""Which runs a process carries out, which it leaves to others, and how what comes of them is booked.

Where records are kept, what carries runs out and the progress are stand-ins; no model runs.
"""

from __future__ import annotations

import pytest
from stand_in_runs import Bar, Keeper, request
from support import scenario

from cluster_abm.study.runner import work as module
from cluster_abm.study.runner.executors.inline import InlineExecutor
from cluster_abm.study.runner.work import Request, Work
from cluster_abm.study.store.store import Record


def test_runs_are_carried_out_seed_by_seed_and_booked_at_once(carried, monkeypatch):
    monkeypatch.setattr(module.time, "sleep", pytest.fail)
    keeper, bar, finished = Keeper(), Bar(), []
    work = Work(request(), keeper, bar, on_finished=finished.append)
    runs = [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert (bar.total, bar.done, work.expected, bar.calls) == (4, 0, 4, ["begins", "held"])
    work.carry_on(InlineExecutor())
    assert carried.names == runs
    assert keeper.calls[:3] == [("claim", runs[0]), ("add", runs[0]), ("release", runs[0])]
    assert (work.made, work.finished, work.failed, bar.done) == (4, set(runs), {}, 4)
    assert [record.name for record in finished] == runs
    # It is tidied as runs are made.
    assert keeper.tidied == [0, 1, 2, 3]
    assert keeper.claims == []
    assert bar.shown[0] == {"running": 1, "failed": 0}


def test_how_long_runs_take_is_measured_once_each_policy_has_finished_one(carried):
    setups = {"a": scenario(policy__name="jsq"), "b": scenario(policy__name="none"), "c": scenario(policy__name="none")}
    keeper, bar = Keeper(), Bar()
    asked = Request(tuple(setups), lambda run: setups[run[0]], lambda key, _: (1, 2))
    Work(asked, keeper, bar).carry_on(InlineExecutor())
    assert bar.calls == ["begins", "held", ("measured at", 2)]


def test_what_is_known_is_not_carried_out_again(carried):
    before = Record("b", 1, error="ValueError: before")
    keeper, bar = Keeper(), Bar()
    work = Work(request(), keeper, bar, {"a": {1: 0.5, 9: 0.5}, "b": {1: None}}, {("b", 1): before})
    # Of seeds that are not asked for nothing is said.
    assert (work.finished, work.failed) == ({("a", 1)}, {("b", 1): before})
    assert (bar.done, bar.total) == (2, 4)
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 2), ("b", 2)]
    assert (work.made, len(work.finished), work.expected) == (2, 3, 4)
    # A run may have finished without the value that seeds go by.
    assert Work(request(), Keeper(), Bar(), {"a": {1: None}}).finished == {("a", 1)}


def test_seeds_are_asked_for_again_by_the_values_that_came(carried):
    asked = []

    def seeds(key, values):
        asked.append(dict(values))
        return (
            range(1, 2 + sum(value is not None for value in values.values()) + 1) if len(values) < 3 else (1, 2, 3, 4)
        )

    carried.fates = {2: "ValueError: x"}
    bar = Bar()
    work = Work(
        Request(("a",), lambda _: scenario(), seeds, value=lambda record: record.metrics["x"] * 2), Keeper(), bar
    )
    work.carry_on(InlineExecutor())
    # One that failed has no value.
    assert asked == [{}, {1: 1.0}, {1: 1.0, 2: None}, {1: 1.0, 2: None, 3: 1.0}, {1: 1.0, 2: None, 3: 1.0, 4: 1.0}]
    assert carried.names == [("a", seed) for seed in (1, 2, 3, 4)]
    assert (work.expected, bar.total, list(work.seeds_of("a"))) == (4, 4, [1, 2, 3, 4])
    assert set(work.failed) == {("a", 2)}


def test_a_run_that_another_process_has_is_left_to_it_and_looked_for_again(carried, monkeypatch):
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
    work = Work(request(("a",)), keeper, bar, on_finished=finished.append)
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 2)]
    assert (work.made, work.finished) == (1, {("a", 1), ("a", 2)})
    assert theirs in finished
    assert slept == [0.5, 0.5]
    assert {"running": 0, "failed": 0, "elsewhere": 1} in bar.shown
    assert keeper.claims == []


def test_a_run_that_another_process_leaves_undone_is_taken_over(carried, monkeypatch):
    keeper = Keeper()
    keeper.foreign = {("a", 1)}
    monkeypatch.setattr(module.time, "sleep", lambda _: keeper.foreign.clear())
    work = Work(request(("a",), (1,)), keeper, Bar())
    work.carry_on(InlineExecutor())
    assert (carried.names, work.made) == ([("a", 1)], 1)


@pytest.mark.parametrize(("to_retry", "written_ns", "tried"), [
    # The record that a failed run had before is no answer; one that another process has written since is.
    ({("a", 1): 50}, 50, True), ({("a", 1): 50}, 60, False), ({}, 50, False), ({("a", 1): None}, None, False),
])  # fmt: skip
def test_a_failed_run_is_tried_again_unless_another_process_has_done_so(carried, to_retry, written_ns, tried):
    keeper = Keeper()
    keeper.records["a", 1] = Record("a", 1, error="ValueError: before")
    keeper.times["a", 1] = written_ns
    work = Work(request(("a",), (1,)), keeper, Bar(), to_retry=to_retry)
    work.carry_on(InlineExecutor())
    assert (work.made, set(work.finished), set(work.failed)) == (
        (1, {("a", 1)}, set()) if tried else (0, set(), {("a", 1)})
    )
    assert keeper.claims == []


def test_a_run_that_finished_meanwhile_is_not_tried_again(carried):
    keeper = Keeper()
    keeper.records["a", 1] = Record("a", 1, {"x": 7.0})
    keeper.times["a", 1] = 50
    work = Work(request(("a",), (1,)), keeper, Bar(), to_retry={("a", 1): 50})
    work.carry_on(InlineExecutor())
    assert (work.made, work.finished, carried.names) == (0, {("a", 1)}, [])

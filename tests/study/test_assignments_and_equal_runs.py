"""Assignments that processes get, compilation before the first run, and equal runs, which are carried out once.

The store, the progress bar and the model are stand-ins.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from stand_in_runs import Bar, Keeper, request, row

from cluster_abm.policies import Policy, register
from cluster_abm.study.design.policy_sources import policy_version
from cluster_abm.study.runner import work as module
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor
from cluster_abm.study.runner.work import RequestedRuns
from cluster_abm.study.store.store import Record


class Others(InlineExecutor):
    """An executor that counts as several processes."""

    is_in_process = False


def test_an_assignment_holds_the_options_of_its_request(carried):
    register(type("Mine", (Policy,), {"name": "mine"}))
    asked = request(("a",), (1, 2), "mine", load_seed=2, raises_bad_input=True, keeps_responses=True)
    RequestedRuns(asked, Keeper(), Bar()).carry_on(InlineExecutor())
    RequestedRuns(request(("a",), (1,), "mine"), Keeper(), Bar()).carry_on(Others())
    first, second, third = carried.assignments
    assert (first.key, first.seed, first.keeps_load) == ("a", 1, False)
    assert (first.raises_bad_input, first.keeps_responses, second.keeps_load) == (True, True, True)
    assert first.policy_version == policy_version("mine") != ""
    # A run in this process finds its policies. For another process the assignment says where they are.
    assert first.policies == ()
    assert [one.name for one in third.policies] == ["mine"]
    assert (third.keeps_load, third.raises_bad_input, third.keeps_responses) == (False, False, False)


def test_after_an_interrupt_the_runs_that_took_five_seconds_or_more_are_named(carried, monkeypatch):
    class Flight:
        has_room = True

        def __init__(self, *_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def __len__(self):
            return 1

        def send(self, *_, **__):
            raise KeyboardInterrupt

        def under_way(self):
            return [((("a", 1),), 4.9), ((("b", 1),), 5.0), ((("a", 2), ("b", 2)), 60.0)]

    monkeypatch.setattr(module, "InFlight", Flight)
    work = RequestedRuns(request(), Keeper(), Bar())
    with pytest.raises(KeyboardInterrupt):
        work.carry_on(InlineExecutor())
    assert work.under_way == [(("b", 1), 5.0), (("a", 2), 60.0), (("b", 2), 60.0)]


@pytest.mark.parametrize(("is_here", "parts", "compiles"), [(True, ["p"], True), (True, [], False),
                                                            (False, ["p"], False)])  # fmt: skip
def test_processes_of_this_machine_compile_missing_parts_first(carried, monkeypatch, is_here, parts, compiles):
    asked = []

    class Here(InlineExecutor):
        pass

    Here.is_here = is_here
    monkeypatch.setattr(module, "missing_parts", lambda scenarios: asked.append(len(list(scenarios))) or parts)
    monkeypatch.setattr(module, "compile_ahead", lambda *given, look: asked.append((given, look(), carried.names)))
    executor = Here()
    RequestedRuns(request(), Keeper(), Bar()).carry_on(executor)
    # Two keys: two scenarios are looked up.
    assert asked == ([2] if is_here else []) + ([((executor, parts, True), None, [])] if compiles else [])


# ---- equal runs ----


@pytest.fixture
def alike(monkeypatch):
    """Seeds below ten give equal runs; the fixture is the list of comparisons so far."""
    asked = []

    def are_alike(_, scenario, one, other):
        asked.append((scenario is not None, one, other))
        return scenario is not None and one < 10 and other < 10

    monkeypatch.setattr(module.Seeds, "are_alike", are_alike)
    monkeypatch.setattr(module, "draws_nothing", lambda scenario: scenario.policy.name == "jsq")
    return asked


def test_equal_runs_are_made_once_and_booked_with_the_first(carried, alike):
    keeper, bar, finished = Keeper(), Bar(), []
    work = RequestedRuns(request(("a",), (3, 4, 11, 5), load_seed=3), keeper, bar, on_finished=finished.append)
    assert (len(work.queue), work.expected, bar.total) == (2, 4, 4)
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 3), ("a", 11)]
    assert (work.made, bar.done) == (2, 4)
    assert work.finished == {("a", seed) for seed in (3, 4, 5, 11)}
    # Each run has its own record, which is added before its claim is released.
    assert [(record.seed, record.metrics) for record in finished[:3]] == [(seed, row()) for seed in (3, 4, 5)]
    assert keeper.calls[3:6] == [("claim", ("a", 4)), ("add", ("a", 4)), ("release", ("a", 4))]
    assert (set(keeper.records), keeper.claims) == (work.finished, [])


def test_only_the_run_with_the_load_seed_keeps_the_load_over_time(carried, alike, monkeypatch):
    def carry_out(assignment):
        return replace(carried.carry_out(assignment), load={"tasks": [1]} if assignment.keeps_load else None)

    monkeypatch.setattr(module, "carry_out", carry_out)
    keeper = Keeper()
    # The run with the load seed is carried out although it is equal to the first.
    RequestedRuns(request(("a",), (3, 4, 5), load_seed=4), keeper, Bar()).carry_on(InlineExecutor())
    assert carried.names == [("a", 3), ("a", 4)]
    assert {seed: record.load is not None for (_, seed), record in keeper.records.items()} == {
        3: False, 4: True, 5: False,
    }  # fmt: skip
    keeper = Keeper()
    RequestedRuns(request(("a",), (4, 5), load_seed=4), keeper, Bar()).carry_on(InlineExecutor())
    assert [record.load for record in keeper.records.values()] == [{"tasks": [1]}, None]


def test_runs_of_a_policy_that_draws_are_all_carried_out(carried, alike):
    RequestedRuns(request(("a",), (3, 4), policy="random"), Keeper(), Bar()).carry_on(InlineExecutor())
    assert carried.names == [("a", 3), ("a", 4)]
    assert alike == [(False, 3, 4)]


def test_runs_of_different_keys_are_never_equal(carried, alike):
    RequestedRuns(request(("a", "b"), (3, 4)), Keeper(), Bar()).carry_on(InlineExecutor())
    assert carried.names == [("a", 3), ("b", 3)]


def test_if_the_first_of_equal_runs_fails_the_others_are_carried_out(carried, alike):
    carried.fates = {3: "ValueError: x"}
    work = RequestedRuns(request(("a",), (3, 4, 5)), Keeper(), Bar())
    work.carry_on(InlineExecutor())
    # The failure may have been chance.
    assert carried.names == [("a", 3), ("a", 4), ("a", 5)]
    assert (work.finished, set(work.failed)) == ({("a", 4), ("a", 5)}, {("a", 3)})


def test_equal_runs_that_another_process_has_claimed_or_finished_keep_its_records(carried, alike, monkeypatch):
    keeper = Keeper()
    keeper.foreign = {("a", 4)}
    keeper.records["a", 5] = Record("a", 5, {"x": 0.5, "theirs": 1})
    keeper.records["a", 6] = Record("a", 6, error="ValueError: theirs")

    def sleep(_):
        keeper.records["a", 4] = Record("a", 4, {"x": 0.5})
        keeper.foreign.clear()

    monkeypatch.setattr(module.time, "sleep", sleep)
    work = RequestedRuns(request(("a",), (3, 4, 5, 6)), keeper, Bar())
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 3)]
    assert len(work.finished) == 4
    assert keeper.records["a", 5].metrics == {"x": 0.5, "theirs": 1}
    # Seed 6 failed in the other process; this process knows that it finishes.
    assert keeper.records["a", 6].metrics == row()
    assert [run for what, run in keeper.calls if what == "add"] == [("a", 3), ("a", 6)]
    assert keeper.claims == []


def test_a_record_from_before_does_not_stand_for_other_seeds(carried, alike):
    """Only a run that this process carries out does, here that of seed 4."""
    work = RequestedRuns(request(("a",), (3, 4, 5)), Keeper(), Bar(), {"a": {3: 0.5}})
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 4)]
    assert (work.made, len(work.finished)) == (1, 3)


def test_a_seed_that_is_requested_after_the_first_run_is_over_is_carried_out(carried, alike):
    asked = replace(
        request(("a",)), seeds=lambda key, values: (3, 4) if values else (3,), value=lambda record: record.metrics["x"]
    )
    work = RequestedRuns(asked, Keeper(), Bar())
    work.carry_on(InlineExecutor())
    assert carried.names == [("a", 3), ("a", 4)]
    assert work.made == 2

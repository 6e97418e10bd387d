"""`run_all`: the order of its rows, the executor that it opens, faults, and interrupts.

The model is a stand-in.
"""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from stand_in_runs import of, row

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.interrupts import PolicyInterrupted
from cluster_abm.study.runner import tasks as module
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor
from cluster_abm.study.runner.tasks import RunsOutcome, Where, run_all

FAULT = "PolicyFault: policy 'mine': place: no node 9"


def here(tasks, **more):
    return run_all(tasks, where=Where("inline"), quiet=True, **more)


@pytest.mark.parametrize(("where", "runs", "chosen"), [
    (Where(), 9, ("process", 4)), (Where(), 2, ("process", 2)), (Where(), 1, ("inline", None)),
    (Where(workers=1), 9, ("inline", None)), (Where(workers=2), 9, ("process", 2)),
    (Where(workers=3), 2, ("process", 2)), (Where("inline"), 9, ("inline", None)),
    (Where("inline", workers=1), 9, ("inline", 1)), (Where("slurm", workers=50), 2, ("slurm", 50)),
    (Where("dask"), 2, ("dask", None)),
])  # fmt: skip
def test_an_executor_has_no_more_workers_than_runs(monkeypatch, where, runs, chosen):
    monkeypatch.setattr(module, "available_processors", lambda: 4)
    assert where.chosen(runs) == chosen


def test_rows_are_in_the_order_of_the_tasks_and_equal_tasks_are_made_once(carried):
    tasks = [*of(3, 2), *of(2, 1, 2), *of(3, 2)]
    outcome = here(tasks)
    assert outcome.rows == [row(3), row(2), row(2), row(3)]
    # Runs are carried out seed by seed; equal scenarios have one key.
    assert carried.seeds == [1, 2, 2]
    assert (outcome.made, outcome.finished, outcome.exit_code, outcome.problems) == (3, 4, 0, [])
    assert not outcome.interrupted


def test_a_list_keeps_responses_of_jobs_only_on_request(carried):
    here(of(2, 1))
    here(of(2, 1), keeps_responses=True)
    assert [one.keeps_responses for one in carried.assignments] == [False, True]


def test_an_empty_list_opens_no_executor(carried, monkeypatch):
    def refused(*_):
        pytest.fail("an executor is opened")

    monkeypatch.setattr(module, "open_executor", refused)
    assert here([]).rows == []


def test_a_given_executor_is_used_and_left_open(carried, monkeypatch):
    class Open(InlineExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            pytest.fail("its caller ends it")

        abandon = shutdown

    monkeypatch.setattr(module, "open_executor", pytest.fail)
    assert here(of(2, 1, 2), executor=Open()).finished == 2


def test_an_executor_is_opened_with_the_options_of_where(carried, monkeypatch):
    opened = []

    @contextmanager
    def open_executor(*given):
        opened.append(given)
        yield InlineExecutor()

    monkeypatch.setattr(module, "open_executor", open_executor)
    monkeypatch.setattr(module, "available_processors", lambda: 4)
    # Two of the three tasks are the same run: two workers.
    run_all([*of(2, 1, 2), *of(2, 2)], quiet=True)
    run_all(of(2, 1), quiet=True, where=Where("dask", dask="tcp://here:1"))
    run_all(of(2, 1, 2), workers=3, quiet=True, where=Where("slurm", workers=5, slurm={"time": 1}))
    run_all(of(2, 1, 2, 3), workers=3, quiet=True)
    assert opened == [
        ("process", 2, None, None), ("dask", None, "tcp://here:1", None), ("slurm", 5, None, {"time": 1}),
        ("process", 3, None, None),
    ]  # fmt: skip


def test_faults_of_this_program_are_reported_by_seed_with_their_tracebacks(carried):
    carried.fates = {3: "ValueError: c", 1: "ValueError: a"}
    outcome = here([*of(2, 3, 2, 1)])
    assert outcome.rows == [None, row(2), None]
    assert outcome.errors == [
        "test, policy jsq, seed 1: Traceback (of it):\n  ValueError: a",
        "test, policy jsq, seed 3: Traceback (of it):\n  ValueError: c",
    ]
    assert outcome.problems == [
        "test, policy jsq, seed 1:   ValueError: a",
        "test, policy jsq, seed 3:   ValueError: c",
    ]
    assert (outcome.exit_code, outcome.made, outcome.finished) == (1, 3, 1)


def test_faults_of_policies_are_counted(carried):
    carried.fates = {1: FAULT, 2: FAULT, 4: "PolicyFault: another"}
    outcome = here(of(2, 1, 2, 3, 4))
    line = FAULT.removeprefix("PolicyFault: ")
    assert outcome.policy_faults == {line: 2, "another": 1}
    assert (outcome.errors, outcome.exit_code) == ([], 2)
    assert outcome.problems == [f"{line} (ended 2 runs)", "another"]


def test_faults_of_policies_are_bad_input_if_no_run_finished(carried):
    carried.fates = {1: FAULT, 2: "PolicyFault: another", 3: FAULT}
    with pytest.raises(InputError) as found:
        here(of(2, 1, 2, 3))
    assert found.value.problems == [FAULT.removeprefix("PolicyFault: "), "another"]
    # Faults of this program are not bad input. After an interrupt further runs might have finished.
    carried.fates = {1: "ValueError: ours"}
    assert here(of(2, 1)).exit_code == 1
    carried.fates = {1: FAULT, 2: KeyboardInterrupt()}
    assert here(of(2, 1, 2, 3)).interrupted


def test_an_interrupt_keeps_finished_runs_and_counts_them(carried):
    carried.fates = {3: KeyboardInterrupt()}
    outcome = here(of(2, 1, 2, 3, 4))
    assert outcome.rows == [row(2), row(2), None, None]
    assert (outcome.interrupted, outcome.made, outcome.exit_code) == (True, 2, 0)
    assert outcome.problems == ["interrupted: 2 of 4 runs are kept"]
    assert outcome.under_way == []


def test_an_interrupted_list_names_the_runs_that_were_under_way(carried, monkeypatch):
    def carry_on(self, executor):
        self.under_way = [(name, 75.6) for name in list(self.queue)[:1]]
        raise KeyboardInterrupt

    monkeypatch.setattr(module.RequestedRuns, "carry_on", carry_on)
    assert here(of(2, 7, 8)).under_way == ["test, policy jsq, seed 7, for 76 s"]


def test_an_interrupt_in_a_method_of_a_policy_names_the_method(carried):
    carried.fates = {1: PolicyInterrupted("policy 'mine': place had been at work for 9 s")}
    outcome = here(of(2, 1, 2))
    assert outcome.interrupted
    assert outcome.under_way == ["policy 'mine': place had been at work for 9 s"]


def test_bad_input_ends_the_list_and_a_fault_of_a_policy_ends_its_run(carried):
    carried.fates = {2: InputError("workload: wrong")}
    with pytest.raises(InputError, match="workload: wrong"):
        here(of(2, 1, 2, 3))
    assert carried.seeds == [1, 2]
    carried.fates = {2: PolicyFault("no node 9")}
    assert here(of(2, 1, 2, 3)).policy_faults == {"no node 9": 1}


def test_an_outcome_with_defaults():
    outcome = RunsOutcome([None, {}])
    assert (outcome.finished, outcome.exit_code, outcome.problems, outcome.made) == (1, 0, [], 0)


def test_options_of_another_executor_are_refused_before_the_first_run(carried):
    for tasks in ([], of(2, 1)):
        with pytest.raises(InputError, match="`--dask` needs"):
            run_all(tasks, where=Where(dask="tcp://here:1"), executor=InlineExecutor(), quiet=True)
    assert carried.seeds == []

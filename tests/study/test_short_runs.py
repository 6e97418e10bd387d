"""Short runs: several make one task, a lost task is made again run by run, and little work starts no process.

Executors and models are stand-ins.
"""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future

import pytest
from stand_in_runs import Bar, Keeper, request
from studies import study

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.study.batch import run_batch
from cluster_abm.study.runner import assigning, beginning, groups, one_run, sending, work
from cluster_abm.study.runner.assigning import MOST_KEPT, Assigning
from cluster_abm.study.runner.executors import WorkerLost
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor
from cluster_abm.study.runner.groups import Pace, carry_out_in_turn
from cluster_abm.study.runner.one_run import HandedOver, looked_after
from cluster_abm.study.runner.work import RequestedRuns
from cluster_abm.study.store.store import Record


def assignments(*seeds):
    setup = request().scenario
    return [Assigning(setup, raises_bad_input=True).of(("a", seed), True) for seed in seeds]


def records(*seeds):
    return tuple(Record("a", seed, {"nodes": 4, "x": 0.5}) for seed in seeds)


# ---- one task ----


def test_runs_of_a_task_come_back_in_order_with_the_time_of_all_but_the_first_of_a_policy(carried, monkeypatch):
    monkeypatch.setattr(groups, "_loaded", set())
    back = carry_out_in_turn(carried.carry_out, *assignments(1, 2, 3))
    assert (back.records, back.problem) == (records(1, 2, 3), None)
    # The first also loads what is compiled: its time says nothing of the next one's.
    assert [seconds is None for seconds in back.seconds] == [True, False, False]
    assert all(0.0 <= seconds < 1.0 for seconds in back.seconds[1:])


def test_bad_input_ends_a_task_and_what_was_finished_before_it_comes_back(carried):
    carried.fates = {3: InputError("wrong")}
    back = carry_out_in_turn(carried.carry_out, *assignments(1, 2, 3, 4))
    assert (back.records, str(back.problem), carried.seeds) == (records(1, 2), "wrong", [1, 2, 3])


@pytest.mark.parametrize("problem", [SystemExit(3), PolicyFault("no node 9"), MemoryError("much")])
def test_what_else_a_run_raises_is_its_record_and_the_next_one_begins(carried, problem):
    carried.fates = {2: problem}
    back = carry_out_in_turn(carried.carry_out, *assignments(1, 2, 3))
    assert [record.failed for record in back.records] == [False, True, False]
    assert back.records[1].error == f"{type(problem).__name__}: {problem}"


@pytest.mark.parametrize("problem", [KeyboardInterrupt, HandedOver])
def test_what_ends_the_work_of_this_process_is_raised(carried, problem):
    carried.fates = {2: problem()}
    with pytest.raises(problem):
        carry_out_in_turn(carried.carry_out, *assignments(1, 2, 3))


def test_the_pace_is_that_of_the_last_runs_of_the_same_key():
    pace = Pace()
    pace.note(("a", 1), None)
    assert (pace.typical_s, pace.of(("a", 2)), pace.work_s(9), pace.task_s(9, 2)) == (None, None, None, 0.0)
    for seconds in (0.1, 9.0, 0.1, 0.2):
        pace.note(("a", 1), seconds)
    pace.note(("b", 1), 0.6)
    # One run that was disturbed counts for little; of a key that is new all runs tell.
    assert (pace.of(("a", 9)), pace.of(("b", 9))) == (0.1, 0.6)
    assert pace.of(("c", 1)) == pace.typical_s == pytest.approx(2.0)
    assert pace.work_s(10) == pytest.approx(20.0)
    assert pace.task_s(100, 2) == groups.TASK_S
    # At the end no worker has much more left than another.
    assert pace.task_s(1, 4) == pytest.approx(0.25)


def test_what_runs_of_a_key_share_is_made_once_and_not_kept_for_ever():
    asked, setup = [], request().scenario
    made = Assigning(lambda run: asked.append(run) or setup(run), load_seed=2)
    first, second = made.of(("a", 1), True), made.of(("a", 2), True)
    assert first.scenario is second.scenario
    assert [(one.seed, one.keeps_load) for one in (first, second)] == [(1, False), (2, True)]
    for number in range(MOST_KEPT):
        made.of((f"b{number}", 1), True)
    made.of(("a", 3), True)
    assert [run for run in asked if run[0] == "a"] == [("a", 1), ("a", 3)]


# ---- many tasks ----


class Workers(InlineExecutor):
    """Workers elsewhere, in this process: carries out a task when it is submitted, unless a test loses it.

    Attributes:
        tasks: the seeds of each task, in order.
        loses: seeds whose worker is lost, and how often.
    """

    is_in_process = False
    window, at_once = 4, 2

    def __init__(self, **loses):
        self.tasks, self.loses = [], {int(seed[1:]): count for seed, count in loses.items()}

    def submit(self, function, /, *assignments):
        seeds = [one.seed for one in assignments]
        self.tasks.append(seeds)
        lost = [seed for seed in seeds if self.loses.get(seed)]
        if not lost:
            return super().submit(function, *assignments)
        for seed in lost:
            self.loses[seed] -= 1
        future = Future()
        future.set_exception(WorkerLost("killed by SIGKILL"))
        return future


@pytest.fixture
def steady(monkeypatch):
    """Every run takes 0.05 s, by the clock of the tasks."""
    monkeypatch.setattr(groups, "_loaded", {"jsq"})
    now_s = [0.0]

    def perf_counter():
        now_s[0] += 0.05
        return now_s[0]

    monkeypatch.setattr(groups, "time", type("", (), {"perf_counter": staticmethod(perf_counter)}))


@pytest.fixture
def grouped(carried, steady):
    return carried


def done(executor, seeds=range(40), **more):
    keeper = Keeper()
    made = RequestedRuns(request(("a",), seeds, **more), keeper, Bar())
    made.carry_on(executor)
    assert keeper.claims == []
    return made, keeper


def test_short_runs_make_tasks_of_half_a_second_and_smaller_ones_at_the_end(grouped):
    executor = Workers()
    made, keeper = done(executor)
    sizes = [len(task) for task in executor.tasks]
    # The first four are sent before any is over. Each takes 0.05 s, so that ten of them make half a second.
    assert sizes[:4] == [1, 1, 1, 1]
    assert sizes[4] in (9, 10)
    assert sizes[4:] == sorted(sizes[4:], reverse=True)
    assert sizes[-1] == 1
    assert [seed for task in executor.tasks for seed in task] == list(range(40))
    assert (made.made, len(made.finished), set(keeper.records)) == (40, 40, made.finished)


def test_long_runs_are_sent_one_by_one(carried, monkeypatch):
    monkeypatch.setattr(groups, "TASK_S", 0.0)
    executor = Workers()
    done(executor)
    assert executor.tasks == [[seed] for seed in range(40)]


def test_the_runs_of_a_lost_task_are_sent_again_each_alone(grouped):
    executor = Workers(s6=1)
    made, _ = done(executor)
    assert (len(made.finished), made.failed) == (40, {})
    lost = next(task for task in executor.tasks if 6 in task)
    assert len(lost) > 1
    # No more than the lost task is made again.
    again = [task for task in executor.tasks if set(task) & set(lost)][1:]
    assert again == [[seed] for seed in lost]
    assert sum(map(len, executor.tasks)) == 40 + len(lost)


def test_a_run_that_ends_every_worker_fails_after_the_fourth_and_costs_no_other_run(grouped):
    executor = Workers(s6=9)
    made, _ = done(executor)
    assert set(made.failed) == {("a", 6)}
    assert "its worker was lost 4 times; the last time: killed by SIGKILL" in made.failed["a", 6].error
    assert len(made.finished) == 39
    # The lost task counts as its first.
    assert sum(6 in task for task in executor.tasks) == 4


def test_bad_input_in_a_task_keeps_the_runs_before_it_and_ends_all(grouped):
    grouped.fates = {8: InputError("wrong")}
    keeper = Keeper()
    asked = RequestedRuns(request(("a",), range(40), raises_bad_input=True), keeper, Bar())
    with pytest.raises(InputError, match="wrong"):
        asked.carry_on(Workers())
    assert len(asked.finished) == asked.made
    assert set(keeper.records) == asked.finished >= {("a", seed) for seed in range(8)}
    assert ("a", 8) not in asked.finished


def test_ctrl_c_keeps_all_runs_of_tasks_that_are_back(grouped):
    class Interrupted(Workers):
        def submit(self, function, /, *given):
            if len(self.tasks) == 6:
                raise KeyboardInterrupt
            return super().submit(function, *given)

    keeper = Keeper()
    asked = RequestedRuns(request(("a",), range(40)), keeper, Bar())
    executor = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        asked.carry_on(executor)
    assert len(executor.tasks[-1]) > 1
    assert asked.finished == set(keeper.records) == {("a", seed) for task in executor.tasks for seed in task}


def test_few_runs_are_sent_until_it_is_known_how_long_one_takes(monkeypatch):
    class Slow(Workers):
        window = 100

        def submit(self, function, /, *given):
            self.tasks.append(given)
            return Future()

    now_s = [0.0]
    monkeypatch.setattr(sending, "time", type("", (), {"monotonic": staticmethod(lambda: now_s[0])}))
    executor, queue = Slow(), deque(("a", seed) for seed in range(200))
    sends = sending.Sending(Assigning(request().scenario), queue)

    def fill():
        flight = work.InFlight(executor, pytest.fail)
        while queue and sends.has_room(flight, executor):
            sends.send_next(flight, executor, lambda run: True, abs)
        return len(executor.tasks)

    assert fill() == 4
    # A cluster that grows by what waits for it sees that much, if its first runs are long.
    now_s[0] = sending.FEW_FOR_S + 0.1
    assert fill() == 104


# ---- the beginning ----


class Helpers(Workers):
    """Processes of this machine, none of which has been started."""

    is_here, is_ready = True, False


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(work, "missing_parts", lambda scenarios: [])


def test_little_work_starts_no_process(grouped, compiled):
    helpers = Helpers()
    made, _ = done(helpers)
    assert (made.made, helpers.tasks) == (40, [])


def test_much_work_is_left_to_processes(grouped, compiled):
    helpers = Helpers()
    made, _ = done(helpers, range(200))
    assert made.made == 200
    # The code is loaded: the first run tells how long one takes.
    assert 200 - sum(map(len, helpers.tasks)) == 1
    assert max(map(len, helpers.tasks)) > 1


def test_runs_that_later_calls_will_ask_for_count_as_work(grouped, compiled):
    helpers = Helpers()
    done(helpers, to_come=1000)
    assert sum(map(len, helpers.tasks)) == 39


def test_the_policy_of_a_user_does_not_run_in_this_process(grouped, compiled, monkeypatch):
    monkeypatch.setattr(assigning, "sources_of", lambda names: ("a file",))
    helpers = Helpers()
    done(helpers)
    assert sum(map(len, helpers.tasks)) == 40


def test_processes_that_are_there_get_all_runs(grouped, compiled):
    helpers = Helpers()
    helpers.is_ready = True
    done(helpers)
    assert sum(map(len, helpers.tasks)) == 40


def test_the_second_run_of_a_key_comes_early_for_it_tells_how_long_runs_take(grouped, compiled, monkeypatch):
    monkeypatch.setattr(groups, "_loaded", set())
    RequestedRuns(request(("a", "b", "c"), (1, 2)), Keeper(), Bar()).carry_on(Helpers())
    assert grouped.names[:3] == [("a", 1), ("a", 2), ("b", 1)]


def test_a_long_run_is_given_up_and_carried_out_by_a_process(grouped, compiled, monkeypatch):
    monkeypatch.setattr(beginning, "PATIENCE_S", 0.05)
    helpers, begun = Helpers(), []

    def carry_out(assignment):
        begun.append(assignment.seed)
        look = one_run._look.get()
        if look is not None:
            # It has not taken long yet.
            look()
            time.sleep(0.1)
            look()
        return grouped.carry_out(assignment)

    monkeypatch.setattr(work, "carry_out", carry_out)
    made, _ = done(helpers, range(5))
    assert begun == [0, 0, 1, 2, 3, 4]
    assert (made.made, sum(map(len, helpers.tasks))) == (5, 5)


def test_a_run_is_looked_after_in_the_block_alone():
    seen = []
    with looked_after(lambda: seen.append(1)):
        one_run._look.get()()
    assert (seen, one_run._look.get()) == ([1], None)


@pytest.mark.slow
def test_a_batch_of_few_short_runs_starts_no_process(tmp_path, crew):
    outcome = run_batch(study(tmp_path / "study"), tmp_path / "out", "process", 2, quiet=True)
    assert (outcome.made, outcome.finished, crew.started) == (12, 12, [])

"""What a policy answers when it is asked by hand: drawn views of one to six nodes, and tasks of all sizes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Decision, Hardware, Holding, Paths, Policy, View
from cluster_abm.policy.capacities import capacities_of
from cluster_abm.policy.tasks import Demands
from cluster_abm.testing.subject import Subject, fail, faults_in_words

DRAWN = 30
DEMANDS = Demands(*(np.array(column) for column in ([1, 2, 1], [1.0, 30.0, 4000.0], [0.0, 0.1, 0.0], [1.0, 2.0, 3.0])))


class AskedTask(NamedTuple):
    """A task that arrives, and what its home's manager sees."""

    task: ArrivingTask
    view: View


def questions() -> Iterator[AskedTask]:
    """The same ones for every policy: idle and crowded nodes, alike and unlike, none, some or all others refusing."""
    generator = np.random.default_rng(1)
    for case in range(DRAWN):
        count = 1 + case % 6
        loads = np.zeros(count, LOAD)
        for name in LOAD.names or ():
            loads[name] = generator.choice([0.0, 0.5, 3.0, 40.0, 2000.0], count)
        me = int(generator.integers(count))
        others = [node for node in range(count) if node != me]
        refused = frozenset({0: (), 1: others}.get(case % 4, [node for node in others if generator.random() < 0.4]))
        hardware = tuple(
            Hardware(float(speed), 100.0, 0.5, 1.5, False, 8.1, 8.0, 40.0, 160.0)
            for speed in generator.choice([0.5, 1.0, 2.0], count)
        )
        task = ArrivingTask(
            task=int(generator.integers(10**6)),
            job=int(generator.integers(10**6)),
            home=me,
            cpu_ms=float(generator.choice([0.01, 5.0, 300.0, 1e6])),
            io_per_ms=float(generator.choice([0.0, 0.01, 1.0])),
            request_kb=float(generator.uniform(1, 1000)),
            memory_mb=float(generator.uniform(0, 500)),
            initial_data_mb=float(generator.uniform(0, 10)),
        )
        view = View(
            me,
            loads,
            hardware,
            Paths.alike(count, 128.0),
            100.0,
            lambda task, draw: (0.37 * (task + draw + 1)) % 1,
            refused,
            capacities=capacities_of(hardware) if case % 2 else None,
        )
        yield AskedTask(task, view)


def seen(view: View) -> bytes:
    """All that a policy could change in a view, but its notes."""
    return pickle.dumps((view.loads, view.hardware, view.paths.mb_per_s, view.paths.latency_ms, view.refused))


class DecidesOnAView(Subject):
    """Targets, rules, answers; a view and a policy that stay as they are."""

    def test_it_names_a_node_that_there_is(self) -> None:
        """A target is the number of a node."""
        for view, decision in self._placed():
            target = decision.target
            if isinstance(target, bool) or not isinstance(target, int | np.integer) or not 0 <= target < view.nodes:
                fail(f"`place` names node {target!r} of {view.nodes} nodes: allowed are 0 to {view.nodes - 1}")

    def test_it_names_no_node_that_refused(self) -> None:
        """`View.refused` has the nodes that need not be asked again; a central policy is never refused."""
        for view, decision in self._placed():
            if decision.target in view.refused and not self.kind.central:
                fail(
                    f"`place` names node {decision.target}, which has refused the task (view.refused = "
                    f"{sorted(view.refused)}): view.least and view.draw_nodes leave such nodes out"
                )

    def test_it_names_its_rule(self) -> None:
        """Pages and tables show it."""
        for _, decision in self._placed():
            if not isinstance(decision.rule, str) or not decision.rule:
                fail(f"a decision has no rule: Decision({decision.target}, rule=...) is needed, not {decision.rule!r}")

    def test_asked_twice_it_answers_the_same(self) -> None:
        """An answer follows from task, view and notes alone."""
        policy = self._asked_by_hand()
        for task, view in questions():
            again = replace(view, notes=copy.deepcopy(view.notes))
            answers = [self._answer(policy, task, one) for one in (view, again)]
            if repr(answers[0]) != repr(answers[1]):
                fail(
                    "asked twice about the same task in the same state, `place` answers differently: chance comes from "
                    f"view.uniform, memory from view.notes; it said {answers[0]!r}, then {answers[1]!r}"
                )

    def test_it_changes_nothing_that_it_is_shown(self) -> None:
        """The arrays of a view belong to the model."""
        policy = self._asked_by_hand()
        for task, view in questions():
            before = seen(view)
            self._answer(policy, task, view)
            if seen(view) != before:
                fail("`place` changes the view's arrays: work on a copy, e.g. view.column(index).copy()")

    def test_it_answers_an_offer_in_words(self) -> None:
        """`accept` says "", or the reason of the refusal."""
        policy = self._asked_by_hand()
        for task, view in questions():
            decision = self._answer(policy, task, view)
            if decision is not None:
                with faults_in_words(policy, "accept"):
                    answer = policy.accept(task, decision, view)
                if not isinstance(answer, str):
                    fail(f"`accept` returns {answer!r}: a text is needed, empty to accept, else the reason")

    def test_a_task_that_lost_its_node_goes_on_where_a_node_answers(self) -> None:
        """`recover` is asked of all policies, when a node fails."""
        policy = self.created()
        for task, view in questions():
            before = seen(view)
            with faults_in_words(policy, "recover"):
                decision = policy.recover(task, view)
            if not 0 <= decision.target < view.nodes or decision.target in view.refused:
                fail(
                    f"`recover` names node {decision.target}: of {view.nodes} nodes {sorted(view.refused)} do not "
                    "answer"
                )
            if seen(view) != before:
                fail("`recover` changes the view's arrays: work on a copy")

    def _placed(self) -> Iterator[tuple[View, Decision]]:
        policy = self._asked_by_hand()
        for task, view in questions():
            decision = self._answer(policy, task, view)
            if decision is not None:
                yield view, decision

    def _asked_by_hand(self) -> Policy:
        if not self.kind.acts_on_arrival or self.kind.talks:
            pytest.skip("the policy is not asked where an arriving task starts: its runs are tested")
        return self.created()

    def _answer(self, policy: Policy, task: ArrivingTask, view: View) -> Decision | None:
        """What `place` says; None: the job waits."""
        with faults_in_words(policy, "place"):
            policy.prepare(DEMANDS, view.nodes)
            waits = isinstance(policy, Holding) and policy.holds(task, 1, view)
            return None if waits else policy.place(task, view)

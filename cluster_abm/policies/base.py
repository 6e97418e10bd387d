"""A policy: the four classic parts of a load manager, with defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, ValidationError

from cluster_abm.errors import InputError
from cluster_abm.formulas import narrows_the_gap
from cluster_abm.policies.view import Candidate, Newcomer, Table, View
from cluster_abm.scenario import nearest
from cluster_abm.scenario.base import Section

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a newcomer should start, and why; what is not known or not asked is NaN.

    Attributes:
        target: the node; the home node means "stay".
        rule: the rule that decided.
        index: the load index compared.
        task_load, load_here, load_there: the newcomer's load and the two nodes', in the index's unit.
        response_here_ms, response_there_ms: expected response times [ms].
        cost_ms: cost of starting it there, or of migrating it [ms].
        reason: why it stays, if it does.
        task: the task to migrate, of `View.candidates`; None: the newcomer.
        mce: migration cost-effectiveness [1/ms].
    """

    target: int
    rule: str
    index: str = ""
    task_load: float = float("nan")
    load_here: float = float("nan")
    load_there: float = float("nan")
    response_here_ms: float = float("nan")
    response_there_ms: float = float("nan")
    cost_ms: float = float("nan")
    reason: str = ""
    task: Candidate | None = None
    mce: float = float("nan")


class Policy:
    """A load-balancing policy; one file each, found by its name.

    Information policy: `uses_reports`. Transfer policy: `is_overloaded`. Location policy: `location`. Whether the
    move is worth it: `is_worth_it`. `place` joins them; a policy whose paper gives one procedure overrides `place`.

    Class attributes:
        name: what a scenario calls it.
        source: paper and place.
        summary: one line.
        pooled: whether it is a form of the cluster: all nodes are one station (engine.pool).
        central: whether it decides at one head node, which knows the true state and is obeyed.
        holds_jobs: whether `holds` is asked before a job's tasks are placed.
        holds_for_events: whether only an end of a task, a submission, a failure or a repair can free what it holds:
            where none of them is to come, the run ends. False: also time alone, or background programs' turns at the
            CPU; then a run waits for ever for a job that is never let go.
        acts_on_arrival: False means every task starts at home and nobody is asked.
        uses_reports: whether load managers have to report to each other.
        migrates: whether `migration` is asked once a newcomer has been placed.
        migrations_per_arrival: how many it may start then; None: as many as it finds.
        averages: whether nodes' CPU utilisation, queue and memory utilisation are averaged over five seconds for it.
        index: load index (a field of the load table) that the default parts compare.
        Parameters: its parameters, as a scenario's `policy.<parameter>` gives them.
    """

    class Parameters(Section):
        """What every policy has."""

        heterogeneous: StrictBool = Field(
            False, description="loads of unlike nodes are compared per unit of their CPU speed, memory and disk rate"
        )

    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    pooled: ClassVar[bool] = False
    central: ClassVar[bool] = False
    holds_jobs: ClassVar[bool] = False
    holds_for_events: ClassVar[bool] = False
    acts_on_arrival: ClassVar[bool] = True
    uses_reports: ClassVar[bool] = True
    migrates: ClassVar[bool] = False
    migrations_per_arrival: ClassVar[int | None] = 1
    averages: ClassVar[bool] = False
    index: ClassVar[str] = "tasks"

    def __init__(self, **parameters: Any) -> None:
        try:
            self.parameters = self.Parameters(**parameters)
        except ValidationError as problem:
            raise InputError([self._explain(error) for error in problem.errors()]) from None

    @property
    def effective_rates(self) -> bool:
        """Whether loads count I/O as it reaches the disk: without buffer hits, with page faults."""
        return False

    @property
    def acts_every_ms(self) -> float | None:
        """How often `relieve` is asked, and `holds` of jobs that wait [ms]; None: never, and at each end of a task."""
        return None

    def is_overloaded(self, newcomer: Newcomer, view: View) -> bool:
        """Transfer policy: whether to look for another node. By default if the own load is the largest known."""
        return view.is_largest(self.index, newcomer)

    def location(self, newcomer: Newcomer, view: View) -> int:
        """Location policy: the node to ask. By default the one of least load."""
        return view.least(self.index, newcomer)

    def task_load(self, newcomer: Newcomer, view: View, index: str, node: int) -> float:
        """What the newcomer would add to an index on a node, in the index's unit."""
        return 1.0

    def response_ms(self, newcomer: Newcomer, view: View, node: int) -> float | None:
        """Expected response time on a node [ms], or None for a policy that does not estimate it."""
        return None

    def holds(self, newcomer: Newcomer, tasks: int, view: View) -> bool:
        """Whether a job at the head of its queue has to wait: its first task, and how many there are."""
        return False

    def takes_back(self, newcomer: Newcomer, view: View) -> bool:
        """Whether a job that `holds` let go, and that nobody else takes, waits on rather than start at its home.

        Only asked of policies that hold jobs, about a job of which no task has begun.
        """
        return False

    def place(self, newcomer: Newcomer, view: View) -> Decision:
        """Where the newcomer starts, by what the load manager of its home node knows."""
        if not self.is_overloaded(newcomer, view):
            return Decision(view.me, "transfer", self.index, reason="home is not overloaded")
        return Decision(self.location(newcomer, view), "location", self.index)

    def migration(self, newcomer: Newcomer, view: View) -> Decision | None:
        """Which task of the own node to send where, now that the newcomer is on some node; None: no task."""
        return None

    def in_trouble(self, loads: Table) -> Flags:
        """Which nodes' load managers are asked to `relieve` theirs, each by its own node's row, shape (nodes,).

        Args:
            loads: the true loads of all nodes, as `View.comparable` has them.
        """
        return np.ones(len(loads), bool)

    def relieve(self, view: View) -> Decision | None:
        """Asked every `acts_every_ms` where there is trouble: which task of the own node to send where; None: none."""
        return None

    def recover(self, task: Newcomer, view: View) -> Decision:
        """Where a task goes on that has lost its node: by default the least loaded one, by its own index.

        Args:
            task: what its job announced; it is a running one if it goes on from a checkpoint.
            view: what all that are up have just answered; those that are out count as having refused.
        """
        target = view.least(self.index, task)
        return Decision(target, "recovery", self.index, load_there=view.load(self.index, target, task))

    def accept(self, newcomer: Newcomer, decision: Decision, view: View) -> str:
        """The asked node's answer from its own true state: "" accepts, else the reason of the refusal.

        By default it holds the offer's own conditions against what is true here: the gap in load, and the gain.
        """
        if not decision.index or decision.load_here != decision.load_here:
            return ""
        if not narrows_the_gap(decision.task_load, decision.load_here, view.load(decision.index, view.me)):
            return "not the lighter node any more"
        response = self.response_ms(newcomer, view, view.me)
        if response is not None and not decision.response_here_ms > response + decision.cost_ms:
            return "no gain any more"
        return ""

    def send_to_least(self, newcomer: Newcomer, view: View, index: str, rule: str) -> Decision:
        """Ask the node of least load if the gap narrows and the task gains more than it costs: IOLB Fig. 1, lines
        4-8, which are lines 10-14 and 16-20 for the other indices."""
        target = view.least(index, newcomer)
        # In the papers load_j is the same everywhere. Where it is not, the target must stay the lighter one with it.
        weighed_on = view.me if view.capacities is None else target
        task_load = view.per_unit(self.task_load(newcomer, view, index, weighed_on), index, weighed_on)
        here, there = view.load(index, view.me), view.load(index, target)
        response_here = self.response_ms(newcomer, view, view.me)
        response_there = self.response_ms(newcomer, view, target)
        # A policy that calls this estimates.
        assert response_here is not None
        assert response_there is not None
        cost_ms = view.cost_ms(newcomer, target)
        reason = ""
        if target in view.refused:
            reason = "every other node has refused"
        elif not narrows_the_gap(task_load, here, there):
            reason = "the gap in load would not narrow"
        elif not response_here > response_there + cost_ms:
            reason = "no gain in response"
        return Decision(
            target=view.me if reason else target,
            rule=rule,
            index=index,
            task_load=task_load,
            load_here=here,
            load_there=there,
            response_here_ms=response_here,
            response_there_ms=response_there,
            cost_ms=cost_ms,
            reason=reason,
        )

    def _explain(self, error: Any) -> str:
        field = ".".join(str(part) for part in error["loc"])
        if error["type"] == "extra_forbidden":
            allowed = sorted(self.Parameters.model_fields)
            return f"unknown key 'policy.{field}'; {nearest(field, allowed)}"
        return f"policy.{field} = {error['input']!r}: {error['msg'][0].lower()}{error['msg'][1:]}"

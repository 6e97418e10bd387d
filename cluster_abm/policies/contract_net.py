"""The contract net: managers announce tasks, others bid for them what the papers' formulas say, the best bid wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from cluster_abm.formulas import migration_cost_effectiveness, narrows_the_gap
from cluster_abm.policies.iolb import LEAST_COST_MS, IoLoadBalancingWithMigration
from cluster_abm.policies.wal_pm import WeightedPreemptiveMigration
from cluster_abm.policy.bidding import Bidding
from cluster_abm.policy.decision import Decision
from cluster_abm.policy.parts.bids import MOST_TASKS, Announced, Bid, CallForBids
from cluster_abm.policy.parts.own_loads import with_task, without_task
from cluster_abm.policy.tasks import ArrivingTask, Candidate
from cluster_abm.policy.view import Loads, View

NOT_OVERLOADED = "line 15 (CPU)"


class ContractNet(Bidding):
    """Contract net protocol: an overloaded node calls for bids, each asked node bids r(k, j) + c_j for the task j, or
    declines, and the lowest bid gets the task if it is below r(i, j), the response time of staying at i.

    r, and what overloaded means, are those of a paper (`formula`):

    * `iolb`: node i is overloaded by the resource of lines 3, 9 or 15 of IOLB's Fig. 1. A node k declines if the gap in
      that load would not narrow (lines 6, 12, 18).
    * `wal-pm`: the weighted load of node i is the largest once an arriving task is added to it, WAL-PM Fig. 1, lines 1
      and 2. A node k declines if its own is not below the mean (line 3), to which the arriving task is not added.

    c_j is WAL-PM (6). A node also declines if the task would not gain, r(i, j) <= r(k, j) + c_j: WAL-PM (5), IOLB
    lines 7, 13, 19. Of its own tasks a node announces the one of largest migration cost-effectiveness, WAL-PM (8), to
    the node of least load as it is known, and lists the next seven.

    Each bid is of the bidder's own node as it is. Loads of other nodes, as reports tell them, decide

    * whether node i is overloaded and any node less loaded, so whether it calls for bids at all;
    * the node against which the tasks are ranked by cost-effectiveness;
    * by `wal-pm`, whether a bidder is below the mean.
    """

    class Parameters(
        Bidding.Parameters, IoLoadBalancingWithMigration.Parameters, WeightedPreemptiveMigration.Parameters
    ):
        """Whose formulas, and their parameters: `index` is of `iolb`, all others are of `wal-pm`."""

        formula: Literal["iolb", "wal-pm"] = Field("iolb", description="whose overload and expected response times")

    name = "contract-net"
    source = "Smith 1980; FIPA SC00029H; r and c of IOLB and WAL-PM"
    summary = "an overloaded node calls for bids; the lowest expected response and cost gets the task"
    uses_reports = True

    parameters: Parameters

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.iolb = IoLoadBalancingWithMigration(**self._of(IoLoadBalancingWithMigration))
        self.wal_pm = WeightedPreemptiveMigration(**self._of(WeightedPreemptiveMigration))

    def _of(self, rule: type[IoLoadBalancingWithMigration | WeightedPreemptiveMigration]) -> dict[str, Any]:
        return {name: getattr(self.parameters, name) for name in rule.Parameters.model_fields}

    @property
    def effective_rates(self) -> bool:
        """As WAL-PM's, where its formulas are chosen."""
        return self._by_weight and self.wal_pm.effective_rates

    @property
    def _by_weight(self) -> bool:
        return self.parameters.formula == "wal-pm"

    # ---- the asker -----------------------------------------------------------------------------------------------

    def call_for_bids(self, task: ArrivingTask | None, view: View) -> Sequence[Announced]:
        """The arriving task, then the node's own ones by their migration cost-effectiveness."""
        index = self.overloaded_by(task, view)
        lightest = self._lightest(task, index, view) if index else view.me
        if lightest == view.me:
            return ()
        ranked = sorted(view.candidates, key=lambda one: -self._effectiveness(one, view, lightest))
        first = [] if task is None else [task]
        return [self._announce(one, index, view) for one in [*first, *ranked][:MOST_TASKS]]

    def overloaded_by(self, task: ArrivingTask | None, view: View) -> str:
        """The load index by which the node is overloaded; "": it is not.

        Args:
            task: an arriving task; None: as it is with the tasks on it.
            view: what its manager knows.
        """
        if self._by_weight:
            return self.wal_pm.index if view.is_largest_of(self._weighted(task, view)) else ""
        if task is None:
            return self.iolb.overloaded_by(view)
        decision = self.iolb.place(task, view)
        return "" if decision.rule == NOT_OVERLOADED else decision.index

    def award(self, bids: Sequence[Bid], view: View) -> Bid | None:
        """The best one by what staying costs now."""
        now = [
            one._replace(announced=self._announce(one.announced.task, one.announced.load_index, view)) for one in bids
        ]
        return super().award(now, view)

    def _announce(self, task: ArrivingTask, index: str, view: View) -> Announced:
        return Announced(task, float(self.response_here_ms(task, view)), index, self._load_without(task, index, view))

    def response_here_ms(self, task: ArrivingTask, view: View) -> float:
        """r(i, j): the expected response time if a task stays [ms]."""
        if self._by_weight:
            return self.wal_pm.response_at_ms(task, view, view.me, isinstance(task, Candidate))
        if isinstance(task, Candidate):
            return self.iolb.expected_ms(task, view, view.me, True)
        return self.iolb.response_ms(task, view, view.me)

    def _load_without(self, task: ArrivingTask, index: str, view: View) -> float:
        """The own load by an index, without a task: L_i of IOLB's lines 6, 12 and 18."""
        if self._by_weight:
            own_node = without_task(task, view) if isinstance(task, Candidate) else view
            return float(self.wal_pm.column(own_node)[view.me])
        here = view.load(index, view.me)
        if not isinstance(task, Candidate):
            return here
        own = self.iolb.load_by(index, task, view.hardware[view.me], view.measured("faults_per_ms", view.me))
        return here - view.per_unit(own, index, view.me)

    def _weighted(self, task: ArrivingTask | None, view: View) -> Loads:
        """The weighted load of every node, an arriving task added to the own one: WAL-PM Fig. 1, line 1."""
        return self.wal_pm.column(view if task is None else with_task(task, view))

    def _lightest(self, task: ArrivingTask | None, index: str, view: View) -> int:
        """Node k of WAL-PM's line 3, and of IOLB's lines 4, 10 and 16, as far as is known."""
        return view.least_of(self._weighted(task, view)) if self._by_weight else view.least(index)

    def _effectiveness(self, task: Candidate, view: View, node: int) -> float:
        return migration_cost_effectiveness(task.age_ms, task.io_per_ms, max(view.cost_ms(task, node), LEAST_COST_MS))

    # ---- the bidder ----------------------------------------------------------------------------------------------

    def bid(self, announced: Announced, call: CallForBids, view: View) -> float | str:
        """r(k, j) + c_j [ms], or why the node declines."""
        task = announced.task
        reason = self._declines(announced, view)
        if reason:
            return reason
        bid = self.response_there_ms(task, view) + call.cost_ms(task, view)
        return bid if bid < announced.response_here_ms else "no gain in response"

    def response_there_ms(self, task: ArrivingTask, view: View) -> float:
        """r(k, j): the expected response time of a task of another node on the own one [ms]."""
        if self._by_weight:
            return self.wal_pm.response_at_ms(task, view, view.me, False)
        return self.iolb.response_ms(task, view, view.me)

    def _declines(self, announced: Announced, view: View) -> str:
        """Why the load of the own node speaks against the task; "": it does not."""
        task, index = announced.task, announced.load_index
        if self._by_weight:
            column = self.wal_pm.column(view)
            return "" if column[view.me] < view.mean_of_those_up(column) else "its load is not below the mean"
        load = view.per_unit(self.iolb.task_load(task, view, index, view.me), index, view.me)
        narrows = narrows_the_gap(load, announced.load_here, view.load(index, view.me))
        return "" if narrows else "the gap in load would not narrow"

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """As the paper's policy."""
        return (self.wal_pm if self._by_weight else self.iolb).recover(task, view)

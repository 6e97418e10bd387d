"""Load indices that WAL-PM's policies balance, as columns over the nodes; and the parts these policies share."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, StrictBool

from cluster_abm.formulas import total, weighted_load
from cluster_abm.jit import allocating_kernel, inlined, kernel
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.capacities import position_in
from cluster_abm.policy.kinds import Migrating
from cluster_abm.policy.parts.estimates import Estimating
from cluster_abm.policy.parts.migrants import EFFECTIVENESS, best_migrant
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.scenario.distributions import NonNegative


class IndexPolicy(Policy):
    """A policy that compares nodes by one column of loads: a field of the load table, or one it makes from several."""

    def index_of(self, view: View) -> str:
        """The field it compares now."""
        return self.index

    def column(self, view: View, task: ArrivingTask | None = None) -> Loads:
        """The load index of every node to compare them by, shape (nodes,); of unlike nodes with the task there."""
        return view.column(self.index_of(view), task)

    def with_task(self, column: Loads, task: ArrivingTask, view: View) -> Loads:
        """The column by which nodes are compared for an arriving task, of that which says how loaded they are now."""
        return column if view.capacities is None else self.column(view, task)

    def load_name(self, view: View) -> str:
        """The name of its column."""
        return self.index_of(view)

    def load_of(self, task: ArrivingTask, view: View, node: int) -> float:
        """A node's entry of its column."""
        return float(self.column(view, task)[node])

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """The least by its column."""
        column = self.column(view, task)
        target = view.least_of(column)
        return Decision(target, "recovery", self.index_of(view), load_there=float(column[target]))

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """The asked node refuses if by the offer's index it is not the lighter one any more."""
        if math.isnan(decision.load_here):
            return ""
        if view.has_index(decision.index):
            mine = view.load(decision.index, view.me, task)
        else:
            mine = self.load_of(task, view, view.me)
        return "" if mine < decision.load_here else "not the lighter node any more"


class IoIndex(IndexPolicy):
    """I/O load, page faults and explicit accesses [1/ms]: WAL-PM (11)."""

    class Parameters(Policy.Parameters):
        """What counts as I/O load."""

        io_counts: Literal["all", "explicit"] = Field(
            "all",
            description="I/O load: page faults and accesses (11), or accesses alone, as the text on Fig. 3 has it",
        )

    parameters: Parameters

    def index_of(self, view: View) -> str:
        """Page faults and accesses that miss the buffer, or accesses alone."""
        return "io_load" if self.parameters.io_counts == "all" else "io_per_ms"


class CpuIndex(IndexPolicy):
    """CPU load: tasks executing or waiting for the CPU."""

    index = "cpu_queue"


class MemoryIndex(IndexPolicy):
    """Memory load [MB]: WAL-PM (10)."""

    index = "memory_mb"


class CpuMemoryIndex(IndexPolicy):
    """CPU load, and memory load while nodes page: WAL-PM section 5, (2).

    Its "when the system encounters a large number of page faults" is read as those of any node (settled).
    """

    class Parameters(Policy.Parameters):
        """Which node's paging calls for memory load."""

        paging_of: Literal["any", "own"] = Field(
            "any", description="memory load is compared while any node is known to page, or while the own one pages"
        )

    parameters: Parameters

    def index_of(self, view: View) -> str:
        """CPU queue length [tasks], or memory demand [MB]."""
        return "memory_mb" if self.pages(view) else "cpu_queue"

    def pages(self, view: View) -> bool:
        """Whether there are page faults for lack of memory, as far as is known."""
        if self.parameters.paging_of == "own":
            return view.measured("faults_per_ms", view.me) > 0
        return bool(view.of_those_up(view.column("faults_per_ms")).max() > 0)


@inlined
def mean_or_one(column: Loads) -> float:
    """The mean of a column over the nodes; 1 where there is no load at all."""
    found = total(column)
    return found / len(column) if found > 0.0 else 1.0


@allocating_kernel
def weigh(
    cpu_queue: Loads, memory_mb: Loads, io_load: Loads, weights: tuple[float, float, float], normalised: bool
) -> Loads:
    """Weighted load of every node, shape (nodes,); normalised: each load divided by its mean over the nodes."""
    column = np.empty(len(cpu_queue))
    if not normalised:
        for node in range(len(column)):
            column[node] = weighted_load(
                weights[0], weights[1], weights[2], cpu_queue[node], memory_mb[node], io_load[node]
            )
        return column
    cpu, memory, io = mean_or_one(cpu_queue), mean_or_one(memory_mb), mean_or_one(io_load)
    for node in range(len(column)):
        column[node] = weighted_load(
            weights[0], weights[1], weights[2], cpu_queue[node] / cpu, memory_mb[node] / memory, io_load[node] / io
        )
    return column


@kernel
def weigh_one(
    cpu_queue: Loads, memory_mb: Loads, io_load: Loads, weights: tuple[float, float, float], normalised: bool, node: int
) -> float:
    """Weighted load of one node, an entry of `weigh`."""
    cpu = memory = io = 1.0
    if normalised:
        cpu, memory, io = mean_or_one(cpu_queue), mean_or_one(memory_mb), mean_or_one(io_load)
    return weighted_load(
        weights[0], weights[1], weights[2], cpu_queue[node] / cpu, memory_mb[node] / memory, io_load[node] / io
    )


class WeightedIndex(IndexPolicy):
    """Weighted average of CPU, memory and I/O load: WAL-PM (9), (17)."""

    index = "weighted"

    class Parameters(Policy.Parameters):
        """The weights."""

        cpu_weight: NonNegative = Field(0.5, description="W_CPU")
        memory_weight: NonNegative = Field(0.0, description="W_MEM")
        io_weight: NonNegative = Field(0.5, description="W_IO")
        normalised: StrictBool = Field(
            False, description="divide each load by its mean over the nodes before it is weighted"
        )
        adaptive: StrictBool = Field(False, description="weights follow the load imbalance factors (normalised then)")

    parameters: Parameters

    def column(self, view: View, task: ArrivingTask | None = None) -> Loads:
        """Tasks, MB and 1/ms added as the paper does, or their normalised values."""
        return weigh(
            view.column("cpu_queue", task), view.column("memory_mb", task), view.column("io_load", task),
            self.weights(view), self.parameters.normalised or self.parameters.adaptive,
        )  # fmt: skip

    def load_of(self, task: ArrivingTask, view: View, node: int) -> float:
        """A node's entry of the column."""
        return weigh_one(
            view.column("cpu_queue", task), view.column("memory_mb", task), view.column("io_load", task),
            self.weights(view), self.parameters.normalised or self.parameters.adaptive, node,
        )  # fmt: skip

    def weights(self, view: View) -> tuple[float, float, float]:
        """The weights of CPU, memory and I/O load now."""
        chosen = self.parameters
        if chosen.adaptive:
            imbalance = view.imbalance
            if imbalance[0] + imbalance[1] + imbalance[2] > 0.0:
                return imbalance
        return (chosen.cpu_weight, chosen.memory_weight, chosen.io_weight)


class Greedy(IndexPolicy):
    """Every arrival to the node of least load: no trigger, no cost."""

    rules: ClassVar[tuple[tuple[str, ...], ...]] = (("least load", "the target has the least load"),)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The least of all."""
        return self._to_least(self.column(view, task), view)

    def _to_least(self, column: Loads, view: View) -> Decision:
        target = view.least_of(column)
        here, there = float(column[view.me]), float(column[target])
        if target in view.refused:
            target, there = view.me, here
        return Decision(target, "least load", self.index_of(view), load_here=here, load_there=there)


class IfOverloaded(Greedy):
    """An arriving task stays at home unless home is overloaded, else goes to the node of least load: no cost."""

    rules = (("transfer", ""), ("least load", "home is overloaded and the target has the least load"))

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """WAL-PM section 5, (3): to a node that is not overloaded, home first; else to the least."""
        column = self.column(view, task)
        if not view.is_largest_of(column):
            return Decision(view.me, "transfer", self.index_of(view), reason="home is not overloaded")
        return self._to_least(column, view)


class Preemptive(Estimating, IndexPolicy, Migrating):
    """WAL-PM, Fig. 1: an arriving task is assigned to its home; if that is overloaded, home's best task migrates.

    Fig. 1 is asked when job j arrives at node i:

    1. Job j is assigned to node i, and its load added to that of i.
    2. If node i is overloaded, its load being the largest of all, a migration is sought.
    3. The candidate k is the node of smallest load, which must be below the mean of all; else there is none.
    4. EM(i, k) are the jobs on i that gain more than they cost, r(i, j) > r(k, j) + c_j (5); the new job among them.
    5. The job of EM with the largest benefit migrates to k: MCE(j) = a_j lambda_j / c_j (8), the I/O load moved per
       cost. One job migrates per arrival.

    r is the expected response time ((1)-(4), or `estimator`), c_j the cost (6): of a running job f + m_j/b_net +
    (d_INIT + d_W)(1/b_net + 2/b_disk), of the new one e + d_INIT(1/b_net + 2/b_disk).
    """

    rules: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("line 1", "", "WAL-PM Fig. 1, line 1"),
        ("lines 4-5", "home is overloaded and this task gains most per cost", "WAL-PM Fig. 1, lines 2-5"),
    )

    class Parameters(Estimating.Parameters):
        """How responses and benefits are estimated."""

        effectiveness: Literal["age", "remaining", "cpu-age"] = Field(
            "age",
            description="MCE: I/O by the CPU received (8); by what is still to come, which counts newborns too; or the "
            "CPU received per cost, blind to I/O",
        )

    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Line 1: job j is assigned to node i."""
        return Decision(view.me, "line 1", self.index_of(view), reason="assigned to its home")

    def migration(self, task: ArrivingTask, view: View) -> Decision | None:
        """Lines 2-5, on loads that include the arriving task."""
        column = self.column(view)
        if not view.is_largest_of(column):  # line 2
            return None
        target = view.least_of(self.with_task(column, task, view))  # line 3
        if target in view.refused or target == view.me or not column[target] < view.mean_of_those_up(column):
            return None
        return self.most_effective(view, target, column, "lines 4-5")

    def most_effective(self, view: View, target: int, column: Loads, rule: str) -> Decision | None:
        """Of EM(i, k), the tasks that gain more than they cost, the one of largest benefit; None if there is none."""
        remote_execution_ms, migration_ms = view.fixed_ms(target)
        place, response_here_ms, response_there_ms, cost_ms, mce = best_migrant(
            view.candidate_rows, view.loads, view.me, target, view.hardware[view.me], view.hardware[target],
            view.network_mb_per_s(target), remote_execution_ms, migration_ms,
            self.estimator, self.effective_rates, position_in(EFFECTIVENESS, self.parameters.effectiveness),
        )  # fmt: skip
        if place < 0:
            return None
        task = view.candidate(place)
        column = self.with_task(column, task, view)
        return Decision(
            target, rule, self.index_of(view), load_here=float(column[view.me]), load_there=float(column[target]),
            response_here_ms=response_here_ms, response_there_ms=response_there_ms, cost_ms=cost_ms, task=task, mce=mce,
        )  # fmt: skip

"""A run whose arriving tasks are placed from outside, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.errors import InputError
from cluster_abm.gym.outside import Outside, OutsideNegotiation, ended
from cluster_abm.jit import entry
from cluster_abm.model import ClusterModel
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.submission.queues import Arrivals
from cluster_abm.policies.features import FEATURES
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.mixture import check_one_policy

Integers = npt.NDArray[np.int64]
NO_ARRIVALS = Arrivals(*(np.zeros(0, np.int64),) * 3)


def from_outside(scenario: Scenario) -> ManagedPolicies:
    """The policies of a run that is decided from outside. Raises InputError if groups of nodes have their own."""
    check_one_policy(scenario, "placement from outside")
    return ManagedPolicies([Outside()] * scenario.cluster.nodes, "outside")


class OutsideModel(ClusterModel):
    """A run that stops where tasks arrive, until it is told where they start.

    Call `look`, then `place`, and so on until `running` is False. It ends as a run under a policy does, and
    `summary`, `jobs_frame` and the rest are those of any run.

    Args:
        scenario, seed, kwargs: as of ClusterModel; the scenario's policy is left out.
        most: so many decisions are asked for at once, at most.

    Raises:
        InputError: as ClusterModel; no task arrives; or the scenario has no compiled form (`decides_in_python`).

    Attributes:
        asked: how many tasks are to be placed now; 0: none is left, the run is over.
        features: what is known of each node when they are to be placed, shape (most, nodes, features); rows beyond
            `asked` are 0.
    """

    compiled_class = OutsideNegotiation
    policies_of = staticmethod(from_outside)

    def __init__(self, scenario: Any = "quickstart", seed: int | None = None, *, most: int = 1, **kwargs: Any) -> None:
        super().__init__(scenario, seed, keep_decisions=False, **kwargs)
        compiled = self.placement.compiled
        if not isinstance(compiled, OutsideNegotiation):
            raise InputError(f"{self.setup.name}: tasks can be placed from outside in compiled code only, and here: "
                             f"{self.decides_in_python}")  # fmt: skip
        self._negotiation = compiled
        nodes = self.setup.cluster.nodes
        self.asked = 0
        self.features = np.zeros((most, nodes, len(FEATURES)), np.float32)
        self._arriving = self._until_tasks_arrive()
        self._arrivals, self._first = NO_ARRIVALS, 0
        self._stand_in = self._placed = np.zeros(0, np.int64)
        self._targets = np.zeros(0, np.int64)
        # Tasks placed so far, and their arrivals added up; tasks that have ended, and what their records say.
        self._started, self._arrived_ns = 0, 0
        self._recorded, self._slowdowns, self._finished_ns = 0, 0.0, np.zeros(1, np.int64)
        self._ended = entry(ended, self.engine.tables.records, self.engine.jobs, 0, 0, self._finished_ns)
        self._go_on()
        if not self.asked:
            raise InputError(f"{self.setup.name}: no task arrives from seed {self.run_seed}: there is nothing to decide")

    def homes(self) -> Integers:
        """The node whose load manager places each of the tasks asked for, shape (asked,)."""
        jobs = self._arrivals.job[self._first : self._first + self.asked]
        return np.asarray(self._stand_in[self.engine.jobs["home"][jobs]])

    def place(self, targets: Integers) -> None:
        """Place the tasks asked for, in their order, and let the run go on to where the next ones arrive, or to its end.

        Args:
            targets: the node of each, shape (asked,).
        """
        first, last = self._first, self._first + self.asked
        self._targets[first:last] = targets
        self._negotiation.place_as_told(
            self._arrivals, self._placed, self._stand_in, first, last, self._targets,
            self.placement.path_in_python(self._arrivals, self._stand_in),
        )  # fmt: skip
        self._arrived_ns += int(self.engine.jobs["arrival_ns"][self._arrivals.job[first:last]].sum())
        self._started += last - first
        self._first = last
        self._go_on()

    def _go_on(self) -> None:
        """To where the next tasks arrive, and what is known then; or to the end."""
        if self._first == len(self._arrivals.job):
            if len(self._arrivals.job):
                self.placement.note_links(self._arrivals, self._stand_in, self._placed)
            self._arrivals, self._first = next(self._arriving, NO_ARRIVALS), 0
            tasks = len(self._arrivals.job)
            self._stand_in = self.placement.stand_ins()
            self._placed, self._targets = np.zeros((3, tasks), np.int64), np.zeros(tasks, np.int64)
        self.asked = min(len(self.features), len(self._arrivals.job) - self._first)
        if self.asked:
            last = self._first + self.asked
            self._negotiation.look_at(self._arrivals, self._stand_in, self._first, last, self.features)
        self.features[self.asked :] = 0.0

    def _until_tasks_arrive(self) -> Iterator[Arrivals]:
        """`run`, with a stop at each group of arrivals, which must have been placed before the next one is asked for."""
        while self.running:
            boundary_ns = self._windows.next_boundary_ns()
            self.parts.failures.occur()
            self.parts.degrading.act()
            yield from self.parts.submissions.arrive(boundary_ns)
            self._live_on(boundary_ns)

    # ---- what rewards are made of ----------------------------------------------------------------------------

    def settle(self) -> tuple[float, float]:
        """What has happened until now.

        Returns:
            the sum over the tasks that have finished of their slowdown over how many tasks their job has; and the time
            integral of the number of tasks in the system, of those that were placed [s].
        """
        engine, now_ns = self.engine, self.now_ns
        if engine.finished > self._recorded:
            first, self._recorded = self._recorded, engine.finished
            self._slowdowns += self._ended(engine.tables.records, engine.jobs, first, self._recorded, self._finished_ns)
        # Each task from its arrival until now, less the time since it ended.
        in_system_ns = self._started * now_ns - self._arrived_ns
        in_system_ns -= self._recorded * now_ns - int(self._finished_ns[0])
        return self._slowdowns, in_system_ns / (1000 * NS_PER_MS)

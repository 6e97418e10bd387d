"""A run whose arriving tasks are placed from outside, some at a time."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.errors import InputError
from cluster_abm.gym.kernels import add_up
from cluster_abm.gym.outside import Outside, OutsideNegotiation
from cluster_abm.jit import entry
from cluster_abm.model import ClusterModel
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.waiting.queues import TaskArrivals
from cluster_abm.policies import Policy
from cluster_abm.policy.parts.features import FEATURES
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.mixture import check_one_policy

NO_ARRIVALS = TaskArrivals(*(np.zeros(0, np.int64),) * 3)


def from_outside(scenario: Scenario, given: Policy | None = None) -> ManagedPolicies:
    """The policies of a run that is decided from outside. Raises InputError if groups of nodes have their own."""
    check_one_policy(scenario, "placement from outside")
    return ManagedPolicies([Outside()] * scenario.cluster.nodes, "outside")


class OutsideModel(ClusterModel):
    """A run that stops where tasks arrive, until it is told where they start.

    Call `look`, then `place`, and so on until `running` is False. It ends as a run under a policy does, and
    `summary`, `jobs_frame` and the rest are those of any run.

    Args:
        scenario, seed, kwargs: as of ClusterModel; the scenario's policy is left out.
        most: the most decisions that are asked for at once.

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
            raise InputError(
                f"{self.setup.name}: tasks can be placed from outside in compiled code only, and here: "
                f"{self.decides_in_python}"
            )
        self._negotiation = compiled
        nodes = self.setup.cluster.nodes
        self.asked, self._most = 0, most
        # All targets so far, from which a copy of the run is made.
        self._all_targets = array("q")
        self.features = np.zeros((most, nodes, len(FEATURES)), np.float32)
        self._arriving = self._until_tasks_arrive()
        self._arrivals, self._first = NO_ARRIVALS, 0
        self._stand_in = self._placed = np.zeros(0, np.int64)
        self._targets = np.zeros(0, np.int64)
        self._path_in_python = self.placement.path_in_python(NO_ARRIVALS, self._stand_in)
        # Tasks placed so far, or there at 0, and the arrivals added up of those of earlier groups; tasks that have
        # ended, their slowdowns and ends added up, and how long ago the latest of them ended, added up.
        self._started, self._arrived_ns = self.engine.live, 0
        self._recorded, self._slowdowns, self._ended_ns, self._ago_ns = 0, 0.0, 0, np.zeros(1, np.int64)
        # Of any headline but the bounded slowdown the plain one.
        is_bounded = self.setup.measure.headline == "bounded_slowdown"
        self._bound_ns = self.parts.task_records.bound_ns if is_bounded else 0.0
        self._add_up = entry(add_up, self.engine.tables.records, self.engine.jobs, 0, 0, 0, 0.0, self._ago_ns)
        self._go_on()
        if not self.asked:
            raise InputError(
                f"{self.setup.name}: no task arrives from seed {self.run_seed}: there is nothing to decide"
            )

    def homes(self) -> Integers:
        """The node whose load manager places each of the tasks asked for, shape (asked,)."""
        jobs = self._arrivals.job[self._first : self._first + self.asked]
        return np.asarray(self._stand_in[self.engine.jobs["home"][jobs]])

    def place(self, targets: Integers | int) -> None:
        """Place the tasks asked for, in their order; the run goes on to where the next ones arrive, or to its end.

        Args:
            targets: the node of each, shape (asked,); or one for all of them.
        """
        first, last = self._first, self._first + self.asked
        self._targets[first:last] = targets
        self._all_targets.extend(self._targets[first:last].tolist())
        self._negotiation.place_as_told(
            self._arrivals, self._placed, self._stand_in, first, last, self._targets, self._path_in_python
        )
        self._started += last - first
        self._first = last
        self._go_on()

    def __deepcopy__(self, memo: dict[int, Any]) -> OutsideModel:
        """Another run of the same, as far as this one is: it places the same tasks again.

        Raises:
            InputError: the run is not what its placements alone make of it.
        """
        copied = type(self)(self.setup, self.run_seed, most=self._most)
        memo[id(self)] = copied
        copied.params = dict(self.params)
        told = np.array(self._all_targets, np.int64)
        while len(copied._all_targets) < len(told):
            done = len(copied._all_targets)
            copied.place(told[done : done + copied.asked])
        # Sums of rewards so far: in the same order, to the last digit.
        copied._recorded, copied._slowdowns, copied._ended_ns = self._recorded, self._slowdowns, self._ended_ns
        copied._ago_ns[:] = self._ago_ns
        if copied._state() != self._state():
            raise InputError(
                f"{self.setup.name}: this run cannot be copied: more was done to it than to place its tasks, or a file "
                "that it reads has changed"
            )
        return copied

    def _state(self) -> tuple[Any, ...]:
        """How far the run is, and what is known in it now."""
        engine = self.engine
        return self.now_ns, self.asked, engine.finished, engine.live, self.features.tobytes()

    def _go_on(self) -> None:
        """To where the next tasks arrive, and what is known then; or to the end."""
        if self._first == len(self._targets):
            self._next_group()
        self.asked = min(self._most, len(self._targets) - self._first)
        if self.asked:
            last = self._first + self.asked
            self._negotiation.look_at(self._arrivals, self._stand_in, self._first, last, self.features)
        if self.asked < self._most:
            self.features[self.asked :] = 0.0

    def _next_group(self) -> None:
        """To the next group of arrivals, if there is one."""
        if len(self._targets):
            self.placement.starts.note_links(self._arrivals, self._stand_in, self._placed)
            self._arrived_ns = self._arrived_until_ns(len(self._targets))
        self._arrivals, self._first = next(self._arriving, NO_ARRIVALS), 0
        self._stand_in = self.parts.availability.stand_ins()
        self._path_in_python = self.placement.path_in_python(self._arrivals, self._stand_in)
        self._targets = np.zeros(len(self._arrivals.job), np.int64)
        self._placed = np.zeros((3, len(self._targets)), np.int64)

    def _arrived_until_ns(self, last: int) -> int:
        """The arrivals added up of the tasks of all earlier groups, and of the first `last` of this one [ns]."""
        arrivals_ns = self.engine.jobs["arrival_ns"][self._arrivals.job[:last]]
        # Of years in nanoseconds not many fit into 64 bits.
        first_ns = int(arrivals_ns[0]) if last else 0
        return self._arrived_ns + last * first_ns + int((arrivals_ns - first_ns).sum())

    def _until_tasks_arrive(self) -> Iterator[TaskArrivals]:
        """`run` with a stop at each group of arrivals, which must be placed before the next one is asked for."""
        while self.running:
            yield from self._live_until(self._windows.next_boundary_ns())

    # ---- what rewards are made of ----------------------------------------------------------------------------

    def slowdowns(self) -> float:
        """The sum, over the tasks that have finished until now, of their slowdown over how many tasks their job has;
        bounded where that is the headline."""
        engine, now_ns, first = self.engine, self.now_ns, self._recorded
        last = engine.finished
        if last > first:
            self._recorded = last
            self._slowdowns += self._add_up(
                engine.tables.records, engine.jobs, first, last, now_ns, self._bound_ns, self._ago_ns
            )
            self._ended_ns += (last - first) * now_ns - int(self._ago_ns[0])
        return self._slowdowns

    def in_system_s(self) -> float:
        """The time integral of the number of tasks in the system until now, placed or there at 0 [s]."""
        self.slowdowns()
        # Each task from its arrival until now, less the time since it ended.
        in_system_ns = self._started * self.now_ns - self._arrived_until_ns(self._first)
        in_system_ns -= self._recorded * self.now_ns - self._ended_ns
        return in_system_ns / (1000 * NS_PER_MS)

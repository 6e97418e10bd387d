"""Samples that load managers take of what they know of all nodes, for policies that ask for them (Policy.samples)."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.clock import Clock, whole_ns
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.knowing.statistics import learnt_until_now, of_columns, of_own
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.part import part
from cluster_abm.policy.samples import Samples, Sampling, no_samples, whole_of

# Slots of a ring at first; it grows until all samples of the window have one.
SLOTS = 16


class Ring:
    """The newest samples, in slots that are used in turn: sample n is in slot n modulo their number.

    Args:
        shape: of one sample.
        most: how many count.
    """

    def __init__(self, shape: tuple[int, ...], most: int) -> None:
        self._most = most
        self.slots = np.zeros((min(SLOTS, most), *shape))
        self.taken = 0

    @property
    def count(self) -> int:
        """How many count."""
        return min(self.taken, self._most)

    @property
    def oldest(self) -> int:
        """Number of the oldest one that counts."""
        return self.taken - self.count

    def add(self, sample: Floats) -> None:
        """Take one more."""
        if self.taken == len(self.slots) < self._most:
            grown = np.zeros((min(self._most, 2 * self.taken), *self.slots.shape[1:]))
            grown[: self.taken] = self.slots
            self.slots = grown
        self.slots[self.taken % len(self.slots)] = sample
        self.taken += 1

    def statistics(self) -> Floats:
        """Means and then deviations of samples of shape (..., indices, nodes): (tables, 2 * indices, nodes)."""
        of_each = of_columns(self.slots.reshape(len(self.slots), -1), self.oldest % len(self.slots), self.count)
        indices, nodes = self.slots.shape[-2:]
        of_tables = of_each.reshape(2, -1, indices, nodes).transpose(1, 0, 2, 3)
        return np.ascontiguousarray(of_tables).reshape(-1, 2 * indices, nodes)


class SamplesOfPolicy:
    """The samples of the managers of one policy.

    Those that the same reports reach (knowledge.Known) share their samples, as long as none of them has missed one:
    what a manager knew better, of its own node and of those that had answered it, stands beside them.

    Args:
        sampling: what is sampled.
        managers: which managers have the policy, shape (nodes,).
        views, reports: of the run.
    """

    def __init__(self, sampling: Sampling, managers: Flags, views: Views, reports: Reports) -> None:
        self._sampling, self._views, self._reports = sampling, views, reports
        self._shares = managers.copy()
        audience = reports.known.audience
        self._audience: Integers = np.zeros_like(audience) if views.all_is_known else audience
        shape = len(sampling.indices), len(managers)
        self._tables = Ring((int(self._audience.max()) + 1, *shape), sampling.most)
        self._own = Ring(shape, sampling.most)
        self._apart: dict[int, Ring] = {}
        none = np.zeros(0, np.int64)
        self._learnt = np.zeros(len(managers) + 1, np.int64), none, none, np.zeros((0, shape[0]))
        self.managers = managers
        self._show(no_samples(sampling, views.hardware))

    @property
    def count(self) -> int:
        """How many samples count."""
        return self._own.count

    def take(self, up: Flags) -> None:
        """The managers of nodes that are up take a sample."""
        true, known, views = self._views.measure_all(), self._reports.known, self._views
        whole = np.array([whole_of(name, views.hardware) for name in self._sampling.indices])
        own = np.array([true[name] for name in self._sampling.indices]) / whole
        rows = self._samples.sampled
        takes = self.managers & up
        for manager in np.flatnonzero(self._shares & ~takes).tolist():
            self._apart[manager] = self._samples_of(manager)
            self._shares[manager] = False
        self._own.add(own)
        self._tables.add(own[None] if views.all_is_known else known.table[:, rows] / whole)
        if not views.all_is_known:
            number = self._own.taken - 1
            self._learnt = learnt_until_now(known, takes, rows, whole, *self._learnt, self._own.oldest, number)
        for manager in self._apart.keys() & set(np.flatnonzero(takes).tolist()):
            self._apart[manager].add(self._as_known(manager, self._own.taken - 1))
        self._show(self._statistics(whole))

    def _as_known(self, manager: int, number: int) -> Floats:
        """A sample as a manager has taken it, shape (indices, nodes)."""
        slot = number % len(self._own.slots)
        found = self._tables.slots[slot, self._audience[manager]].copy()
        first, numbers, nodes, shares = self._learnt
        for entry in range(first[manager], first[manager + 1]):
            if numbers[entry] == number:
                found[:, nodes[entry]] = shares[entry]
        found[:, manager] = self._own.slots[slot][:, manager]
        return found

    def _samples_of(self, manager: int) -> Ring:
        """The samples of a manager that misses one: from now on it has its own."""
        own = self._own
        found = Ring(own.slots.shape[1:], self._sampling.most)
        for number in range(own.oldest, own.taken):
            found.add(self._as_known(manager, number))
        return found

    def _statistics(self, whole: Floats) -> Samples:
        sample_of = np.where(self._shares, self._audience, -1)
        shares = [*self._tables.statistics()]
        for manager, ring in self._apart.items():
            if ring.count:
                sample_of[manager] = len(shares)
                shares += [*ring.statistics()]
        last = self._samples
        if self._views.all_is_known:
            pieces = last.own_first, last.own_node, last.own_shares
        else:
            pieces = of_own(
                self._tables.slots, self._own.slots, self._audience, self._shares, *self._learnt, self._own.oldest,
                self._own.count,
            )  # fmt: skip
        return Samples(last.sampled, whole, sample_of, np.array(shares), *pieces)

    def _show(self, samples: Samples) -> None:
        self._samples = samples
        for manager in np.flatnonzero(self.managers).tolist():
            self._views.samples[manager] = samples


@part
class SampleTaking:
    """Has load managers take samples at the periods of their policies.

    Attributes:
        taken: the samples of each policy that asks for some.
        due_ns: the boundary at which the next ones are taken [ns].
    """

    clock: Clock
    availability: Availability
    policies: ManagedPolicies
    reports: Reports
    views: Views

    def __post_init__(self) -> None:
        self.taken: list[SamplesOfPolicy] = []
        self._period_ns: list[int] = []
        for checked in dict.fromkeys(self.policies.checked):
            if checked.samples is not None:
                managers = np.array([one is checked for one in self.policies.checked])
                self.taken.append(SamplesOfPolicy(checked.samples, managers, self.views, self.reports))
                self._period_ns.append(whole_ns(checked.samples.period_ms))
        self._due_ns = [self.clock.boundary_from(period_ns) for period_ns in self._period_ns]
        self.due_ns = min(self._due_ns, default=NEVER)

    def act(self) -> None:
        """Where a period has come, the managers of nodes that are up take a sample of what they know now."""
        now_ns = self.clock.now_ns
        if now_ns < self.due_ns:
            return
        self.reports.receive()
        for place, taken in enumerate(self.taken):
            if now_ns >= self._due_ns[place]:
                taken.take(self.availability.up)
                self._due_ns[place] = self.clock.boundary_from(self._due_ns[place] + self._period_ns[place])
        self.due_ns = min(self._due_ns)

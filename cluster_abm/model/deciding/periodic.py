"""Policies that act periodically: when, and which load managers."""

from __future__ import annotations

import numpy as np

from cluster_abm.clock import NS_PER_MS, Clock, whole_ns
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.reports import Reports
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.part import part
from cluster_abm.old_names import note_once
from cluster_abm.policy.calling import CheckedPolicy
from cluster_abm.policy.capacities import comparable_table


@part
class PeriodicOffers:
    """At the periods of their policies, load managers whose nodes are in trouble offer tasks to others."""

    clock: Clock
    availability: Availability
    policies: ManagedPolicies
    reports: Reports
    views: Views

    def __post_init__(self) -> None:
        self._managers: dict[CheckedPolicy, list[int]] = {}
        for node, checked in enumerate(self.policies.checked):
            if checked.acts_every_ms is not None:
                self._managers.setdefault(checked, []).append(node)
        self._period_ns = {checked: whole_ns(checked.acts_every_ms or 0.0) for checked in self._managers}
        for checked, period_ns in self._period_ns.items():
            between_ns = self.clock.boundary_from(period_ns)
            if between_ns != period_ns:
                note_once(
                    f"policy {checked.name!r}: acts_every_ms = {period_ns / NS_PER_MS:g} is no whole number of slices "
                    f"(cluster.slice_ms = {self.clock.slice_ns / NS_PER_MS:g}): it acts every "
                    f"{between_ns / NS_PER_MS:g} ms"
                )
        self._due_ns = {checked: self.clock.boundary_from(period) for checked, period in self._period_ns.items()}
        self.due_ns = min(self._due_ns.values(), default=NEVER)
        self.asked: frozenset[int] = frozenset()

    def next_round(self) -> list[int]:
        """The nodes whose managers are asked now for a task to send elsewhere, in order; their periods begin anew."""
        if self.clock.now_ns < self.due_ns:
            self.asked = frozenset()
            return []
        self.reports.receive()
        asked: set[int] = set()
        for checked, managers in self._managers.items():
            if self.clock.now_ns < self._due_ns[checked]:
                continue
            self._due_ns[checked] = self.clock.boundary_from(self._due_ns[checked] + self._period_ns[checked])
            if not checked.relieves:
                continue
            loads = self.views.measure_all()
            comparable = comparable_table(loads, self.views.capacities(managers[0]))
            troubled = checked.in_trouble(comparable) & self.availability.up
            asked.update(np.array(managers)[troubled[managers]].tolist())
        self.due_ns = min(self._due_ns.values())
        self.asked = frozenset(asked)
        return sorted(asked)

"""HBD: Harchol-Balter and Downey's preemptive CPU migration, by the age of processes."""

from __future__ import annotations

import numpy as np

from cluster_abm.formulas import migration_ms, others_per_core, tasks_per_core
from cluster_abm.policy.base import Decision
from cluster_abm.policy.kinds import Migrating
from cluster_abm.policy.parts.indices import CpuIndex
from cluster_abm.policy.view import ArrivingTask, View, written_mb_of


class HarcholBalterDowney(CpuIndex, Migrating):
    """An old process is expected to live long: it migrates once its age pays for the cost.

    With lifetimes of P(L > x) ~ 1/x the expected remaining life of a process is its age; it migrates if age >=
    cost / (n - m), n and m being the CPU queues as they are: n counts the process itself, m does not. Read literally
    (settled), that lets a process go where it shares the CPU with n - 1 - m others fewer: from a queue of 2 to one of
    1 for nothing. In the heterogeneous form n - m is (n + 1)/mu_i - (m + 1)/mu_k, speeds relative to their mean.
    """

    name = "hbd"
    source = "Harchol-Balter and Downey 1997, section 5"
    summary = "on an arrival the process oldest for its cost migrates to the shortest CPU queue, if its age pays for it"
    rules = (
        ("born at home", "", "Harchol-Balter and Downey, section 5"),
        (
            "age >= cost / (n - m)",
            "the process is old enough to pay for its move to a shorter CPU queue",
            "Harchol-Balter and Downey, section 5",
        ),
    )

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Every process starts at home."""
        return Decision(view.me, "born at home", self.index, reason="starts at its home")

    def migration(self, task: ArrivingTask, view: View) -> Decision | None:
        """Migrate the eligible process with the largest ratio of age to cost."""
        column = self.column(view, task)
        target = view.least_of(column)
        here, there = float(column[view.me]), float(column[target])
        if view.capacities is None:
            here = tasks_per_core(here, view.hardware[view.me].cores)
            there = others_per_core(there, view.hardware[target].cores)
        tasks = view.candidate_rows
        if target in view.refused or target == view.me or not here > there or not len(tasks):
            return None
        age_ms = tasks["age_ms"]
        cost_ms = migration_ms(
            view.fixed_ms(target)[1], tasks["memory_mb"], tasks["initial_data_mb"] + written_mb_of(tasks),
            view.network_mb_per_s(target), view.disk_mb_per_s(view.me), view.disk_mb_per_s(target),
        )  # fmt: skip
        eligible = tasks["running"] & (age_ms * (here - there) >= cost_ms) & (cost_ms > 0)
        if not eligible.any():
            return None
        per_cost = np.where(eligible, age_ms / np.where(eligible, cost_ms, 1.0), -np.inf)
        oldest = int(per_cost.argmax())
        return Decision(
            target, "age >= cost / (n - m)", self.index, load_here=here, load_there=there,
            cost_ms=float(cost_ms[oldest]), task=view.candidate(oldest), mce=float(per_cost[oldest]),
        )  # fmt: skip

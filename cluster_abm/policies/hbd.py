"""HBD: Harchol-Balter and Downey's preemptive CPU migration, by the age of processes."""

from __future__ import annotations

from cluster_abm.policies.base import Decision
from cluster_abm.policies.indices import CpuIndex
from cluster_abm.policies.view import Newcomer, View


class HarcholBalterDowney(CpuIndex):
    """An old process is expected to live long: it migrates once its age pays for the cost.

    With lifetimes of P(L > x) ~ 1/x the expected remaining life of a process is its age; it shares the CPU with
    n - m processes fewer at its target, so it gains more than it costs if age >= cost / (n - m).
    """

    name = "hbd"
    source = "Harchol-Balter and Downey 1997, section 5"
    summary = "on an arrival the process oldest for its cost migrates to the shortest CPU queue, if its age pays for it"
    migrates = True

    def place(self, newcomer: Newcomer, view: View) -> Decision:
        """Every process starts at home."""
        return Decision(view.me, "born at home", self.index, reason="starts at its home")

    def migration(self, newcomer: Newcomer, view: View) -> Decision | None:
        """The eligible process whose age is most for its cost."""
        column = self.column(view)
        target = view.least_of(column)
        here, there = float(column[view.me]), float(column[target])
        best: Decision | None = None
        for task in view.candidates:
            cost_ms = view.cost_ms(task, target)
            if task.running and target not in view.refused and task.age_ms * (here - there) >= cost_ms > 0:
                per_cost = task.age_ms / cost_ms
                if best is None or per_cost > best.mce:
                    best = Decision(
                        target, "age >= cost / (n - m)", self.index, load_here=here, load_there=there,
                        cost_ms=cost_ms, task=task, mce=per_cost,
                    )  # fmt: skip
        return best

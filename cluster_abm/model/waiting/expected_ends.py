"""For how long a job is expected to hold its cores, by what it requests."""

from __future__ import annotations

from cluster_abm.policies import ArrivingTask, View
from cluster_abm.policy.waiting import slices_within


def expected_slices(task: ArrivingTask, times: int, start_ms: float, slice_ms: float) -> int:
    """How many slices from now on a job lasts by what it requests [slices]; LONGEST if it requests nothing.

    Args:
        task: any of its tasks.
        times: how often its cores serve a task one after another.
        start_ms: how long its start takes [ms].
        slice_ms: length of a slice [ms].
    """
    return slices_within(task.requested_ms * times + start_ms, slice_ms)


def longest_start_ms(task: ArrivingTask, view: View) -> float:
    """The longest that starting a task on any node takes [ms]: of nodes alike in route and disk one is looked at."""
    kinds: dict[tuple[float, float, float], int] = {}
    for node in range(view.nodes):
        if node != view.me and node not in view.refused:
            route = float(view.paths.mb_per_s[node]), float(view.paths.latency_ms[node])
            kinds.setdefault((*route, view.hardware[node].disk_mb_per_s), node)
    return max((view.cost_ms(task, node) for node in kinds.values()), default=0.0)

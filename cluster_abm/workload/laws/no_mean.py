"""Whether the mean slowdown exists: not if demands may be arbitrarily short and something is paid all the same."""

from __future__ import annotations

from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.workload.applications import as_application


def why_no_mean(scenario: Scenario) -> str:
    """A line that says why the mean slowdown has no mean; "": it has one.

    A slowdown is wall/X, where X is the time that a task takes alone: its CPU, and accesses in proportion to it. A
    remote start costs the same whatever X is, and a task that finds its CPU busy waits for the rest of a quantum. So
    wall is at least c > 0 with a chance that does not go to 0 with X, and E[wall/X] >= c P E[1/X]. E[1/X] is infinite
    if the law of X has a density above 0 at 0. In a run X is 1 ns at least: there the mean is finite, but the shortest
    tasks decide about it, and more runs do not settle it.

    A log has a shortest task, as programs and applications have. Of sessions X is a share of their work.
    """
    workload = as_application(scenario.workload, scenario.cluster)
    if workload.kind == "sessions":
        laws = [group.work_s for group in workload.sessions.group]
        laws += [group.spread for group in workload.sessions.group if group.has_followers]
    elif workload.kind == "synthetic" and not workload.programs.mix:
        laws = [workload.cpu_ms]
    else:
        laws = []
    if not any(map(_reaches_0, laws)):
        return ""
    cost_ms = scenario.negotiation.remote_execution_ms
    paid = f"a remote start costs {cost_ms:g} ms" if cost_ms > 0.0 else "tasks wait for others whatever their demand"
    return f"mean slowdown has no mean here: demands may be arbitrarily short, and {paid}; see bounded slowdown"


def _reaches_0(law: Distribution) -> bool:
    """Whether E[1/X] is infinite: the density at 0 is above 0 (gamma: with a shape of at most 1)."""
    match law.kind:
        case "exponential" | "uniform":
            return law.mean > 0.0
        case "gamma":
            return law.mean > 0.0 and law.sd >= law.mean
        # The quantiles of CPU demands are above 0.
        case _:
            return False

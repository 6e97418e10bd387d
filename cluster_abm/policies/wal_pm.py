"""WAL-PM: weighted average load, preemptive migration (WAL-PM, section 4, Fig. 1)."""

from __future__ import annotations

from cluster_abm.policies.indices import Preemptive, WeightedIndex


class WeightedPreemptiveMigration(Preemptive, WeightedIndex):
    """Weighted load, preemptive migration."""

    name = "wal-pm"
    source = "WAL-PM, section 4, Fig. 1"
    summary = "from an overloaded node the task migrates that moves most I/O load per cost, by weighted load"

    class Parameters(WeightedIndex.Parameters, Preemptive.Parameters):
        """Weights, estimator and effectiveness."""

    parameters: Parameters

"""IO-PM: I/O load, preemptive migration (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policies.indices import IoIndex, Preemptive


class IoPreemptiveMigration(Preemptive, IoIndex):
    """I/O load, preemptive migration."""

    name = "io-pm"
    source = "WAL-PM, sections 4 and 6"
    summary = "as wal-pm, by I/O load"

    class Parameters(Preemptive.Parameters, IoIndex.Parameters):
        """I/O load, estimator and effectiveness."""

    parameters: Parameters

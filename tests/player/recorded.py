"""The recordings that the player's tests look at."""

from functools import cache

import cluster_abm as ca


@cache
def eventful():
    """With remote starts, migrations, refusals, moves that do not pay, and lost tasks."""
    return ca.record(
        "quickstart", "wal-pm", seed=1, workload__duration_s=60, cluster__nodes=12, failures__on_failure="lost",
        failures__node={"kind": "exponential", "mean_up_s": 120.0, "mean_down_s": 20.0},
    )  # fmt: skip


@cache
def calm():
    """The same jobs without a policy, whose nodes do not fail."""
    return ca.record("quickstart", "none", seed=1, workload__duration_s=60, cluster__nodes=12)

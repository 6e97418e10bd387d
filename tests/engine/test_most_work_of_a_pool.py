"""The largest work of a pooled cluster, by hand: 146 years of CPU and disk together."""

from __future__ import annotations

import numpy as np
import pytest

from cluster_abm.engine.pooled.state import PooledState
from cluster_abm.engine.tables import JOB, empty_nodes
from cluster_abm.errors import InputError

MOST_MS = 4.6e12


def pool_with(cpu_ms: float, tasks: int = 1, speed: float = 1.0) -> PooledState:
    """Two nodes, and a job with an access of 100 KB per 20 ms of CPU. An access takes 8 + 100 x 0.02 = 10 ms."""
    nodes = empty_nodes(2)
    nodes["speed"], nodes["user_memory_kb"], nodes["seek_ns"], nodes["ns_per_kb"] = speed, 10_000, 8_000_000, 20_000.0
    jobs = np.zeros(1, JOB)
    jobs["tasks"], jobs["cpu_ms"], jobs["io_per_ms"], jobs["request_kb"] = tasks, cpu_ms, 0.05, 100.0
    return PooledState(nodes, jobs, 1)


# A task takes cpu_ms / speed for CPU and 0.05 x 10 x cpu_ms for its accesses: 1.5 cpu_ms at speed 1, cpu_ms at 2.
@pytest.mark.parametrize(("tasks", "speed", "times"), [(1, 1.0, 1.5), (1, 2.0, 1.0), (4, 1.0, 6.0), (4, 2.0, 4.0)])
def test_all_tasks_count_with_their_cpu_and_their_accesses(tasks, speed, times):
    pool_with(0.999 * MOST_MS / times, tasks, speed)
    with pytest.raises(InputError, match=r"all work together reaches 4.65e\+12 ms.*allowed is 4.6e\+12"):
        pool_with(1.01 * MOST_MS / times, tasks, speed)

"""A run by group of nodes (`[[cluster.group]]`): how busy their CPUs and disks were."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pandas as pd

from cluster_abm.results.metrics import RunData


def by_node_group(run: RunData, counts: Sequence[int]) -> pd.DataFrame:
    """One row for each group of nodes, in the scenario's order; the nodes of no group come last.

    Args:
        run: of all nodes, each by itself.
        counts: how many nodes each group has, then how many are in none.

    Returns:
        Columns name (`group 1`, `group 2`, ..., `others`), nodes, cpu_utilisation, disk_utilisation. Shares of the
        time from the beginning of the run until now, as the metrics of these names.
    """
    ends = list(itertools.accumulate(counts))
    names = [*(f"group {number}" for number in range(1, len(counts))), "others"]
    rows = []
    for name, count, end in zip(names, counts, ends, strict=True):
        own = slice(end - count, end)
        if count:
            busy = run.share(run.cpu_ns[own], int(run.cores[own].sum())), run.share(run.disk_ns[own], count)
            rows.append((name, count, *busy))
    return pd.DataFrame(rows, columns=["name", "nodes", "cpu_utilisation", "disk_utilisation"])

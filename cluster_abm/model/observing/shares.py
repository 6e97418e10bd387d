"""What the summary of a run says by user, by group of users and by group of nodes, and of the waits in its log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.results.metrics import RunData, known
from cluster_abm.results.outcomes import Outcomes
from cluster_abm.workload.traces.logged import LoggedJobs, waits_by_width, waits_in_s

# Rows of a table in the summary, those of most CPU time; files have all of them.
MOST_ROWS = 1000


def waits_beside(logged: LoggedJobs, outcomes: Outcomes) -> dict[str, Any]:
    """Waits of the finished jobs in the log and in the run, under `recorded_wait_s` and `simulated_wait_s`.

    Both are over the same jobs: those of which the log has a wait, and by width (`by_width`) if it has their tasks.
    Nothing where it has none, where no such job has finished, and where rows are not kept.
    """
    found = outcomes.waits_of_jobs() if logged.recorded_wait_ms is not None else None
    if logged.recorded_wait_ms is None or found is None:
        return {}
    jobs, waits_ns = found
    recorded_ms = logged.recorded_wait_ms[jobs]
    recorded = waits_in_s(recorded_ms)
    if recorded is None:
        return {}
    simulated_ms = np.where(np.isnan(recorded_ms), np.nan, waits_ns / NS_PER_MS)
    both = {"recorded_wait_s": (recorded_ms, recorded), "simulated_wait_s": (simulated_ms, waits_in_s(simulated_ms))}
    if logged.tasks is None:
        return {name: of for name, (_, of) in both.items()}
    widths = logged.tasks[jobs]
    return {name: (of or {}) | {"by_width": waits_by_width(waits_ms, widths)} for name, (waits_ms, of) in both.items()}


def tables_in_json(tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Tables of shares for JSON: how many rows each has, and the first MOST_ROWS of them."""
    return {
        name: {
            "count": len(table),
            "rows": [
                {str(key): known(value) if isinstance(value, float) else value for key, value in row.items()}
                for row in table.head(MOST_ROWS).to_dict("records")
            ],
        }
        for name, table in tables.items()
        if len(table)
    }


def members_of(run: RunData, logged: LoggedJobs) -> dict[str, pd.DataFrame]:
    """The tables `by_user` and `by_group` of a run whose jobs have users, or groups of users; empty ones otherwise."""
    found = {}
    for name, members in (("by_user", logged.users), ("by_group", logged.groups)):
        table = None if members is None else run.outcomes.of_members(members, run.headline)
        found[name] = pd.DataFrame() if table is None else table
    return found

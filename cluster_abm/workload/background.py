"""Background programs of a scenario as a table."""

from __future__ import annotations

import numpy as np

from cluster_abm.engine.tables import BACKGROUND, NS_PER_MS, Table
from cluster_abm.scenario import Scenario


def background_table(scenario: Scenario) -> Table:
    """The background programs, tables.BACKGROUND_FIELDS, in the order of the scenario."""
    programs = scenario.workload.background
    table = np.zeros(len(programs), BACKGROUND)
    for row, program in zip(table, programs, strict=True):
        row["node"] = program.node
        row["period_ns"] = round(program.period_ms * NS_PER_MS)
        row["burst_ns"] = max(1, round(program.cpu_share * program.period_ms * NS_PER_MS))
        row["memory_kb"] = round(program.memory_mb * 1000)
        row["io_per_ms"] = program.io_per_ms
        row["request_kb"] = program.request_kb
    return table

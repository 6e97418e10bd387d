"""What the kernels of a conversation change beside its own rows: the engine's tables, and the rows of decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.compiling.pointers import group
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.tables import BARRIER, CORE, DEMAND, JOB, JOURNAL, PHASE, RECORD, TASK, Tables, empty_nodes
from cluster_abm.jit import inlined
from cluster_abm.model.deciding.decisions import DECIDED

_integers = np.zeros(1, np.int64)
# Beside the tables: rows of decisions; the task that starts; and messages of a run that is recorded, shape (messages,
# MESSAGE_NUMBERS): when each was sent and heard [ns], nodes of its managers, number of its topic, task.
tables_group = group(
    "EngineTables",
    {
        "homes": empty_nodes(1), "nodes": empty_nodes(1), "cores": np.zeros(1, CORE), "jobs": np.zeros(1, JOB),
        "tasks": np.zeros(1, TASK), "free": _integers, "counters": _integers, "first_event_ns": _integers,
        "records": np.zeros(1, RECORD), "barriers": np.zeros(1, BARRIER), "pending_jobs": _integers,
        "phases": np.zeros(1, PHASE), "journal": np.zeros(1, JOURNAL), "demands": np.zeros(1, DEMAND),
        "decided": np.zeros(1, DECIDED),
        "silent_ns": np.zeros((1, 1), np.int64),
        **{f"start_{name}": _integers for name in Starts._fields},
    },
)  # fmt: skip
tables_at = tables_group.at


@inlined
def tables_of(at: int) -> Tables:
    """The engine's tables."""
    of: Any = tables_at(at)
    return Tables(
        of.homes, of.nodes, of.cores, of.jobs, of.tasks, of.free, of.counters, of.first_event_ns, of.records,
        of.barriers, of.pending_jobs, of.phases, of.journal, of.demands,
    )  # fmt: skip


@inlined
def starts_of(at: int) -> Starts:
    """The task that starts."""
    of: Any = tables_at(at)
    return Starts(
        of.start_job, of.start_rank, of.start_held_ns, of.start_target, of.start_delay_ns, of.start_origin
    )  # fmt: skip

"""What a compiled policy is given, and what it makes of it: one row of numbers each, and where the tables lie.

A view is a pointer to one row that says where the tables are: compiled code hands it on at no cost, and compiles fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.np import numpy_support

from cluster_abm.compiling.pointers import group, part
from cluster_abm.compiling.values import value_type
from cluster_abm.engine.tables import LOAD
from cluster_abm.policy.capacities import Capacities
from cluster_abm.policy.decision import FIELDS as DECISION_FIELDS
from cluster_abm.policy.memory import empty_rows
from cluster_abm.policy.tasks import CANDIDATE, HARDWARE
from cluster_abm.policy.waiting import RUNNING, WAITING

from_dtype: Any = numpy_support.from_dtype
FIELDS = len(LOAD.names or ())
# What a policy's migration returns where no task is to migrate; 1 of a decision, 0 at a fault.
NO_DECISION = 2
# What its answers are; 0 at a fault.
NO, YES = 1, 2
# What a note is: none, a whole number, a float, a truth value, or something else, which stands in Python.
(NO_NOTE, WHOLE, FLOAT, TRUTH, OTHER) = range(5)
_floats, _integers, _flags = np.zeros(1), np.zeros(1, np.int64), np.zeros(1, bool)
_table, _counts = np.zeros((1, 1)), np.zeros((1, 1), np.int64)

# As a Candidate; `place` is that among the candidates, -1 of an arriving task.
task_group = group(
    "TaskRow",
    {"files": _integers},
    {**{name: CANDIDATE[name] for name in CANDIDATE.names or ()}, "place": "i8", "requested_ms": "f8"},
)
# As a policy.decision.Decision; `place`: of the task to migrate among the candidates, -1: the arriving one.
decision_group = group(
    "DecisionRow",
    {},
    {"place" if one.name == "task" else one.name: "f8" if one.kind == "float" else "i8" for one in DECISION_FIELDS},
)
TASK_ROW, DECISION_ROW = task_group.row, decision_group.row
# Of the mean node; what else Capacities has is of every node.
NUMBERS_OF_CAPACITIES = ("mean_speed", "mean_request_ms", "mean_work_ms")
COLUMNS_OF_CAPACITIES = tuple(name for name in Capacities._fields if name not in NUMBERS_OF_CAPACITIES)
OF_LOADS = {
    "table": _table, "least": _table, "as_of": _counts, "totals": _table, "added_as_of": _counts, "changes": _integers,
    "group_least": _table, "group_as_of": _counts, "group_changes": _integers,
}  # fmt: skip
# Loads by index (blocks), hardware, routes from the own node, which nodes have refused and which are down, notes of the
# manager's policy, the candidates (`candidate_count` -1: none are described), each also as a policy's task, and the
# files that jobs need; where nodes' overflow lies (model.moving.remote_memory), what was sampled (policy.samples) and
# is remembered (policy.memory; the manager's is `note_row` of it); of unlike nodes what each has (policy.capacities).
# Of a head node that starts jobs also which cores are free, who holds the others, and the nodes of the cores of the job
# that starts (`given`), with the number of its first task.
view_group = group(
    "ViewRow",
    {
        **OF_LOADS, "hardware": np.zeros(1, HARDWARE), "mb_per_s": _floats, "latency_ms": _floats, "refused": _flags,
        "down": _flags, "note_names": _integers, "note_values": _floats, "note_kinds": _integers,
        "candidates": np.zeros(1, CANDIDATE), "candidate": np.zeros(1, TASK_ROW), "fetch_ms": _table,
        "file_mb": _floats, "holders": _counts, "cluster_of": _integers, "kinds": _integers, "held_first": _integers,
        "held_by": _integers, "held_mb": _floats, "sampled": _integers, "sample_whole": _table, "sample_of": _integers,
        "sample_shares": np.zeros((1, 1, 1)), "own_first": _integers, "own_node": _integers, "own_shares": _table,
        "free": _integers, "running": np.zeros(1, RUNNING), "given": _integers,
        **empty_rows(1)._asdict(),
        **dict.fromkeys(COLUMNS_OF_CAPACITIES, _floats),
    },
    {
        **dict.fromkeys(
            ("me", "nodes", "refused_count", "down_count", "candidate_count", "note_row", "free_cores", "first_task",
             "given_job"),
            "i8",
        ),
        "policy_key": "u8",
        **dict.fromkeys(("now_ms", "slice_ms", "remote_execution_ms", "migration_ms", *NUMBERS_OF_CAPACITIES), "f8"),
    },
)  # fmt: skip
VIEW_ROW = view_group.row

_OF_VIEWS = (
    "me", "nodes", "hardware", "kinds", "now_ms", "slice_ms", "remote_execution_ms", "migration_ms", "free",
    "free_cores", "running",
)  # fmt: skip
# The jobs of a queue, each also as its first task; what is noted of them, by the numbers of the notes' names,
# and was before the policy was asked; the
# longest start of each [ms]; and counts: where the head is, how many jobs there are, how many of them are settled
# (their time counts from now on, and no more from their submission), and all cores there were then. And what jobs
# announce beside the job table: the run time that each requests, the CPU demand of each task, and the files that each
# needs (no entry: none, and the job table's demand).
queue_group = group(
    "QueueRow",
    {
        "rows": np.zeros(1, WAITING), "tasks": np.zeros(1, TASK_ROW), "note_names": _integers, "note_values": _table,
        "notes_before": _table, "starts_ms": _floats, "counts": _integers, "requested_ms": _floats,
        "announced_ms": _floats, "needs": _integers, "first_need": _integers,
    },
)  # fmt: skip
HEAD, WAITING_JOBS, SETTLED, CORES_THEN, QUEUE_COUNTS = range(5)
QUEUE_ROW = queue_group.row
i8, f8 = types.int64, types.float64
VIEW, view_of = part("View", view_group, _OF_VIEWS)
UNLIKE_VIEW, unlike_view_of = part("UnlikeView", view_group, _OF_VIEWS)
LOADS, loads_of = part("Loads", view_group, OF_LOADS)
LOAD_ROW, load_row_of = part("LoadRow", view_group, (), "node")
PATHS, paths_of = part("Paths", view_group, ("mb_per_s", "latency_ms"))
CAPACITIES, capacities_of = part("Capacities", view_group, Capacities._fields)
DATA, data_of = part("Data", view_group, ("nodes", "cluster_of"))
NOTES, notes_of = part("Notes", view_group)
NODE_SET, node_set_of = value_type("NodeSet", {"flags": types.Array(types.boolean, 1, "C"), "count": i8})
QUEUE, queue_of = part("Queue", queue_group)
JOB_NOTES, job_notes_of = part("JobNotes", queue_group)
TASK, task_of = part("Task", task_group, [*(CANDIDATE.names or ()), "files", "requested_ms"])
# A decision that another node is asked about, as the policy of that node sees it.
OFFER, offer_of = part("Offer", decision_group, [one.name for one in DECISION_FIELDS if one.kind in ("int", "float")])
# A text (compiling.texts): it can be handed on and compared, and nothing else.
TEXT, text_at = value_type("Text", {"number": i8})


def address(table: Any) -> int:
    """Where a table lies; it has to be contiguous, and kept as long as the address is used."""
    assert table.flags.c_contiguous
    return int(table.ctypes.data)

"""What a compiled policy is given, and what it makes of it: one row of numbers each, and where the tables lie.

A view is a pointer to one row that says where the tables are: compiled code hands it on at no cost, and compiles fast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.np import numpy_support

from cluster_abm.compiling.values import value_type
from cluster_abm.engine.tables import LOAD
from cluster_abm.policy.capacities import Capacities
from cluster_abm.policy.decision import FIELDS as DECISION_FIELDS
from cluster_abm.policy.tasks import CANDIDATE, Hardware

from_dtype: Any = numpy_support.from_dtype
FIELDS = len(LOAD.names or ())
HARDWARE = np.dtype(
    [(name, "?" if name in ("overflow_only", "by_oversize") else "f8") for name in Hardware._fields], align=True
)
# As a Candidate; `place` is that among the candidates, -1 of an arriving task, and `files_at` the address of the
# numbers of `file_count` files.
TASK_ROW = np.dtype(
    [*((name, CANDIDATE[name]) for name in CANDIDATE.names or ()), ("place", "i8"), ("files_at", "i8"),
     ("file_count", "i8"), ("requested_ms", "f8")],
    align=True,
)  # fmt: skip
# What a policy's migration returns where no task is to migrate; 1 of a decision, 0 at a fault.
NO_DECISION = 2
# A policy.decision.Decision in numbers; `place`: of the task to migrate among the candidates, -1: the arriving one.
DECISION_ROW = np.dtype(
    [("place" if one.name == "task" else one.name, "f8" if one.kind == "float" else "i8") for one in DECISION_FIELDS]
)
# Of the mean node; what else Capacities has is of every node.
NUMBERS_OF_CAPACITIES = ("mean_speed", "mean_request_ms", "mean_work_ms")
COLUMNS_OF_CAPACITIES = tuple(name for name in Capacities._fields if name not in NUMBERS_OF_CAPACITIES)
# Of tables the addresses: loads by index (columns.Columns), hardware, routes from the own node, flags of the nodes that
# have refused and that are down, notes of the manager's policy, the candidates, one row for a candidate's task, and the
# files that jobs need; of unlike nodes what each has (policy.capacities).
VIEW_ROW = np.dtype(
    [(name, "i8") for name in (
        "me", "nodes", "blocks", "table_at", "least_at", "as_of_at", "totals_at", "added_as_of_at", "changes_at",
        "hardware_at", "mb_per_s_at", "latency_ms_at", "refused_at", "refused_count", "down_at", "down_count",
        "note_names_at", "note_values_at", "note_kinds_at", "note_count", "candidates_at", "candidate_count",
        "candidate_at", "fetch_ms_at", "file_mb_at", "holders_at", "copies", "data_files", "cluster_of_at",
        *(f"{name}_at" for name in COLUMNS_OF_CAPACITIES))]
    + [(name, "f8") for name in ("now_ms", "remote_execution_ms", "migration_ms", *NUMBERS_OF_CAPACITIES)]
    + [("policy_key", "u8")]
)  # fmt: skip

FLOATS = types.Array(types.float64, 1, "C")
INTEGERS = types.Array(types.int64, 1, "C")
FLAGS = types.Array(types.uint8, 1, "C")
TABLE = types.Array(types.float64, 2, "C")
COUNTS = types.Array(types.int64, 2, "C")
TASKS = types.Array(from_dtype(CANDIDATE), 1, "C")
NODES = types.Array(from_dtype(HARDWARE), 1, "C")
VIEW_RECORD, TASK_RECORD, DECISION_RECORD = from_dtype(VIEW_ROW), from_dtype(TASK_ROW), from_dtype(DECISION_ROW)
i8, f8 = types.int64, types.float64
# What a note is: none, a whole number, a float, a truth value, or something else, which stands in Python.
(NO_NOTE, WHOLE, FLOAT, TRUTH, OTHER) = range(5)

VIEW, view_of = value_type("View", {"at": i8})
LOADS, loads_of = value_type("Loads", {"at": i8})
UNLIKE_VIEW, unlike_view_of = value_type("UnlikeView", {"at": i8})
CAPACITIES, capacities_of = value_type("Capacities", {"at": i8})
DATA, data_of = value_type("Data", {"at": i8})
NOTES, notes_of = value_type("Notes", {"at": i8})
LOAD_ROW, load_row_of = value_type("LoadRow", {"at": i8, "node": i8})
NODE_SET, node_set_of = value_type("NodeSet", {"address": i8, "count": i8, "nodes": i8})
TASK, task_of = value_type("Task", {"at": i8})
# A decision that another node is asked about, as the policy of that node sees it.
OFFER, offer_of = value_type("Offer", {"at": i8})
# A text (compiling.texts): it can be handed on and compared, and nothing else.
TEXT, text_at = value_type("Text", {"number": i8})


def address(table: Any) -> int:
    """Where a table lies; it has to be contiguous, and kept as long as the address is used."""
    assert table.flags.c_contiguous
    return int(table.ctypes.data)

"""What a compiled negotiation works with: the rows that policies are called with, and the settings of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.compiling.pointers import group, point
from cluster_abm.compiling.tables import DECISION_ROW, HARDWARE, OF_LOADS, TASK_ROW, VIEW_ROW
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.tables import LOAD, Table
from cluster_abm.model.deciding.truths import no_truths
from cluster_abm.model.knowing.knowledge import INDICES, nothing_known
from cluster_abm.policy.memory import empty_rows
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.policy.waiting import RUNNING

# What a call of the negotiation counts, by position in its counts.
(
    NOW_NS, DECIDED_ROWS, REFUSED, TAKEN, REMOTE_EXECUTIONS, MIGRATIONS, OUTCOME, DECLINED, ASKED, ASKING_NS,
    READ_THEN, STARTED, JOB, LASTS, COUNTS,
) = range(15)  # fmt: skip
# How such a call ends: all placed; at a report's arrival; there is no room for what the next task needs; compiled code
# cannot tell what the policy decides, or it or a cost is at fault: the path in Python goes on from DECLINED, the number
# of nodes that have refused, ASKED, of questions asked or tasks sent, and ASKING_NS.
DONE, AT_STOP, NO_ROOM, AT_FAULT, AT_FAULT_OF_MIGRATION = range(5)
# And where a head node starts jobs: it goes on with the start of the job at place DECLINED of the queue; or with the
# task of rank DECLINED of JOB, which is expected to hold its cores for LASTS slices. READ_THEN: records when the policy
# was asked last; STARTED: columns of `started` that are filled.
# AT_FAULT_OF_HOLDING: with the question whether the job at the head of a queue waits (holding).
AT_FAULT_OF_START, AT_FAULT_OF_TASK, AT_FAULT_OF_HOLDING = 5, 6, 7


class Scratch(NamedTuple):
    """Rows of scratch space, which policies read by their addresses.

    Attributes:
        views, task, decision: one row each (compiling.tables).
        candidate: a row for each of `candidates`, as a policy sees it.
        loads: the loads of nodes as last measured; `load_numbers`, shape (nodes, indices), is the same memory.
        own_numbers: one row of it, shape (1, indices).
        starts: the task that starts (engine.admission.Starts).
        changed, before: of knowledge.begin_view.
        refused, down: flags of nodes, shape (nodes,).
        declined: nodes that have refused the task in question, shape (nodes,).
        candidates: the tasks of a node that could be sent elsewhere.
        hardware: of every node; `kinds`: View.kinds.
        mb_per_s, latency_ms: of the routes; those from each node begin at `route_at`, shape (nodes,).
        own_route: bandwidth and latency that a shared row has in the place of the own node, shape (2,).
        unreachable: nodes to which no route leads whatever these say, shape (nodes,).
        note_names, note_values, note_kinds: what the managers' policies remember, shape (nodes, notes).
        note_row: the row of it that is a manager's, shape (nodes,).
        notes_before: names, values and kinds of two rows before a policy was asked, shape (6, notes).
        noted_ends, noted_top, noted_following: of what they remember (policy.memory.MemoryRows); its other arrays are
            the policies' alone.
        noted_before: ends and top of two managers before a policy was asked, shape (2, 3).
        asked: how many questions were asked about each task, shape (tasks,); empty where none can get lost.
        fetch_ms: time to fetch each file to each node, shape (files, nodes) [ms]; empty without files.
        fetched_from: the node that it comes from, same shape.
        file_mb: size of each file [MB].
        holders: nodes that hold each file, shape (files, copies).
        needs, first_need: numbers of the files that jobs need, and where those of each job begin.
        cluster_of: cluster of each node.
        requested_ms: run times that jobs request, shape (jobs,) [ms]; empty where no job requests any.
        announced_ms: CPU demand that each task announces, shape (tasks,) [ms]; empty: what the job table says.
        fetched_mb: what was fetched so far, and between clusters, shape (2,) [MB].
        counts: shape (COUNTS,).
        truths: what was true at each decision (truths.COLUMNS), a row for each row of decisions; of a run that is not
            recorded it has no row.
        seen: the true loads of the deciding and of the asked node, as last measured, shape (2, indices).
        seen_node: which nodes these are; -1: not measured.
        is_open: which nodes a head node finds up and accepting, shape (nodes,).
        unlike: nodes among which are, for a task of any home, all that take unlike times to start it on.
        given: the nodes of the cores that a job gets; before, its number of tasks and how long this array is.
        started: job, rank, node, time held and time to tell its home [ns] of each task that starts, shape (5, tasks);
            (5, 0): not wanted.
    """

    views: Table
    task: Table
    candidate: Table
    decision: Table
    loads: Table
    load_numbers: Floats
    own_numbers: Floats
    starts: Starts
    changed: Integers
    before: Floats
    refused: Flags
    down: Flags
    declined: Integers
    candidates: Table
    hardware: Table
    kinds: Integers
    mb_per_s: Floats
    latency_ms: Floats
    route_at: Integers
    own_route: Floats
    unreachable: Flags
    note_names: Integers
    note_values: Floats
    note_kinds: Integers
    note_row: Integers
    notes_before: Floats
    noted_ends: Integers
    noted_top: Integers
    noted_following: Integers
    noted_before: Integers
    asked: Integers
    fetch_ms: Floats
    fetched_from: Integers
    file_mb: Floats
    holders: Integers
    needs: Integers
    first_need: Integers
    cluster_of: Integers
    requested_ms: Floats
    announced_ms: Floats
    fetched_mb: Floats
    counts: Integers
    truths: Floats
    seen: Floats
    seen_node: Integers
    is_open: Flags
    unlike: Integers
    given: Integers
    started: Integers


# Candidates for which there is room at first, and where they stand.
ROOM = 64
CANDIDATES = ("candidates", "candidate")

# What stays the same during a run, or a call. Fields:
#    advance, admit, measure, migrate: addresses of the engine's kernels; of `migrate` 0 where no task migrates.
#    rebalance: address of migrating.rebalance; 0 likewise.
#    next_job, cores_for: likewise, of a policy whose head node starts jobs; 0: it has none.
#    looks: whether a policy reads the loads of nodes.
#    shows_loads: whether a manager's view shows the loads that this manager knows: not where all is known.
#    widest: the most tasks of a job.
#    place, accept, migration, relieve, numbers: addresses of the policy's functions and parameters (compiling.entries).
#    migrates: whether an arrival may make tasks migrate; `most_migrations` of them, -1: as many as gain.
#    offers: how many nodes are asked.
#    all_is_known: mode `papers`, or a central policy.
#    refusals: whether asked nodes may refuse.
#    by_reports: whether managers know of failed nodes by missing reports.
#    can_change: whether nodes or links may be down, or nodes drain.
#    timeout_ns: how long an asker waits for an answer before it gives up [ns].
#    loss_share: share of the messages that get lost.
#    share_routes: whether several nodes share a row of routes.
#    slice_ns: length of a slice [ns].
#    stop_ns: arrivals of slices that begin then, or later, are not placed [ns].
#    effective_rates: whether loads count I/O as it reaches the disk.
#    counts_effective: whether they have `effective_tasks`.
#    writes: whether decisions are written down.
#    has_notes: whether the policy remembers anything.
#    run_key, message_key: keys of the streams of service times, of messages.
#    spare_rows: how many rows of the task table must be free beside those of new tasks.
#    no_answer, drains, all_refused: numbers of these reasons.
SETTINGS = {
    **dict.fromkeys(
        ("advance", "admit", "measure", "migrate", "rebalance", "place", "accept", "migration", "relieve", "numbers",
         "most_migrations", "offers", "timeout_ns", "slice_ns", "stop_ns", "spare_rows", "no_answer", "drains",
         "all_refused", "next_job", "cores_for", "widest"), "i8"
    ),
    "loss_share": "f8",
    **dict.fromkeys(("run_key", "message_key"), "u8"),
    **dict.fromkeys(
        ("migrates", "all_is_known", "refusals", "by_reports", "can_change", "share_routes", "effective_rates",
         "counts_effective", "writes", "has_notes", "looks", "shows_loads"), "?"
    ),
}  # fmt: skip
settings_group = group("Settings", {}, SETTINGS)


def scratch_of_run(
    *,
    nodes: int,
    notes: int,
    asked: Integers | None = None,
    requested_ms: Floats | None = None,
    announced_ms: Floats | None = None,
    files: Mapping[str, Any] | None = None,
) -> Scratch:
    """The scratch space of a run, whose routes are still to be told; attributes are those of Scratch.

    Args:
        notes: how many notes a policy may keep.
        files: the arrays that have to do with files, by their names; None: no job needs any.
    """
    loads = np.zeros(nodes, LOAD)
    memory = empty_rows(nodes)
    none, nothing = np.zeros(0, np.int64), np.zeros((0, 0))
    scratch = Scratch(
        views=np.zeros(1, VIEW_ROW),
        task=np.zeros(1, TASK_ROW),
        candidate=np.zeros(ROOM, TASK_ROW),
        decision=np.zeros(1, DECISION_ROW),
        loads=loads,
        load_numbers=loads.view(np.float64).reshape(nodes, INDICES),
        own_numbers=np.zeros((1, INDICES)),
        starts=Starts(*(np.zeros(1, np.int64) for _ in Starts._fields)),
        changed=np.zeros(nodes + 1, np.int64),
        before=np.zeros((nodes + 1, INDICES)),
        refused=np.zeros(nodes, bool),
        down=np.zeros(nodes, bool),
        declined=np.zeros(nodes + 1, np.int64),
        candidates=np.zeros(ROOM, CANDIDATE),
        hardware=np.zeros(nodes, HARDWARE),
        kinds=np.zeros(nodes, np.int64),
        mb_per_s=np.zeros(0),
        latency_ms=np.zeros(0),
        route_at=none,
        own_route=np.zeros(2),
        unreachable=np.zeros(nodes, bool),
        note_names=np.zeros((nodes, max(1, notes)), np.int64),
        note_values=np.zeros((nodes, max(1, notes))),
        note_kinds=np.zeros((nodes, max(1, notes)), np.int64),
        note_row=np.arange(nodes),
        notes_before=np.zeros((6, max(1, notes))),
        noted_ends=memory.noted_ends,
        noted_top=memory.noted_top,
        noted_following=memory.noted_following,
        noted_before=np.zeros((2, 3), np.int64),
        asked=none if asked is None else asked,
        fetch_ms=nothing,
        fetched_from=np.zeros((0, 0), np.int64),
        file_mb=np.zeros(0),
        holders=np.zeros((0, 0), np.int64),
        needs=none,
        first_need=none,
        cluster_of=none,
        requested_ms=np.zeros(0) if requested_ms is None else np.ascontiguousarray(requested_ms),
        announced_ms=np.zeros(0) if announced_ms is None else np.ascontiguousarray(announced_ms),
        fetched_mb=np.zeros(2),
        counts=np.zeros(COUNTS, np.int64),
        truths=no_truths(),
        seen=np.zeros((2, INDICES)),
        seen_node=np.full(2, -1, np.int64),
        is_open=np.zeros(nodes, bool),
        unlike=np.arange(nodes),
        given=np.zeros(2, np.int64),
        started=np.zeros((5, 0), np.int64),
    )
    # Of each manager's part of what is known, and of its routes and notes, asking.open_view says where it lies.
    known = nothing_known(np.zeros(nodes, np.int64))
    of_one = {name: getattr(known, name)[0] for name in OF_LOADS}
    of_one |= {f"note_{name}": getattr(scratch, f"note_{name}")[0] for name in ("names", "values", "kinds")}
    of_one |= dict.fromkeys(("mb_per_s", "latency_ms"), np.zeros(nodes))
    of_one |= {"free": none, "given": none, "running": np.zeros(0, RUNNING)}
    shown = ["hardware", "kinds", "refused", "down", *CANDIDATES]
    if files is not None:
        scratch = scratch._replace(**files)
        shown += ["fetch_ms", "file_mb", "holders", "cluster_of"]
    point(scratch.views, of_one | {name: getattr(scratch, name) for name in shown})
    scratch.views["nodes"] = nodes
    return scratch


scratch_group = group(
    "Scratch", {name: array for name, array in scratch_of_run(nodes=1, notes=1)._asdict().items() if name != "starts"}
)
known_group = group("Known", nothing_known(np.zeros(1, np.int64))._asdict())

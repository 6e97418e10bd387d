"""Jobs that are submitted when others have ended: columns `job` and `after` as rows of the table, and their graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import networkx
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cluster_abm.arrays import Floats
from cluster_abm.errors import InputError
from cluster_abm.workload.parents import Parents
from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces.table import Trace, Words

MOST_FOR_GRAPH = 2_000_000  # dependences of which depth and critical path are worth their memory
SHOWN_CYCLE = 5  # jobs


def parents_of(job: Words, after: Words | None, where: str, lines: Sequence[int], unit: str = "line") -> Parents | None:
    """The parents that the column `after` names; None where it names none.

    Raises InputError: ids given twice or with spaces in them, ids that no job has, a job after itself, or a cycle.

    Args:
        job: each job's own id, blank where it has none, shape (jobs,).
        after: ids of the jobs that must have ended before, separated by spaces, shape (jobs,); None: none does.
        lines: of the file, on which each row begins, shape (jobs,).
        unit: what `lines` counts, for messages.
    """
    problems = Problems(where, unit)
    rows: dict[str, int] = {}
    for row, name in enumerate(job.tolist()):
        if not name:
            continue
        if len(name.split()) != 1 or name != name.strip():
            problems.add([(lines[row], f"job = {name[:40]!r}: allowed: an id without spaces")])
        first = rows.setdefault(name, row)
        if first != row:
            problems.add(
                [(lines[row], f"job = {name[:40]!r}: {unit} {lines[first]} has it too: allowed: each id once")]
            )
    parent: list[int] = []
    counts = np.zeros(len(job), np.int64)
    for row, text in enumerate([] if after is None else after.tolist()):
        names = dict.fromkeys(text.split()) if text else ()
        for name in names:
            parent_row = rows.get(name)
            if parent_row is None or parent_row == row:
                what = "no job has this id" if parent_row is None else "a job cannot come after itself"
                problems.add([(lines[row], f"after = {name[:40]!r}: {what}")])
            else:
                parent.append(parent_row)
                counts[row] += 1
    problems.refuse()
    if not parent:
        return None
    parents = Parents(np.concatenate([[0], np.cumsum(counts)]), np.array(parent, np.int64))
    check_no_cycle(parents, where, lambda row: f"{unit} {lines[row]}")
    return parents


def check_no_cycle(parents: Parents, where: str, words_of: Callable[[int], str]) -> None:
    """Raise InputError if jobs wait for each other, naming those of one cycle by `words_of`."""
    jobs = len(parents.first) - 1
    child, parent = parents.waiting, parents.parent
    graph = coo_array((np.ones(len(child), np.int8), (parent, child)), shape=(jobs, jobs))
    count, component = connected_components(graph, directed=True, connection="strong")
    if count == jobs:
        return
    sizes = np.bincount(component)
    inside = component == np.flatnonzero(sizes > 1)[0]
    kept = inside[child] & inside[parent]
    cycle = networkx.find_cycle(networkx.DiGraph(list(zip(parent[kept].tolist(), child[kept].tolist(), strict=True))))
    rows = [edge[0] for edge in cycle]
    begin = rows.index(min(rows))
    rows = rows[begin:] + rows[:begin]
    shown = ", ".join(words_of(row) for row in rows[:SHOWN_CYCLE]) + (", ..." if len(rows) > SHOWN_CYCLE else "")
    raise InputError(f"{where}: jobs that wait for each other ({len(rows):,} in a cycle): {shown}")


def dependence_of(trace: Trace) -> dict[str, Any] | None:
    """The graph of a trace's jobs in numbers; None where no job comes after another.

    Keys: jobs_with_parents, dependences, depth (jobs of the longest chain), critical_path_s (most CPU time per task
    along a chain, the least time for it all at speed 1 on any number of nodes, I/O apart; None without CPU times). The
    last two are None beyond MOST_FOR_GRAPH dependences.
    """
    parents = trace.parents
    if parents is None:
        return None
    numbers: dict[str, Any] = {
        "jobs_with_parents": int((parents.counts > 0).sum()),
        "dependences": len(parents.parent),
        "depth": None,
        "critical_path_s": None,
    }
    if len(parents.parent) > MOST_FOR_GRAPH:
        return numbers
    numbers["depth"] = len(longest_path(parents, np.ones(len(parents.first) - 1)))
    if "cpu_ms" in trace.table:
        cpu_ms = np.nan_to_num(trace.table["cpu_ms"].to_numpy(float))
        numbers["critical_path_s"] = float(cpu_ms[longest_path(parents, cpu_ms)].sum()) / 1000.0
    return numbers


def longest_path(parents: Parents, own: Floats) -> list[int]:
    """The rows, of which each comes after the one before, whose numbers come to most together.

    Args:
        parents: what each row comes after.
        own: each row's number, not negative, shape (rows,).
    """
    # An edge has the number of the row that it leads to; a row beside all, -1, leads to those without parents.
    first = np.flatnonzero(parents.counts == 0)
    behind = np.concatenate([parents.waiting, first])
    before = np.concatenate([parents.parent, np.full(len(first), -1)])
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(zip(before.tolist(), behind.tolist(), own[behind].tolist(), strict=True))
    path: list[int] = networkx.dag_longest_path(graph, weight="weight")
    return path[1:]

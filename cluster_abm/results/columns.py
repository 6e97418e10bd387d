"""What the columns of the tables of a run are: name, unit and meaning of each, and of the numbers of its summary.

The reference takes them from here, and a test holds that a run writes no column that is not described.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cluster_abm.engine.fields import BREAKDOWN_FIELDS, LOAD_INDICES, LoadIndex
from cluster_abm.policy.decision import RECORDED
from cluster_abm.results.frames import MOST_CLUSTERS


class Column(NamedTuple):
    """A column, or a number of the summary.

    Attributes:
        name: as it is written.
        unit: of its values; "1": none.
        meaning: in words.
        when: when there is one; "": always.
    """

    name: str
    unit: str
    meaning: str
    when: str = ""


# Loads that nodes.parquet has under their own name; the others are `load_<index>`.
PLAIN_LOADS = ("tasks", "memory_mb", "cpu_queue", "faults_per_ms")
OF_AVERAGES = "the policy asks for averages"
OF_A_GRAPH = "a graph was handed over"


def _of_load(index: LoadIndex) -> Column:
    name = index.name if index.name in PLAIN_LOADS else f"load_{index.name}"
    return Column(name, index.unit, index.meaning, OF_AVERAGES if index.averaged else "")


def _of_vertices(*columns: Column) -> tuple[Column, ...]:
    """The columns that name the vertices of other columns' nodes (results.vertices)."""
    return tuple(
        Column(f"{one.name}_vertex", "name", f"vertex of `{one.name}` in the graph", OF_A_GRAPH)
        for one in columns
        if one.unit == "node"
    )


JOBS: tuple[Column, ...] = (
    Column("job", "job", "number of the job, in order of submission"),
    Column("task", "task", "number of the task over the whole run"),
    Column("home", "node", "where it was submitted"),
    Column("node", "node", "where it ended"),
    Column("arrival_ms", "ms", "submission"),
    Column("finish_ms", "ms", "end"),
    Column("response_ms", "ms", "wall time: from submission to end"),
    Column("dedicated_ms", "ms", "isolated time: what it takes alone at home, waits at barriers included"),
    Column("slowdown", "1", "wall over isolated time, IOLB (1); not a number unless it finished"),
    Column("slowdown_cpu_io", "1", "wall over CPU and I/O service, WAL-PM (18); likewise"),
    Column("slowdown_cpu", "1", "wall over CPU (MCLS); likewise"),
    *(Column(f"{name.removesuffix('_ns')}_ms", "ms", meaning) for name, _, _, meaning in BREAKDOWN_FIELDS),
    Column("io_requests", "1", "explicit disk requests"),
    Column("page_faults", "1", "page faults"),
    Column("buffer_hits", "1", "accesses served from the I/O buffer"),
    Column("remote", "flag", "whether it started on another node than its home"),
    Column("migrations", "1", "how often it was migrated while it ran"),
    Column("tasks_of_job", "1", "how many tasks its job has"),
    Column("restarts", "1", "how often it lost its node and began again"),
    Column("lost_cpu_ms", "ms", "received CPU with its work lost to failures"),
    Column("outcome", "word", "finished, killed (for want of memory, or by an act), or lost with its node"),
    Column("program", "name", "program that it runs; empty: none with a profile", "jobs run programs"),
)

NODES: tuple[Column, ...] = (
    Column("time_ms", "ms", "instant of the measurement"),
    Column("node", "node", "number of the node"),
    *map(_of_load, LOAD_INDICES),
    Column("cpu_busy_ms", "ms", "CPU that its cores have given to tasks since the start"),
    Column("disk_busy_ms", "ms", "time since the start with a request in its disk"),
)

DECISIONS: tuple[Column, ...] = (
    *(Column(one.name, one.unit, one.meaning) for one in RECORDED),
    Column(
        "cluster_t_ms",
        "ms",
        "a list: T = T_WC + T_BC of its job in each cluster, LMIP's S_T: the least over the cluster's nodes",
        f"jobs may name files (`[[data.file]]`, of a trace), at most {MOST_CLUSTERS} clusters, and not under the "
        "pooled reference",
    ),
)

SUMMARY: tuple[Column, ...] = (
    Column("scenario", "name", "the scenario"),
    Column("policy", "name", "the policy; where groups of nodes have their own, all of them"),
    Column("seed", "1", "the run's seed"),
    Column("slices", "1", "slices simulated"),
    Column("simulated_ms", "ms", "simulated time"),
    Column("from_s", "s", "jobs that arrive before are left out of the metrics of jobs"),
    Column("warmup", "name", "`measure.warmup`: how that beginning was found"),
    Column("relaxation_times", "1", "how many relaxation times the measured window lasts", "it is known"),
    Column("offered_load.cpu", "1", "CPU that jobs ask for over what there is, while they are submitted", "known"),
    Column("offered_load.disk", "1", "the same of the disks", "known"),
    Column("offered_load.memory", "1", "the same of the memory", "known"),
    Column("jobs.submitted", "jobs", "submitted so far: the sum of the other five"),
    Column("jobs.finished", "jobs", "of which all tasks have finished"),
    Column("jobs.killed", "jobs", "of which a task was killed, for want of memory or by an act"),
    Column("jobs.lost", "jobs", "of which a task was lost with its node"),
    Column("jobs.blocked", "jobs", "that the policy holds back"),
    Column("jobs.running", "jobs", "that have begun and not ended"),
    Column("metrics", "", "every metric that there is, by its name"),
    Column("programs", "", "numbers of each program", "jobs run programs"),
    Column(
        "recorded_wait_s",
        "s",
        "waits in the log, of the finished jobs; `by_width`: by number of tasks",
        "a log has them",
    ),
    Column("simulated_wait_s", "s", "waits of the same jobs in the run, likewise", "a log has them"),
    Column("by_user", "", "the run by user: how many users, and a row each", "jobs have users"),
    Column("by_group", "", "the same by group of users", "a log names groups"),
    Column("by_node_group", "", "how busy each group of nodes was", "there are groups of nodes"),
)

TABLES: Mapping[str, tuple[Column, ...]] = {
    name: (*columns, *_of_vertices(*columns))
    for name, columns in {"jobs": JOBS, "nodes": NODES, "decisions": DECISIONS}.items()
}


def described(table: str) -> Mapping[str, Column]:
    """The columns of a table of a run (jobs, nodes, decisions) by their names."""
    return {column.name: column for column in TABLES[table]}

"""A recording of a run, made from what its parts have kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from cluster_abm._version import __version__
from cluster_abm.arrays import Array, Floats, Integers
from cluster_abm.columns import columns_of, distinct, ordered_columns, places_in
from cluster_abm.compiling.texts import text_of
from cluster_abm.engine.tables import BREAKDOWN, FREE, JOB, NONE, RECORD, REQUEST_ONLY, Table
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.layout import positions, wires
from cluster_abm.json_text import json_value
from cluster_abm.model.assembly import Parts
from cluster_abm.model.deciding.decisions import DECIDED
from cluster_abm.model.deciding.truths import COLUMNS as TRUTHS
from cluster_abm.model.knowing.averages import NAMES as AVERAGES
from cluster_abm.model.observing.measurements import Measurements
from cluster_abm.policies import Policy
from cluster_abm.policy.reasons import rule_in_words
from cluster_abm.recording import Recording
from cluster_abm.recording.departures import Ends, TaskDepartures, departures_of
from cluster_abm.recording.fates import fates_of
from cluster_abm.recording.keeping import Excerpt, every_of, kept_meta
from cluster_abm.recording.recorded_run import CLUSTER_T, OPEN, table_of
from cluster_abm.recording.segments import segments_of

# A table as an array of each field.
Columns = dict[str, Array]
# `cluster_t_ms` of a job.
AccessOf = Callable[[int], Iterable[float]]


def recording_of(
    parts: Parts, ended: Columns, words: Mapping[str, Any], access_of: AccessOf | None, excerpt: Excerpt
) -> Recording:
    """The recording of a run up to now, whose parts have kept what it needs.

    Args:
        ended: the tasks that have ended, RECORD_FIELDS, in the order of their ends.
        words: what stands in `meta` beside what is said here: title, summary and so on.
        access_of: `cluster_t_ms` of a job; None: decisions have no such column.
        excerpt: the part of the run that is kept.
    """
    engine, now_ns = parts.engine, parts.clock.now_ns
    rows = _tasks_of(parts, ended, now_ns)
    if excerpt.is_window:
        rows = _chosen(rows, excerpt.within(rows["arrival_ns"], rows["finish_ns"]))
    could_be = len(rows["task"])
    every = every_of(excerpt, np.bincount(rows["job"], minlength=1))
    is_all = every == 1 and not excerpt.is_window
    if every > 1:
        rows = _chosen(rows, rows["job"] % every == 0)
    ends = _ends_of(rows)
    departures = departures_of(engine.journal, ends)
    columns = segments_of(departures, ends, parts.staging is not None)
    decided, truths = parts.log.columns(), parts.log.truths()
    if not is_all:
        kept = places_in(ends.task, decided["task"])[1]
        decided, truths = _chosen(decided, kept), truths[:, kept]
    decisions, decision_of = _decisions_of(decided, truths, departures, ends, access_of, excerpt)
    columns["decision"] = np.append(decision_of, NONE)[columns.pop("departure")]
    jobs = np.arange(len(engine.jobs)) if is_all else np.unique(rows["job"])
    of_jobs = columns_of([engine.jobs], JOB) if is_all else ordered_columns(engine.jobs, jobs)
    network = parts.live.whole
    meta = {
        "version": __version__,
        "slice_ns": parts.clock.slice_ns,
        "end_ns": now_ns,
        "programs": list(parts.work.program_names),
        "vertices": list(network.node_names),
        "loads_not_taken": [] if parts.measurements.has_averages else list(AVERAGES),
        "decisions_taken": parts.log.taken,
        "rules": _rules_of(parts.policies.distinct, decided["rule"]),
        "kept": kept_meta(excerpt, every, could_be),
        "detail": None,
        **({"jobs_killed": killed} if (killed := parts.happenings.jobs_killed) else {}),
        **words,
    }
    outcome = rows["outcome"]
    tables = {
        "nodes": _nodes_of(engine.nodes, network),
        "links": _links_of(network),
        "jobs": table_of("jobs", {"job": jobs, **of_jobs}),
        "tasks": table_of("tasks", rows | {"is_open": outcome == OPEN}),
        "segments": table_of("segments", columns),
        "decisions": decisions,
        "loads": _loads_of(parts.measurements, excerpt),
        "messages": _messages_of(parts, ends.task, excerpt),
        "failures": parts.happenings.failures_table(),
    }
    return Recording(json_value(meta), tables)


def _tasks_of(parts: Parts, ended: Columns, now_ns: int) -> Columns:
    """All tasks that have been submitted, RECORD_FIELDS: those that have ended, in the order of their ends, then the
    others, up to now."""
    engine = parts.engine
    live = engine.tasks[(engine.tasks["state"] != FREE) & (engine.tasks["state"] != REQUEST_ONLY)]
    live = live[live["job"] != NONE]
    live = live[np.argsort(live["task"])]
    begun = np.concatenate([ended["task"], live["task"]])
    jobs = engine.jobs
    submitted = np.flatnonzero(jobs["arrival_ns"] <= now_ns)
    widths = jobs["tasks"][submitted].astype(np.int64)
    if not len(live) and len(begun) == int(widths.sum()):
        return ended
    job = submitted.repeat(widths)
    rank = np.arange(len(job)) - (np.cumsum(widths) - widths).repeat(widths)
    numbers = jobs["first_task"][job] + rank
    waiting = ~np.isin(numbers, begun)
    held = np.zeros(int(waiting.sum()), RECORD)
    held["task"], held["job"] = numbers[waiting], job[waiting]
    held["home"] = held["node"] = jobs["home"][held["job"]]
    held["arrival_ns"] = jobs["arrival_ns"][held["job"]]
    held["blocked_ns"] = now_ns - held["arrival_ns"]
    going = np.zeros(len(live), RECORD)
    for name in RECORD.names or ():
        if name in (live.dtype.names or ()):
            going[name] = live[name]
    open_ones = np.concatenate([going, held])
    open_ones["outcome"] = OPEN
    open_ones["finish_ns"] = now_ns
    return {name: np.concatenate([values, open_ones[name]]) for name, values in ended.items()}


def _chosen(columns: Columns, are: Array) -> Columns:
    """These of the rows; themselves, where they are all."""
    return columns if are.all() else {name: values[are] for name, values in columns.items()}


def _ends_of(rows: Columns) -> Ends:
    """How far tasks have come."""
    order = np.argsort(rows["task"], kind="stable")
    parts = np.empty((len(BREAKDOWN), len(order)), np.int64)
    for part, name in zip(parts, BREAKDOWN, strict=True):
        np.take(rows[f"{name}_ns"], order, out=part)
    return Ends(
        task=rows["task"][order],
        at_ns=rows["finish_ns"][order],
        parts=parts,
        is_open=rows["outcome"][order] == OPEN,
        arrival_ns=rows["arrival_ns"][order],
        home=rows["home"][order],
    )


def _decisions_of(
    rows: Columns, truths: Floats, departures: TaskDepartures, ends: Ends, access_of: AccessOf | None, excerpt: Excerpt
) -> tuple[pa.Table, Integers]:
    """The decisions in the window, and the row of that which has brought about each departure; NONE: none has.

    Args:
        rows: all decisions about the tasks that are kept, DECIDED.
        truths: what was true at each of them, shape (len(TRUTHS), decisions).
    """
    fates = fates_of(rows["task"], rows["source"], rows["target"], rows["time_ns"], rows["accepted"], departures, ends)
    inside = excerpt.within(rows["time_ns"], rows["time_ns"])
    row_of = np.where(inside, np.cumsum(inside) - 1, NONE)
    brought = np.flatnonzero(fates.departure != NONE)
    decision_of = np.full(len(departures.row), NONE)
    decision_of[fates.departure[brought]] = row_of[brought]
    if not inside.all():
        rows, truths = _chosen(rows, inside), truths[:, inside]
    columns: dict[str, Any] = {}
    for name in DECIDED.names or ():
        is_text = name in ("rule", "index", "reason")
        columns[name] = _texts(rows[name]) if is_text else rows[name]
    for name in ("kind", "leaves_ns", "enters_ns"):
        columns[name] = getattr(fates, name)[inside]
    told = dict(zip(TRUTHS, truths, strict=True))
    told_ns = told.pop("told_ns")
    columns["told_ns"] = np.where(np.isnan(told_ns), NONE, told_ns).astype(np.int64)
    columns |= {f"true_{name}": values for name, values in told.items()}
    more = {}
    if access_of is not None:
        more[CLUSTER_T] = pa.array([list(access_of(job)) for job in rows["job"].tolist()], pa.list_(pa.float64()))
    return table_of("decisions", columns, **more), decision_of


def _texts(numbers: Integers) -> pa.DictionaryArray:
    """Texts by their numbers, the same words in the same order in every process."""
    found, places = distinct(numbers)
    texts = [text_of(number) for number in found.tolist()]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), np.int32)
    rank[order] = np.arange(len(texts), dtype=np.int32)
    indices = rank[places] if len(texts) else np.zeros(0, np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array([texts[i] for i in order], pa.string())
    )


def _rules_of(policies: Iterable[Policy], numbers: Integers) -> dict[str, list[str]]:
    """The words of each rule that has decided, and the lines of its paper."""
    kinds = [type(policy) for policy in policies]
    names = sorted(map(text_of, distinct(numbers)[0].tolist()))
    return {rule: list(rule_in_words(kinds, rule)) for rule in names}


def _nodes_of(nodes: Table, network: Network) -> pa.Table:
    at = positions(network)
    names = network.node_names or [""] * len(nodes)
    columns = {
        "node": np.arange(len(nodes)),
        "vertex": list(names),
        "cluster": network.cluster_names or [str(cluster) for cluster in network.cluster_of.tolist()],
        "cores": nodes["cores"],
        "speed": nodes["speed"],
        "memory_mb": nodes["user_memory_kb"] / 1000.0,
        "x": np.array([at[node][0] for node in range(len(nodes))]),
        "y": np.array([at[node][1] for node in range(len(nodes))]),
    }
    return table_of("nodes", columns)


def _links_of(network: Network) -> pa.Table:
    lines = np.array(wires(network, positions(network)), float).reshape(-1, 4)
    return table_of("links", dict(zip(("x1", "y1", "x2", "y2"), lines.T, strict=True)))


def _loads_of(measurements: Measurements, excerpt: Excerpt) -> pa.Table:
    columns = measurements.columns()
    if excerpt.is_window:
        inside = excerpt.within(columns["at_ns"], columns["at_ns"])
        columns = {name: values[inside] for name, values in columns.items()}
    return table_of("loads", columns)


def _messages_of(parts: Parts, tasks: Integers, excerpt: Excerpt) -> pa.Table:
    """Messages in the window that are about a task that is kept, or about none."""
    table = parts.happenings.messages_table()
    sent_ns, heard_ns, task = (table[name].to_numpy() for name in ("sent_ns", "heard_ns", "task"))
    is_there = np.isin(task, tasks) | (task == NONE)
    return table.filter(pa.array(is_there & excerpt.within(sent_ns, np.maximum(sent_ns, heard_ns))))

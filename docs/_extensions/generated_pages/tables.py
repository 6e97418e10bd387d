"""Metrics, the columns of a run's tables, and load indices."""

from __future__ import annotations

from cluster_abm.engine.fields import LOAD_FIELDS
from cluster_abm.old_names import OLD_NAMES
from cluster_abm.policy.capacities import own_time_of, served_by
from cluster_abm.results.columns import SUMMARY, TABLES, Column
from cluster_abm.results.metrics import METRICS
from cluster_abm.results.words import WHEN
from cluster_abm.workload.traces.recognition import formats

from .markdown import code, escaped, table, target

BETTER = {"less": "less", "more": "more", "": ""}
# What makes a load index comparable between unlike nodes.
COMPARED_BY = {"cpu": "CPU speed and cores", "memory": "memory for programs", "disk": "disk rate"}


def metrics() -> str:
    """The metrics, as Markdown."""
    rows = []
    for metric in METRICS:
        words = metric.words or metric.meaning or metric.line.strip()
        better = BETTER[metric.better]
        rows.append([target("metric", metric.name), metric.unit, escaped(words), better, WHEN[metric.when]])
    return table(["metric", "unit", "in words", "better", "exists when"], rows)


def columns(name: str) -> str:
    """The columns of jobs.parquet, nodes.parquet or decisions.parquet, as Markdown."""
    return _columns(name, TABLES[name])


def summary() -> str:
    """The numbers of summary.json, as Markdown."""
    return _columns("summary", SUMMARY)


def _columns(name: str, found: tuple[Column, ...]) -> str:
    rows = [
        [
            target(f"column-{name}", one.name), one.unit,
            escaped(one.meaning) + (f" (if {escaped(one.when)})" if one.when else ""),
        ]
        for one in found
    ]  # fmt: skip
    return table(["name", "unit", "meaning"], rows)


def load_indices() -> str:
    """The load indices, as Markdown."""
    return table(
        ["index", "unit", "meaning", "of unlike nodes compared"],
        [[target("load", name), unit, escaped(meaning), compared_by(name)] for name, _, unit, meaning in LOAD_FIELDS],
    )


def trace_formats() -> str:
    """The formats of traces, as Markdown."""
    return table(
        ["format", "key", "begins with", "a row is", "lacks"],
        [
            [one.title, code(name), escaped(one.begins), one.row, one.lacks or "nothing that is needed"]
            for name, one in sorted(formats().items())
        ],
    )


def compared_by(index: str) -> str:
    """How a load index of unlike nodes is compared, in words."""
    if served_by(index):
        return f"per {COMPARED_BY[served_by(index)]}"
    if own_time_of(index):
        return f"as measured; a task adds more where the {own_time_of(index).replace('cpu', 'CPU')} is slower"
    return "as measured"


def old_names() -> str:
    """The names that were others before, as Markdown."""
    return table(
        ["what", "old name", "name today", "since", "a note on stderr"],
        [[one.kind, f"`{one.old}`", f"`{one.new}`", one.since, "yes" if one.says_so else "no"] for one in OLD_NAMES],
    )

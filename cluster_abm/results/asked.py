"""Metrics that a scenario asks for by name: any quantile over its jobs, and shares of jobs within a limit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.results.metrics import BY_NAME, Metric, RunData, Value
from cluster_abm.scenario.measures import QUANTILE, WITHIN

# Of a measure in a name, the one of summary.JobValues, and how much of it makes one; its unit, words and least value.
_MEASURES = {
    "response_ms": ("response_ns", NS_PER_MS, "ms", "response", 0.0),
    "wait_ms": ("wait_ns", NS_PER_MS, "ms", "wait", 0.0),
    "slowdown": ("slowdown", 1.0, "1", "slowdown", 1.0),
    "bounded_slowdown": ("bounded_slowdown", 1.0, "1", "bounded slowdown", 1.0),
}
_IN_JSON = re.compile(r"response_within_ms\.(?P<limit_ms>\d+)")


def metric_of(name: str) -> Metric | None:
    """The metric of a name, of the table or of one of the forms that can be asked for; None: there is none."""
    if name in BY_NAME:
        return BY_NAME[name]
    if found := QUANTILE.fullmatch(name):
        return _quantile(name, found["percent"], found["measure"])
    found = WITHIN.fullmatch(name) or _IN_JSON.fullmatch(name)
    return _within(found["limit_ms"]) if found else None


def row_name(name: str) -> str:
    """What a metric is called in the rows of runs, by its dotted place in JSON.

    >>> row_name("response_within_ms.300"), row_name("breakdown_ms.cpu")
    ('response_within_300_ms', 'breakdown_ms.cpu')
    """
    metric = metric_of(name)
    return name if metric is None else metric.name


def asked_for(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that a run has only if they are asked for (`measure.metrics`), once each, in their order."""
    forms = [name for name in names if QUANTILE.fullmatch(name) or WITHIN.fullmatch(name)]
    # All runs have p95_slowdown.
    return tuple(dict.fromkeys(name for name in forms if name not in BY_NAME))


def better_side(name: str) -> Literal["", "less", "more"]:
    """Which side of a metric is better; "": neither, or there is no such metric."""
    metric = metric_of(name)
    return "" if metric is None else metric.better


def is_more_better(name: str) -> bool:
    """Whether more of a metric is better; of one that has no better side less counts as better."""
    return better_side(name) == "more"


def _quantile(name: str, percent: str, measure: str) -> Metric:
    of_jobs, scale, unit, words, least = _MEASURES[measure]
    share = float(percent) / 100.0

    def value(run: RunData) -> Value:
        found = run.outcomes.quantile_of_jobs(of_jobs, share)
        return None if found is None else found / scale

    return Metric(
        name, unit, f"{_ordinal(percent)} percentile of {words}", better="less", value=value, of_jobs=True, least=least
    )


def _within(limit_ms: str) -> Metric:
    def value(run: RunData) -> Value:
        return run.outcomes.share_of_jobs_within("response_ns", float(limit_ms) * NS_PER_MS)

    words = f"jobs with a response within {limit_ms} ms"
    return Metric(
        f"response_within_{limit_ms}_ms", "1", f"share of {words}", words, better="more", value=value,
        of_jobs=True, greatest=1.0, is_share=True,
    )  # fmt: skip


def _ordinal(percent: str) -> str:
    """A percentage as an ordinal.

    >>> [_ordinal(text) for text in ("1", "99.9", "50", "12", "33")]
    ['1st', '99.9th', '50th', '12th', '33rd']
    """
    last = {"1": "st", "2": "nd", "3": "rd"}
    is_plain = "." not in percent and percent[-2:] not in ("11", "12", "13")
    return percent + (last.get(percent[-1], "th") if is_plain else "th")

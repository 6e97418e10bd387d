"""Metrics in words, and their values as people write them."""

from __future__ import annotations

import re

from cluster_abm.results.metrics import BY_NAME
from cluster_abm.results.style import plain

UNITS = {"energy_kwh": " kWh", "joules_per_job": " J"}


def line_words(name: str) -> str:
    """What a metric is called in a line or a column: of `mean_response_ms`, say, "mean response of a job"."""
    metric = BY_NAME.get(name)
    if metric is not None and (metric.line or metric.words):
        return metric.line or metric.words
    words = name.removesuffix("_ms").replace("_", " ")
    return re.sub(r"\b(io|cpu)\b", lambda found: {"io": "I/O", "cpu": "CPU"}[found[0]], words)


def with_unit(name: str, value: float | None) -> str:
    """A metric's value with its unit: times in seconds, shares in per cent; None is one that no finished job has.

    >>> with_unit("mean_response_ms", 1234.0), with_unit("cpu_utilisation", 0.5), with_unit("mean_slowdown", 3.25)
    ('1.234 s', '50 %', '3.25')
    """
    # NaN is what a missing value is in a table.
    if value is None or value != value:
        return "no job finished"
    if isinstance(value, int):
        return f"{value:,}"
    if name.endswith("_ms"):
        return f"{plain(value / 1000)} s"
    if name.endswith("_utilisation"):
        return f"{plain(value * 100, 3)} %"
    return plain(value) + UNITS.get(name, "")

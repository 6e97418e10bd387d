"""Metrics in words, and their values as people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cluster_abm.results.asked import metric_of
from cluster_abm.results.metrics import Metric, When
from cluster_abm.results.style import plain

NO_JOB = "no job finished"
DEFAULT = Metric._field_defaults["missing"]


WHEN: Mapping[When, str] = {
    "always": "",
    "closed": "users submit (`workload.arrivals.kind` is `closed`)",
    "failures": "something can fail (`failures`)",
    "data": "jobs need files (`data`)",
    "channels": "a disk serves several requests at once (`disk_channels`)",
    "power": "every node's `idle_watts` is set",
    "initial": "jobs are on their nodes at time 0 (`workload.initial`)",
    "warmup": "jobs at the beginning are left out (`measure.from_s`, `measure.warmup`)",
    "mser": "MSER finds the warm-up (`measure.warmup`)",
    "study": "in the rows of a study",
    "users": "jobs have users (closed users, or a log that names them), and `measure.records` is `all`",
}
"""When a metric exists, in words."""


def line_words(name: str) -> str:
    """What a metric is called in a line or a column: of `mean_response_ms`, say, "mean response of a job"."""
    metric = metric_of(name)
    if metric is not None and (metric.line or metric.words):
        return metric.line or metric.words
    # Its unit stands beside the value.
    unit = "" if metric is None or metric.unit == "1" else f"_{metric.unit.lower()}"
    words = name.removesuffix(unit or "_ms").replace("_", " ")
    return re.sub(r"\b(io|cpu)\b", lambda match: {"io": "I/O", "cpu": "CPU"}[match[0]], words)


def head_words(name: str) -> str:
    """The same for the head of a column whose values have no unit beside them: "mean response of a job [ms]"."""
    metric = metric_of(name)
    unit = "" if metric is None or metric.unit == "1" else f" [{metric.unit}]"
    return f"{line_words(name)}{unit}"


def with_unit(name: str, value: float | None, any_finished: bool = False) -> str:
    """A metric's value with its unit: times in seconds, shares in per cent; if there is none, why.

    Args:
        value: None, or NaN, where there is none.
        any_finished: whether a job finished: then that is not why.

    >>> with_unit("mean_response_ms", 1234.0), with_unit("cpu_utilisation", 0.5), with_unit("mean_slowdown", 3.25)
    ('1.234 s', '50 %', '3.25')
    >>> with_unit("fetched_mb", 4517.0), with_unit("disk_requests", 4517), with_unit("mean_slowdown", None)
    ('4,517 MB', '4,517', 'no job finished')
    """
    metric = metric_of(name)
    # NaN is what a missing value is in a table.
    if value is None or value != value:
        is_of_jobs = metric is None or metric.of_jobs or metric.name == "joules_per_job"
        if is_of_jobs and not any_finished:
            return NO_JOB
        return DEFAULT if metric is None else metric.missing
    return in_unit(value, "%" if metric is not None and metric.is_share else "1" if metric is None else metric.unit)


def in_unit(value: float, unit: str) -> str:
    """A value with its unit as people write it: ms in seconds, a share ("%") in per cent.

    >>> in_unit(1234.0, "ms"), in_unit(0.5, "%"), in_unit(12, "1/s")
    ('1.234 s', '50 %', '12 /s')
    """
    if unit == "ms":
        return f"{plain(value / 1000)} s"
    if unit == "%":
        return f"{plain(value * 100, 3)} %"
    number = f"{value:,}" if isinstance(value, int) else plain(value)
    return number if unit == "1" else f"{number} {unit.removeprefix('1')}"


def why_absent(name: str) -> str:
    """Why runs may lack a metric, as the end of a message: ": it exists where ..."; "" if there is no metric of that
    name, or all runs have it."""
    metric = metric_of(name)
    words = "" if metric is None else WHEN[metric.when].replace("`", "")
    return f"; {name} exists where {words}" if words else ""

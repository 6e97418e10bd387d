"""What is written down while a run goes on; names of measures: by which policies can be compared, and by their form."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import LONGEST_PERIOD_MS, NonNegative, Period, Positive

# Measures of a run by which policies can be compared.
Headline = Literal[
    "bounded_slowdown", "geometric_slowdown", "mean_slowdown", "mean_slowdown_job", "mean_slowdown_cpu_io",
    "mean_slowdown_cpu", "p95_slowdown", "mean_response_ms", "mean_wait_ms", "makespan_ms",
]  # fmt: skip

# How the warm-up of a run is left out of its metrics.
Warmup = Literal["none", "mser"]

# p99_response_ms, p99.9_wait_ms: a quantile over the jobs; response_within_300_ms: the share of the jobs that end so
# soon, in JSON under response_within_ms.
QUANTILE = re.compile(r"p(?P<percent>\d{1,2}(?:\.\d{1,6})?)_(?P<measure>response_ms|wait_ms|slowdown|bounded_slowdown)")
WITHIN = re.compile(r"response_within_(?P<limit_ms>[1-9]\d{0,11})_ms")
FORMS = "p<percent>_response_ms, _wait_ms, _slowdown, _bounded_slowdown, or response_within_<ms>_ms"


def _of_a_form(name: Any) -> str:
    if isinstance(name, str) and (QUANTILE.fullmatch(name) or WITHIN.fullmatch(name)):
        return name
    raise ValueError(f"allowed are {FORMS}, for example p99_response_ms")


AskedMeasure = Annotated[str, AfterValidator(_of_a_form)]


# The most metrics beside those of every run.
MOST_ASKED = 100


class Measure(Section):
    """What is written down while it runs."""

    period_ms: Period = 10_000.0
    """time from one measurement of the loads and busy times of all nodes to the next [ms]"""
    records: Literal["all", "summary"] = "all"
    """`all`: a row of each task that has ended and of each decision is kept; `summary`: only what the summary of the
    run needs, for runs whose rows would not fit on the disk"""
    headline: Headline = "bounded_slowdown"
    """the measure that policies are compared, tuned and ranked by"""
    metrics: Annotated[tuple[AskedMeasure, ...], Field(max_length=MOST_ASKED)] = ()
    """further metrics: quantiles over the jobs, as p99_response_ms, p99.9_wait_ms, p95_bounded_slowdown, and the share
    of the jobs within a limit, as response_within_300_ms; plan, tune and studies ask for those that they name"""
    from_s: Annotated[NonNegative, Field(le=LONGEST_PERIOD_MS)] = 0.0
    """jobs that arrive before it are left out of the metrics of jobs; counts and utilisations are of the whole run
    [s]"""
    warmup: Warmup = "none"
    """mser: leave the warm-up out, as MSER-5 finds it in the number of tasks in the cluster; a comparison, and each
    value, regime or set of parameters of a study, has one cut: the largest that any of its runs needs"""
    bound_ms: Positive | None = None
    """tasks that take less alone count in bounded_slowdown as if they took this [ms]. Not set: the cost of a remote
    start (negotiation.remote_execution_ms), but at least 1 % and at most 10 % of the mean isolated time of a task; of a
    log of a batch system (SWF, sacct) 10,000"""

"""Names of measures of a run: those by which policies can be compared, and those that are asked for by their form."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

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

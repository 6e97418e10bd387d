"""Logs of few distinct values: a fit is a scenario that can be read back, or the log is refused in a line."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from cluster_abm.errors import InputError
from cluster_abm.results.files import to_json
from cluster_abm.scenario import load_scenario
from cluster_abm.scenario.distributions import LARGEST
from cluster_abm.study.fitting.distances import distances
from cluster_abm.study.fitting.fit import Fitted, fit, nodes_for
from cluster_abm.study.fitting.log import REQUEST, read_log
from cluster_abm.study.fitting.marginals import Quantiles
from cluster_abm.study.fitting.verdicts import NotJudged
from cluster_abm.study.fitting.writing import document, scenario_text

UNJUDGED = NotJudged("a test")
JOBS = 60
HALF = JOBS // 2


def halves(one: float, other: float) -> list[float]:
    return [one] * HALF + [other] * HALF


def spread(middle: float) -> list[float]:
    return (middle * (1.0 + np.arange(JOBS))).tolist()


ARRIVALS_MS = {
    "two instants": halves(0.0, 1000.0),
    "two instants 32 years apart": halves(0.0, 1e12),
    "two instants at the end of time": halves(1e12 - 1, 1e12),
    "one late": [0.0] * (JOBS - 1) + [5000.0],
    "one very late": [0.0] * (JOBS - 1) + [1e12],
    "one early": [0.0] + [7.0] * (JOBS - 1),
    "three instants": sorted([0.0, 500.0, 1000.0] * (JOBS // 3)),
    "even": (np.arange(JOBS) * 1000.0).tolist(),
    "a millisecond in all": np.linspace(0.0, 1.0, JOBS).tolist(),
    "ever longer gaps": np.geomspace(1e-3, 1e12, JOBS).tolist(),
    "daily": (np.arange(JOBS) // 2 * 86_400_000.0).tolist(),
}
VALUES = {
    "equal": [3.0] * JOBS,
    "two values": halves(1.0, 3.0),
    "one else": [2.0] * (JOBS - 1) + [4.0],
    "nearly equal": [2.0] * (JOBS - 1) + [2.0 * (1 + 2**-52)],
    "close": (1.0 + 1e-12 * np.arange(JOBS)).tolist(),
    "least numbers": [5e-324] * (JOBS - 1) + [1e-323],
    "tiny and large": halves(1e-300, 1e11),
    "tiny": (np.arange(1, JOBS + 1) * 1e-300).tolist(),
}
# 1e11 accesses a ms of CPU, or MB of disk, of which a scenario may have 1e6 accesses a ms.
TOO_MUCH = (("io_per_ms", "tiny and large"), ("disk_mb", "tiny and large"))
ZEROS = {"zeros": [0.0] * JOBS, "all but one 0": [0.0] * (JOBS - 1) + [5.0]}


def fitted(tmp_path, columns: dict[str, list[float]], **keys) -> tuple[Fitted, dict]:
    """The whole of `trace fit` but its picture, on a cluster large enough; any warning is an error."""
    path = tmp_path / "log.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text(",".join(columns) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows))
    keys = {"cluster.nodes": 4, "cluster.cores": 8, "workload.trace.file": str(path)} | keys
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = read_log(load_scenario("replay", keys))
        found = fit(load_scenario("replay", keys), log, "like")
        apart, _ = distances(log, found, range(1, 3))
        # Which reads the text back, and finds the same scenario.
        text = scenario_text(found, log, apart, UNJUDGED)
        return found, json.loads(to_json(document(found, log, apart, UNJUDGED, text)))


@pytest.mark.slow
@pytest.mark.parametrize("arrivals", ARRIVALS_MS)
def test_jobs_of_a_few_instants(tmp_path, arrivals):
    found, told = fitted(tmp_path, {"arrival_ms": ARRIVALS_MS[arrivals], "cpu_ms": [5.0] * JOBS})
    times = np.array(ARRIVALS_MS[arrivals])
    # The log's own window: as long as its mean gap times the number of jobs.
    assert told["window_s"] == pytest.approx(np.ptp(times) / 1000 * JOBS / (JOBS - 1))
    assert found.scenario.workload.jobs_per_s * told["window_s"] == pytest.approx(JOBS)


@pytest.mark.slow
@pytest.mark.parametrize("values", VALUES)
def test_cpu_times_of_a_few_values(tmp_path, values):
    columns = {"arrival_ms": ARRIVALS_MS["even"], "cpu_ms": VALUES[values], "memory_mb": spread(1.0)[::-1]}
    _, told = fitted(tmp_path, columns | {"tasks": [1, 2, 3] * (JOBS // 3)}, **{"cluster.cpu_speed": 1e9})
    assert told["fitted"] == ["cpu_ms", "memory_mb", "tasks"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["memory_mb", "io_per_ms", "disk_mb", "request_kb", "initial_data_mb"])
@pytest.mark.parametrize("values", {**VALUES, **ZEROS})
def test_other_columns_of_a_few_values(tmp_path, name, values):
    if name == "request_kb" and values in ZEROS:
        return  # refused by the reader
    columns = {"arrival_ms": ARRIVALS_MS["two instants"], "cpu_ms": spread(1e-3), name: {**VALUES, **ZEROS}[values]}
    if (name, values) in TOO_MUCH:
        with pytest.raises(InputError, match=r"^workload: .* of the jobs reaches"):
            fitted(tmp_path, columns)
        return
    found, told = fitted(tmp_path, columns)
    known = [one for one in told["distances"]["columns"].values() if one["ks_law"] is None]
    assert known == []
    for law in found.laws.values():
        assert np.isfinite(law.values or law.mean).all()


def test_requests_far_above_the_work_are_cut_and_told(tmp_path):
    """1e12 ms requested of jobs that take a nanosecond: no law holds 1e18."""
    requested = [1e12] * 7 + [60.0] * (JOBS - 7)
    columns = {"arrival_ms": ARRIVALS_MS["even"], "cpu_ms": [1e-6] * JOBS, "requested_ms": requested}
    found, _ = fitted(tmp_path, columns, **{"cluster.context_switch_ms": 0.0})
    law = found.laws[REQUEST]
    assert law.values[-1] == LARGEST
    assert f"{REQUEST}: 7 jobs request 1e+12 times what they take alone, or more: cut to it" in found.notes


def test_a_log_too_short_or_too_busy_is_refused_with_what_is_allowed(tmp_path):
    with pytest.raises(InputError, match=r"log\.csv: all 60 jobs come within 1e-06 ms: a fit needs at least 1 ms"):
        fitted(tmp_path, {"arrival_ms": halves(0.0, 1e-6), "cpu_ms": [5.0] * JOBS})
    columns = {"arrival_ms": halves(0.0, 1.0), "cpu_ms": [1e6] * JOBS}
    path = tmp_path / "log.csv"
    path.write_text("arrival_ms,cpu_ms\n" + "".join(f"{a},{c}\n" for a, c in zip(*columns.values(), strict=True)))
    log = read_log(load_scenario("replay", {"workload.trace.file": str(path)}))
    # 60 x 1e6 ms of work in 60/59 ms, to 0.7.
    with pytest.raises(InputError, match=r"keeps 8\.42857e\+07 nodes busy to 0\.7: allowed up to 100,000; .*cluster"):
        nodes_for(log)


def test_the_share_below_a_value_beside_one_that_is_no_multiple_a_float_can_tell():
    law = Quantiles((1e-300, 1e300), (0.0, 1.0))
    # Log-linear: 1 lies half way.
    assert law.below(np.array([1e-300, 1.0, 1e300])) == pytest.approx([0.0, 0.5, 1.0])

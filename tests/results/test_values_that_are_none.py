"""A quotient by nothing is no number: of a task that took no CPU time there is no slowdown per CPU."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest

import cluster_abm as ca
from cluster_abm.model import Watcher
from cluster_abm.results.words import head_words, in_unit, line_words, with_unit
from cluster_abm.study.runner.measuring import measure_run

SPOILT = {
    "cluster.nodes": 2, "workload.duration_s": 60.0, "workload.io_per_ms": {"kind": "fixed", "mean": 0.0},
    "failures.event": [{"node": 0, "at_s": 20.0, "for_s": 5.0}], "policy.name": "none",
}  # fmt: skip


@pytest.fixture(scope="module")
def endless_speed():
    """A run whose restarted tasks end within no time at all, on nodes of 1e9 times the speed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ca.ClusterModel(ca.load_scenario("quickstart", SPOILT))
        model.run(until_ms=20_500.0)
        for node in model.node_agents:
            node.cpu_speed = 1e9
        watcher = Watcher(model)
        model.run()
        model.frame = watcher.frame()
        yield model


def test_what_no_useful_cpu_divides_is_null(endless_speed):
    metrics = endless_speed.summary()["metrics"]
    frame = endless_speed.jobs_frame()
    useful_ms = frame["cpu_ms"] - frame["lost_cpu_ms"]
    assert ((useful_ms == 0) & (frame["restarts"] > 0)).any()
    assert metrics["mean_slowdown_cpu"] is None
    assert metrics["mean_slowdown_cpu_io"] is None
    # The isolated time is that on the home node as it was: 1 ns at least.
    assert math.isfinite(metrics["mean_slowdown"])
    assert json.loads(json.dumps(endless_speed.summary(), allow_nan=False))["metrics"]["mean_slowdown_cpu"] is None


def test_no_table_and_no_row_has_an_infinite_number(endless_speed):
    frame = endless_speed.jobs_frame()
    assert not np.isinf(frame.select_dtypes("number")).any().any()
    useful_ms = frame["cpu_ms"] - frame["lost_cpu_ms"]
    assert (frame["slowdown_cpu"].isna() == (useful_ms == 0)).all()
    row = measure_run(endless_speed)
    assert math.isnan(row["mean_slowdown_cpu"])
    assert not [name for name, value in row.items() if isinstance(value, float) and math.isinf(value)]
    assert all(map(math.isfinite, row["slowdown_quantiles"]))
    assert not math.isinf(endless_speed.frame.mean_slowdown)
    assert endless_speed.plot()


@pytest.mark.slow
def test_the_line_does_not_say_that_no_job_finished(endless_speed):
    assert "took no time by itself" in endless_speed._repr_html_()
    assert "no job finished" not in endless_speed._repr_html_()


@pytest.mark.parametrize(("name", "value", "text"), [
    ("fetched_mb", 4517.0, "4,517 MB"), ("fetched_mb", 0.0, "0 MB"), ("energy_kwh", 1.5, "1.5 kWh"),
    ("joules_per_job", 30, "30 J"), ("lost_cpu_ms", 1500, "1.5 s"), ("breakdown_ms.cpu", 1500.0, "1.5 s"),
    ("page_faults_per_cpu_s", 3.0, "3 /s"), ("channel_utilisation", 0.25, "25 %"), ("warmup_settled", 1, "1"),
    ("disk_requests", 12345, "12,345"), ("my_own_ms", 12.0, "12"),
])  # fmt: skip
def test_the_unit_is_that_of_the_metrics_entry(name, value, text):
    assert with_unit(name, value) == text


def test_every_metric_is_printed_in_its_unit():
    from cluster_abm.results.metrics import METRICS

    for metric in METRICS:
        text = with_unit(metric.name, 2.0)
        unit = (
            "%" if metric.is_share else {"ms": "s", "1/s": "/s", "1/ms": "/ms", "1": ""}.get(metric.unit, metric.unit)
        )
        assert text.split(" ")[1:] == ([unit] if unit else []), metric.name
        # The unit stands once: in the value.
        assert not line_words(metric.name).lower().endswith(f" {metric.unit.lower()}"), metric.name


def test_names_leave_the_unit_to_the_value():
    assert line_words("fetched_mb") == "fetched"
    assert head_words("fetched_mb") == "fetched [MB]"
    assert head_words("mean_response_ms") == "mean response of a job [ms]"
    assert head_words("bounded_slowdown") == "bounded slowdown"
    assert head_words("cpu_utilisation") == line_words("cpu_utilisation")
    assert line_words("fetched_between_clusters_mb") == "fetched between clusters"
    assert line_words("lost_cpu_ms") == "lost CPU"
    assert in_unit(0.125, "%") == "12.5 %"


@pytest.mark.parametrize(("name", "any_finished", "why"), [
    ("mean_slowdown", False, "no job finished"), ("mean_slowdown_cpu", True, "a task took no time by itself"),
    ("messages_per_job", False, "no job was submitted"), ("makespan_spread_ms", False, "no job ended"),
    ("page_faults_per_cpu_s", False, "no CPU time was used"), ("joules_per_job", False, "no job finished"),
])  # fmt: skip
def test_a_missing_value_says_why(name, any_finished, why):
    assert with_unit(name, None, any_finished) == with_unit(name, math.nan, any_finished) == why

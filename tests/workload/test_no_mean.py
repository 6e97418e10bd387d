"""Where the mean slowdown has no mean, one line says so."""

from __future__ import annotations

import numpy as np
import pytest
from support import scenario

from cluster_abm.workload.drawing.draws import quantile
from cluster_abm.workload.laws.no_mean import why_no_mean

# Laws of CPU demands, and whether E[1/X] is infinite.
LAWS = [
    ({"kind": "exponential", "mean": 100.0}, True),
    ({"kind": "uniform", "mean": 100.0}, True),
    ({"kind": "gamma", "mean": 100.0, "sd": 100.0}, True),
    ({"kind": "gamma", "mean": 100.0, "sd": 300.0}, True),
    ({"kind": "gamma", "mean": 100.0, "sd": 50.0}, False),
    ({"kind": "quantiles", "values": [1.0, 50.0, 200.0]}, False),
    ({"kind": "lognormal", "mean": 100.0, "sd": 100.0}, False),
    ({"kind": "pareto", "mean": 100.0}, False),
    ({"kind": "hbd97", "mean": 100.0}, False),
    ({"kind": "fixed", "mean": 100.0}, False),
]


@pytest.mark.parametrize(("law", "is_infinite"), LAWS)
def test_it_is_said_where_the_reciprocal_of_the_demand_has_no_mean(law, is_infinite):
    assert bool(why_no_mean(scenario(workload__cpu_ms=law))) == is_infinite


@pytest.mark.parametrize(("law", "is_infinite"), LAWS)
def test_these_are_the_laws_whose_sums_do_not_settle(law, is_infinite):
    """E[1/X; X above its quantile u], as u goes to 0: each factor of 10 adds as much as the last, or ever less."""
    declared = scenario(workload__cpu_ms=law).workload.cpu_ms
    parts = []
    for power in (6, 7, 8, 9):
        edges = np.logspace(-power - 1, -power, 2001)
        reciprocal = 1.0 / quantile(declared, np.sqrt(edges[1:] * edges[:-1]))
        parts.append(float((reciprocal * np.diff(edges)).sum()))
    assert (parts[3] > 0.99 * parts[2]) == is_infinite


def test_the_line_says_what_is_paid():
    exponential = {"kind": "exponential", "mean": 100.0}
    assert why_no_mean(scenario(workload__cpu_ms=exponential, negotiation__remote_execution_ms=100.0)) == (
        "mean slowdown has no mean here: demands may be arbitrarily short, and a remote start costs 100 ms; see "
        "bounded slowdown"
    )
    free = why_no_mean(scenario(workload__cpu_ms=exponential, negotiation__remote_execution_ms=0.0))
    assert "and tasks wait for others whatever their demand" in free


def test_work_of_a_log_has_a_shortest_task(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("arrival_ms,home,cpu_ms\n0,0,1000\n5000,0,1000\n", encoding="utf-8")
    assert why_no_mean(scenario(workload__kind="trace", workload__trace__file=str(path))) == ""

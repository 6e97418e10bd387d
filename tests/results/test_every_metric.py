"""Every metric that is declared, once: unit, bounds, better side, when there is one, and its value worked by hand.

The runs, and the arithmetic of their times, stand in small_runs.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from small_runs import RUNS, model_of

from cluster_abm.results.metrics import BY_NAME, METRICS, computed, total_ns
from cluster_abm.scenario.cluster import Cluster
from cluster_abm.study.runner.measuring import measure_run
from cluster_abm.study.statistics.bounds import Bounds, bounds_of

NAN = math.nan
SHARE, COUNT, SLOWDOWN, ANY = (0.0, 1.0), (0.0, math.inf), (1.0, math.inf), (0.0, math.inf)


class Known(NamedTuple):
    """What is known of a metric: values by the name of the run."""

    unit: str
    bounds: tuple[float, float]
    better: str
    when: str
    values: Mapping[str, float]


NO_JOB = dict.fromkeys(("cut", "empty", "no user"), NAN)

# By task: R 43/40, S 53/40; T0 10/10 and T1 21/10, of which job T has the mean, and as a whole 21/10.
R, S, T = 43 / 40, 53 / 40, (10 / 10 + 21 / 10) / 2
# Six jobs of 10 ms wait for 0, 500 and four times 5000 ms.
WAITS = (500 + 4 * 5000) / 6

KNOWN: Mapping[str, Known] = {
    "mean_slowdown": Known("1", SLOWDOWN, "less", "always", NO_JOB | {
        "disk": (R + S + T) / 3, "paging": 1.0, "remote": (1 + 27 / 20) / 2, "migration": (111 / 100 + 1) / 2,
        "failure": (147 / 100 + 1) / 2, "lost": 1.0, "killed": 1.0, "data": (WAITS + 10) / 10, "warm-up": 1.0,
        "refused": (1 + 1 + 28 / 10) / 3, "held": (1 + 110 / 20) / 2, "barrier": (29 / 19 + 38 / 19) / 2,
    }),
    # With a bound of 15 ms T0 counts as 15/15 and T1 as 21/15; a task of 20 ms is beyond the bound of 6, a tenth of 60.
    "bounded_slowdown": Known("1", SLOWDOWN, "less", "always", NO_JOB | {
        "disk": (R + S + (1 + 21 / 15) / 2) / 3, "remote": (1 + 27 / 20) / 2, "warm-up": 1.0,
    }),
    "geometric_slowdown": Known("1", SLOWDOWN, "less", "always", NO_JOB | {
        "part": NAN, "disk": (R * S * math.sqrt(21 / 10)) ** (1 / 3), "remote": math.sqrt(27 / 20), "warm-up": 1.0,
    }),
    "mean_slowdown_job": Known("1", SLOWDOWN, "less", "always", NO_JOB | {
        "part": NAN, "disk": (R + S + 21 / 10) / 3, "paging": 1.0, "barrier": 38 / 19, "warm-up": 1.0,
    }),
    "mean_slowdown_cpu_io": Known("1", SLOWDOWN, "less", "always", NO_JOB | {
        "disk": (R + S + T) / 3, "paging": 50 / 35, "failure": (147 / 100 + 1) / 2, "warm-up": 1.0,
    }),
    "mean_slowdown_cpu": Known("1", SLOWDOWN, "less", "always", NO_JOB | {
        "disk": (43 / 20 + 53 / 20 + T) / 3, "paging": 50 / 35, "channels": 20 / 10, "failure": (147 / 100 + 1) / 2,
        "warm-up": 1.0,
    }),
    # Of three values the 95th percentile is nine tenths of the way from the second to the third; of two at .95.
    "p95_slowdown": Known("1", SLOWDOWN, "less", "always", NO_JOB | {
        "disk": S + 0.9 * (T - S), "remote": 1 + 0.95 * 0.35, "warm-up": 1.0,
    }),
    "mean_response_ms": Known("ms", ANY, "less", "always", NO_JOB | {
        "part": NAN, "disk": (43 + 53 + 21) / 3, "channels": 20.0, "remote": (100 + 27) / 2, "closed": 1495.0,
        "warm-up": 10.0, "held": (95 + 110) / 2,
    }),
    # S has its first quantum at 6, after a switch; T1 at 31, 11 ms after its job came. B of "remote" needs 7 to start.
    "mean_wait_ms": Known("ms", ANY, "less", "always", NO_JOB | {
        "part": NAN, "disk": (0 + 6 + 11) / 3, "remote": 7 / 2, "migration": 0.0, "failure": 0.0, "held": 90 / 2,
        "warm-up": 0.0,
    }),
    "makespan_ms": Known("ms", ANY, "less", "always", {
        "part": 30.0, "disk": 53.0, "failure": 147.0, "lost": 40.0, "warm-up": 10_004.0, "cut": 0.0,
    }),
    # Three jobs until 53 ms; one of two until 147 ms; where no task has ended no time is known.
    "throughput_jobs_per_s": Known("1/s", ANY, "more", "always", {
        "disk": 3 / 0.053, "part": 0.0, "failure": 2 / 0.147, "lost": 1 / 0.040, "warm-up": 55 / 10.004, "cut": NAN,
    }),
    # Two users that are never in each other's way: both have 1.
    "jain_users": Known("1", SHARE, "more", "users", {"no user": NAN, "closed": 1.0}),
    "makespan_spread_ms": Known("ms", ANY, "less", "closed", {"closed": 5990.0 - 4990.0, "no user": NAN}),
    "migrations": Known("1", COUNT, "", "always", {"migration": 1, "remote": 0, "failure": 0}),
    "remote_executions": Known("1", COUNT, "", "always", {"remote": 1, "migration": 0, "refused": 0, "failure": 0}),
    "refused_offers": Known("1", COUNT, "", "always", {"refused": 1, "remote": 0}),
    # Two reports, an offer and a refusal, of three jobs; where all is known an offer and its answer, of two.
    "messages_per_job": Known("1", COUNT, "", "always", {
        "refused": 4 / 3, "remote": 2 / 2, "migration": 2 / 2, "disk": 0.0, "empty": NAN,
    }),
    "node_failures": Known("1", COUNT, "", "failures", {"failure": 1, "lost": 1}),
    "link_failures": Known("1", COUNT, "", "failures", {"failure": 1, "lost": 0}),
    "restarts": Known("1", COUNT, "", "failures", {"failure": 1, "lost": 0}),
    "lost_cpu_ms": Known("ms", ANY, "less", "failures", {"failure": 40.0, "lost": 40.0}),
    "cpu_utilisation": Known("1", SHARE, "", "always", {
        "disk": (40 + 20) / (2 * 60), "channels": 20 / (3 * 50), "failure": 170 / (2 * 200), "cut": 1.0, "empty": 0.0,
        "warm-up": (5 * 10_000 + 50 * 10) / (6 * 20_000),
    }),
    "disk_utilisation": Known("1", SHARE, "", "always", {
        "disk": 40 / (2 * 60), "paging": 15 / 100, "channels": (18 - 5) / (2 * 50), "remote": 0.0,
    }),
    "channel_utilisation": Known("1", SHARE, "", "channels", {"channels": (10 + 10) / (3 * 50)}),
    "energy_kwh": Known("kWh", ANY, "less", "power", {
        "disk": 15.8 / 3.6e6, "failure": (24 + 8.5) / 3.6e6, "cut": 100 * 0.05 / 3.6e6,
    }),
    "joules_per_job": Known("J", ANY, "less", "power", {"disk": 15.8 / 3, "failure": 32.5 / 2, "cut": NAN}),
    "io_load_largest_per_ms": Known("1/ms", ANY, "", "initial", {"initial": 0.05}),
    "io_load_smallest_per_ms": Known("1/ms", ANY, "", "initial", {"initial": 0.01}),
    "disk_requests": Known("1", COUNT, "", "always", {"disk": 4, "paging": 0, "channels": 2}),
    "page_faults": Known("1", COUNT, "less", "always", {"paging": 3, "disk": 0}),
    "page_faults_per_cpu_s": Known("1/s", ANY, "less", "always", {"paging": 3 / 0.035, "disk": 0.0, "empty": 0.0}),
    "fetched_mb": Known("MB", ANY, "", "data", {"data": 5 * 50.0}),
    "fetched_between_clusters_mb": Known("MB", ANY, "", "data", {"data": 4 * 50.0}),
    # Means over the tasks, of which job T has two.
    "breakdown_ms.cpu": Known("ms", ANY, "", "always", NO_JOB | {
        "part": 10.0, "disk": (20 + 20 + 10 + 10) / 4, "warm-up": 10.0, "failure": (140 + 30) / 2, "lost": 30.0,
    }),
    "breakdown_ms.cpu_queue": Known("ms", ANY, "", "always", NO_JOB | {
        "disk": (3 + 9 + 0 + 11) / 4, "refused": 18 / 3, "barrier": (0 + 18) / 2,
    }),
    "breakdown_ms.io": Known("ms", ANY, "", "always", NO_JOB | {"disk": 40 / 4, "channels": 10.0, "paging": 0.0}),
    "breakdown_ms.io_queue": Known("ms", ANY, "", "always", NO_JOB | {"disk": 4 / 4, "channels": 0.0}),
    "breakdown_ms.paging": Known("ms", ANY, "", "always", NO_JOB | {"paging": 15.0, "disk": 0.0}),
    "breakdown_ms.migration": Known("ms", ANY, "", "always", NO_JOB | {
        "remote": 7 / 2, "migration": 11 / 2, "failure": 7 / 2, "data": WAITS,
    }),
    "breakdown_ms.barrier": Known("ms", ANY, "", "always", NO_JOB | {"barrier": (11 + 2) / 2, "held": 0.0}),
    "breakdown_ms.blocked": Known("ms", ANY, "", "always", NO_JOB | {"held": (0 + 90) / 2, "barrier": 0.0}),
    "jobs.submitted": Known("1", COUNT, "", "always", {"disk": 3, "cut": 2, "empty": 0, "no user": 1}),
    "jobs.finished": Known("1", COUNT, "more", "always", {"disk": 3, "part": 0, "cut": 0, "killed": 1, "lost": 1}),
    "jobs.killed": Known("1", COUNT, "less", "always", {"killed": 1, "lost": 0}),
    "jobs.lost": Known("1", COUNT, "less", "always", {"lost": 1, "killed": 0, "failure": 0}),
    "jobs.blocked": Known("1", COUNT, "", "always", {"cut": 1, "held": 0, "no user": 0}),
    "jobs.running": Known("1", COUNT, "", "always", {"cut": 1, "held": 0, "no user": 1}),
    # Fewer than 50 jobs are too few to judge.
    # The sixth job of the run comes at 100 ms.
    "from_s": Known("s", ANY, "", "warmup", {"warm-up": 0.1, "disk": 0}),
    "warmup_jobs": Known("1", COUNT, "", "warmup", {"warm-up": 5, "disk": 0}),
    "warmup_settled": Known("1", SHARE, "", "mser", {"warm-up": 1, "disk": 0}),
}  # fmt: skip


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """What a study keeps of each run."""
    return {name: measure_run(model_of(name, tmp_path_factory.mktemp("run"))) for name in RUNS}


def test_every_declared_metric_is_worked_by_hand():
    assert list(KNOWN) == [metric.name for metric in METRICS]


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_the_value(name, rows):
    found = {run: rows[run][name] for run in KNOWN[name].values}
    assert found == pytest.approx(dict(KNOWN[name].values), rel=1e-9, abs=0.0, nan_ok=True)


@pytest.mark.parametrize("name", KNOWN)
def test_unit_bounds_and_better_side(name):
    known, declared = KNOWN[name], BY_NAME[name]
    assert (declared.unit, declared.better, declared.when) == (known.unit, known.better, known.when)
    assert bounds_of(name) == Bounds(*known.bounds)
    assert declared.is_share == (name.endswith("utilisation"))


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_a_run_has_the_metrics_that_its_scenario_calls_for_and_no_others(run, rows):
    expected = {name for name, known in KNOWN.items() if known.when == "always" or known.when in RUNS[run].has}
    others = ("slowdown_quantiles", "response_quantiles")
    assert {name for name in rows[run] if name not in others and not name.startswith("programs.")} == expected


def test_quantiles_of_a_row(rows):
    """Jobs of 21, 43 and 53 ms, half of the way apart; after the warm-up all are alike; of no job there are none."""
    responses, slowdowns = rows["disk"]["response_quantiles"], rows["disk"]["slowdown_quantiles"]
    assert [responses[percent] for percent in (0, 25, 50, 75, 100)] == pytest.approx([21, 32, 43, 48, 53])
    assert [slowdowns[percent] for percent in (0, 50, 100)] == pytest.approx([R, S, T])
    assert rows["warm-up"]["response_quantiles"] == pytest.approx([10.0] * 101)
    assert rows["cut"]["response_quantiles"] == rows["cut"]["slowdown_quantiles"] == []


def test_faults_without_any_cpu_have_no_rate(tmp_path):
    """Where nothing was computed either, the rate is 0."""
    run = model_of("paging", tmp_path).run_data()
    assert computed(replace(run, cpu_ns=0 * run.cpu_ns))["page_faults_per_cpu_s"] is None
    assert computed(replace(run, cpu_ns=0 * run.cpu_ns, nodes=run.nodes[:0]))["page_faults_per_cpu_s"] == 0.0


def test_before_anything_is_simulated_nothing_is_busy(tmp_path):
    run = model_of("paging", tmp_path).run_data()
    found = computed(replace(run, now_ns=0, cpu_ns=0 * run.cpu_ns, disk_ns=0 * run.disk_ns))
    assert (found["cpu_utilisation"], found["disk_utilisation"]) == (0.0, 0.0)


def test_times_of_all_nodes_together_may_be_more_than_64_bits_hold():
    """Three of 2^62 + 2^31 + 1 ns."""
    assert total_ns(np.full(3, 2**62 + 2**31 + 1, np.int64)) == float(3 * (2**62 + 2**31 + 1))


@pytest.mark.parametrize(("channels", "of_group", "has"), [(1, 1, False), (1, 2, True), (2, 1, True), (2, 2, True)])
def test_channels_are_those_of_nodes_that_are_there(channels, of_group, has):
    """Two nodes, one of them of a group; and where the group is all there is, its channels alone count."""
    group = {"count": 1, "disk_channels": of_group}
    assert Cluster(nodes=2, disk_channels=channels, group=(group,)).has_channels == has
    assert Cluster(nodes=1, disk_channels=channels, group=(group,)).has_channels == (of_group > 1)


@pytest.mark.parametrize(("nodes", "watts", "of_group", "has"), [
    (2, None, 10.0, False), (2, 10.0, 20.0, True), (2, 10.0, None, True), (2, None, None, False), (1, None, 0.0, True),
])  # fmt: skip
def test_power_is_that_of_nodes_that_are_there(nodes, watts, of_group, has):
    """One node is of a group; what the group does not say is as of the others."""
    group = {"count": 1} if of_group is None else {"count": 1, "idle_watts": of_group}
    assert Cluster(nodes=nodes, idle_watts=watts, group=(group,)).has_power == has

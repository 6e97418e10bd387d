"""Relaxation times of scenarios and of logs by hand, and the words about windows."""

from __future__ import annotations

import math

import pytest
from support import scenario

from cluster_abm.workload import offered_load, work_of
from cluster_abm.workload.laws.estimated import Estimated, estimated
from cluster_abm.workload.laws.relaxation import Relaxation, relaxation_of

# M/M/1 at half load, E[S] = 1 s: 8 s.
QUEUE = {
    "cluster__nodes": 1, "workload__utilisation": 0.5, "workload__duration_s": 160.0,
    "workload__cpu_ms": {"kind": "exponential", "mean": 1000.0},
}  # fmt: skip
# An access takes 8 + 2 ms.
DISK = {
    "cluster__disk_seek_rotation_ms": 8.0, "cluster__disk_mb_per_s": 50.0,
    "workload__request_kb": {"kind": "fixed", "mean": 100.0, "sd": 50.0},
}  # fmt: skip


def of(**settings):
    declared = scenario(**settings)
    work = work_of(declared, 1)
    return relaxation_of(declared, work, offered_load(declared, work))


def accesses(per_ms):
    return DISK | {"workload__io_per_ms": {"kind": "fixed", "mean": per_ms}}


@pytest.mark.parametrize(
    ("changes", "expected_s"),
    [
        ({}, 8.0),
        # Of nodes alike each has its share of the jobs.
        ({"cluster__nodes": 4}, 8.0),
        # Two cores of speed 2 are one of speed 4.
        ({"cluster__nodes": 4, "cluster__cores": 2, "cluster__cpu_speed": 2.0}, 2.0),
        # Fixed demands: E[S^2] is half as much.
        ({"workload__cpu_ms": {"kind": "fixed", "mean": 1000.0}}, 4.0),
        # cv 3: E[S^2] = 10 s^2, at load 0.8 2 x 0.8 x 10/0.04.
        ({"workload__cpu_ms": {"kind": "gamma", "mean": 1000.0, "sd": 3000.0}, "workload__utilisation": 0.8}, 400.0),
        # The rate counts tasks.
        ({"workload__tasks": {"widths": {"2": 1.0}}, "workload__utilisation": None, "workload__jobs_per_s": 0.25}, 8.0),
        # A disk with 1.5 times the load of the CPU: 0.6, E[S] = 1.5 s: 2 x 0.6 x 2 x 1.5/0.16.
        (accesses(0.15) | {"workload__utilisation": 0.4}, 22.5),
        # Half the load of the CPU: that of the CPU counts.
        (accesses(0.05), 8.0),
    ],
)  # fmt: skip
def test_of_a_scenario_by_hand(changes, expected_s):
    found = of(**QUEUE | changes)
    assert (found.time_s, found.why_none) == (pytest.approx(expected_s), "")
    assert found.count_from(0.0) == pytest.approx(160.0 / expected_s)


def test_the_disk_is_that_of_the_tasks_that_use_it():
    """Every other task makes no access: those that do, ask for twice as much at the same load."""
    whole, half = (of(**QUEUE | accesses(0.15) | {"workload__no_io_share": share}) for share in (0.0, 0.5))
    assert whole.time_s == pytest.approx(2 * 0.75 * 2 * 1.5 / 0.25**2)
    # The jobs that are drawn are not half and half.
    assert 1.0 < half.time_s < whole.time_s


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"workload__cpu_ms": {"kind": "pareto", "mean": 1000.0, "shape": 2.0}},
            "infinite variance of the CPU demands",
        ),
        ({"workload__utilisation": 1.0}, "CPU load of 1 or more"),
        (accesses(0.25), "disk load of 1 or more"),
    ],
)
def test_where_there_is_none_it_says_why(changes, why):
    found = of(**QUEUE | changes)
    assert (found.time_s, found.why_none, found.count_from(0.0)) == (math.inf, why, None)


def test_of_a_log_by_hand(tmp_path):
    """CPU demands of 1, 1, 4 s in 10 s: load 0.6, E[S] = 2 s, E[S^2] = 6 s^2: 2 x 0.6 x 6/(2 x 0.16) = 22.5 s."""
    path = tmp_path / "log.csv"
    path.write_text("arrival_ms,home,cpu_ms\n0,0,1000\n5000,0,1000\n10000,0,4000\n", encoding="utf-8")
    found = of(cluster__nodes=1, workload__kind="trace", workload__trace__file=str(path))
    assert found.time_s == pytest.approx(22.5)
    assert found.count_from(0.0) == pytest.approx(10 / 22.5)


def test_of_users_who_wait_for_their_jobs_no_window_is_known():
    assert of(cluster__nodes=2, workload__arrivals__kind="closed", workload__utilisation=None) is None


def test_the_window_is_what_is_left_of_the_arrivals():
    assert Relaxation(8.0, "", 160.0).count_from(40.0) == 15.0
    assert Relaxation(8.0, "", 160.0).count_from(200.0) == 0.0
    assert Relaxation(0.0, "", 160.0).count_from(0.0) is None


def words(from_s=(0.0, 0.0), warmup="none", until="drained", times=(61.0, 61.0), why="", unsettled=0):
    return Estimated(from_s, warmup, until, times, why, unsettled).words


def test_words_of_whole_and_of_cut_windows():
    assert words() == ["estimated: the window from empty to empty, 61 relaxation times"]
    assert words(until=300_000.0) == ["estimated: the window from empty to 300 s, 61 relaxation times"]
    assert words((40.0, 40.0), "mser") == ["estimated: from 40 s on (mser), 61 relaxation times"]
    assert words((2.0, 40.0), times=(55.0, 61.0)) == [
        "estimated: from 2 to 40 s on (measure.from_s), 55 to 61 relaxation times"
    ]
    assert words(times=None) == ["estimated: the window from empty to empty"]
    assert words(times=None, why="CPU load of 1 or more") == [
        "estimated: the window from empty to empty; no relaxation time: CPU load of 1 or more",
        "warning: the numbers depend on how long jobs arrive, however long that is",
    ]


def test_below_twenty_relaxation_times_a_line_warns():
    assert len(words(times=(20.0, 30.0))) == 1
    first, warning = words(times=(19.9, 30.0))
    assert first.endswith(", 20 to 30 relaxation times")
    assert warning.startswith("warning: below 20 relaxation times the empty start and the end decide")


def test_runs_without_a_steady_state_are_counted():
    assert words((40.0, 40.0), "mser", unsettled=1)[1].startswith("warning: 1 run shows no steady state")
    assert words((40.0, 40.0), "mser", unsettled=3)[1].startswith("warning: 3 runs show no steady state")


def test_of_several_scenarios_the_least_and_the_largest_count():
    slow, fast = scenario(**QUEUE), scenario(**QUEUE | {"workload__cpu_ms": {"kind": "fixed", "mean": 1000.0}})
    rows = [{"from_s": 8.0, "warmup_settled": 0}, {"from_s": 16.0, "warmup_settled": 1}]
    found = estimated([(slow, rows), (fast, [{"from_s": 4.0}])])
    assert found.from_s == (4.0, 16.0)
    # Each by its own latest beginning: 144 s and 156 s.
    assert found.times == (pytest.approx(144 / 8), pytest.approx(156 / 4))
    assert found.unsettled == 1
    assert found.as_json() == {"from_s": 16.0, "warmup": "none", "relaxation_times": pytest.approx(18.0)}


def test_without_a_relaxation_time_of_one_none_is_said():
    full = scenario(**QUEUE | {"workload__utilisation": 1.5})
    found = estimated([(scenario(**QUEUE), [{}]), (full, [])])
    assert (found.times, found.why_none) == (None, "CPU load of 1 or more")

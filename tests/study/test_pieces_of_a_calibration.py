"""Pieces of a calibration, by hand: values in ranges, checks of a question, held-out rows, and slices of keys."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.calibration import calibrate
from cluster_abm.study.calibration.observed import Observed, Row
from cluster_abm.study.calibration.question import CalibrationQuestion, interval_of, value_of
from cluster_abm.study.tuning.ranges import Over

SPEED, SEEK = "cluster.cpu_speed", "cluster.disk_seek_rotation_ms"
OVERS = (Over(SPEED, 0.5, 2.5), Over(SEEK, 1.0, 16.0, log=True))
NAN = math.nan


def observed(rows, kind="metrics", conditions=None):
    runs = {row.run: {} for row in rows}
    return Observed("runs.csv", kind, tuple(rows), {**runs, **(conditions or {})})


METRICS = [
    Row(2, "1", "mean_response_ms", 10.0), Row(3, "1", "cpu_utilisation", 0.5, 0.1), Row(4, "1", "page_faults", 7),
]  # fmt: skip


def question(rows=METRICS, overs=OVERS, kind="metrics", conditions=None, base=None, **more):
    return CalibrationQuestion(base or scenario(), overs, observed(rows, kind, conditions), **more)


# ---- values in ranges ----


@pytest.mark.parametrize(("values", "place"), [
    # 1 is a quarter of the way from 0.5 to 2.5; on a logarithmic scale 4 is half of the way from 1 to 16.
    ({SPEED: 1.0, SEEK: 4.0}, [0.25, 0.5]), ({SPEED: 0.5, SEEK: 1}, [0.0, 0.0]), ({SPEED: 2.5, SEEK: 16.0}, [1.0, 1.0]),
    ({SPEED: 0.49, SEEK: 4.0}, None), ({SPEED: 1.0, SEEK: 16.1}, None), ({SPEED: True, SEEK: 4.0}, None),
    ({SPEED: 1.0, SEEK: None}, None), ({SPEED: "1", SEEK: 4.0}, None),
])  # fmt: skip
def test_values_and_their_places_in_the_ranges(values, place):
    found = question().point(values)
    assert (None if found is None else found.tolist()) == (place if place is None else pytest.approx(place))
    if place is not None:
        assert question().settings(found) == pytest.approx(values)


def test_defaults_are_the_values_of_the_scenario():
    base = scenario(cluster__cpu_speed=1.5, cluster__disk_seek_rotation_ms=8.0)
    assert question(base=base).defaults() == {SPEED: 1.5, SEEK: 8.0}


@pytest.mark.parametrize(("over", "place", "value"), [
    # A value has six digits and does not pass the ends of its range.
    (Over("x", 0.0, 1.0), 1 / 3, 0.333333), (Over("x", 1.0, 1.0000001), 1.0, 1.0),
    (Over("x", 1.0000001, 2.0), 0.0, 1.0000001), (Over("x", 1.0, 1.9999999), 1.0, 1.9999999),
])  # fmt: skip
def test_a_value_has_six_digits_and_is_in_its_range(over, place, value):
    assert value_of(over, place) == value


@pytest.mark.parametrize(("over", "place", "arm", "ends"), [
    # Arms are shares of the range: around 2, 0.25 x 4 to either side. A range that begins at 0 or below has an
    # interval of differences, one above 0 an interval of factors.
    (Over("x", 0.0, 4.0), 0.5, 0.25, (1.0, 3.0)), (Over("x", -4.0, 4.0), 0.5, 0.25, (-2.0, 2.0)),
    (Over("x", 0.0, 4.0), 0.5, 0.75, (0.0, 4.0)),
    # On a logarithmic scale: 4 / 16^0.25 to 4 x 16^0.25.
    (Over("x", 1.0, 16.0, log=True), 0.5, 0.25, (2.0, 8.0)), (Over("x", 1.0, 16.0, log=True), 0.5, 9.0, (1.0, 16.0)),
    (Over("x", 1.0, 16.0, log=True), 0.5, math.inf, (1.0, 16.0)),
    # A factor that overflows is cut to the range.
    (Over("x", 1e-9, 4.0), 0.0, 1e6, (1e-9, 4.0)),
])  # fmt: skip
def test_intervals_within_the_range(over, place, arm, ends):
    assert interval_of(over, place, arm) == pytest.approx(ends, rel=1e-5)


# ---- checks of a question ----


def test_runs_and_seeds_of_a_point():
    rows = [*METRICS, Row(5, "2", "mean_response_ms", 9.0)]
    found = question(rows, seeds=5, base=scenario(run__seed=7))
    assert (found.seeds_used, found.runs_each) == (range(7, 12), 10)


@pytest.mark.parametrize(("runs", "seeds", "keys", "least"), [
    # A region has five points with one key and nine with two. Two regions, times seeds, times runs.
    (1, 2, 1, 20), (1, 3, 2, 54), (2, 2, 2, 72),
])  # fmt: skip
def test_the_least_budget_covers_two_regions(runs, seeds, keys, least):
    rows = [Row(2 + 3 * run + place, str(run), row.name, row.value)
            for run in range(runs) for place, row in enumerate(METRICS)]  # fmt: skip
    question(rows, OVERS[:keys], seeds=seeds, budget=least).check()
    with pytest.raises(InputError, match=f"--budget {least - 1}: {least} runs at least are needed for {keys} keys"):
        question(rows, OVERS[:keys], seeds=seeds, budget=least - 1).check()


@pytest.mark.parametrize(("count", "spreads", "is_enough"), [
    # One row for each key, and one more unless each row has its own spread.
    (2, (0.1, 0.1), True), (2, (0.1, NAN), False), (3, (NAN, NAN, NAN), True), (1, (0.1,), False),
])  # fmt: skip
def test_the_number_of_rows_that_a_fit_needs(count, spreads, is_enough):
    rows = [Row(row.line, "1", row.name, row.value, sd) for row, sd in zip(METRICS[:count], spreads, strict=True)]
    # A row that is held out does not count.
    rows.append(Row(9, "1", "p95_slowdown", 3.0, 0.1, True))
    if is_enough:
        question(rows).check()
    else:
        with pytest.raises(InputError, match=rf"{count} row\(s\) to fit 2 key\(s\)"):
            question(rows).check()


def trace_of(tmp_path, name, jobs):
    path = tmp_path / name
    path.write_text(
        "arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n" + "".join(f"{10 * n},0,5,0,1\n" for n in range(jobs))
    )
    return str(path)


def test_jobs_are_counted_in_the_trace_of_their_own_run(tmp_path):
    base = scenario(workload__kind="trace", workload__trace__file=trace_of(tmp_path, "a.csv", 3))
    conditions = {"a": {}, "b": {"workload.trace.file": trace_of(tmp_path, "b.csv", 6)}}
    rows = [Row(2, "a", 0, 9.0), Row(3, "a", 2, 9.0), Row(4, "b", 5, 9.0)]
    question(rows, kind="jobs", conditions=conditions, base=base).check()
    rows += [Row(5, "a", 3, 9.0), Row(6, "b", 6, 9.0)]
    with pytest.raises(InputError) as problem:
        question(rows, kind="jobs", conditions=conditions, base=base).check()
    assert problem.value.problems == [
        "runs.csv, line 5: job = 3: run 'a' has jobs 0 to 2", "runs.csv, line 6: job = 6: run 'b' has jobs 0 to 5"
    ]  # fmt: skip


def test_ten_wrong_rows_are_named_and_the_others_counted():
    rows = [Row(line, str(line % 2), f"nothing{line}", 1.0) for line in range(2, 14)]
    with pytest.raises(InputError) as problem:
        question(rows).check()
    lines = problem.value.problems
    assert len(lines) == 11
    assert len(set(lines)) == 11
    assert lines[-1] == "2 more problems"


def test_conditions_change_only_the_scenario_of_their_run():
    found = question(conditions={"2": {"policy.name": "jsq", "cluster.nodes": 6}}).of_runs
    assert [(one.policy.name, one.cluster.nodes) for one in found.values()] == [("none", 4), ("jsq", 6)]


def test_the_document_of_a_question_leaves_out_what_does_not_change_its_runs():
    rows = [*METRICS[:2], Row(4, "1", "page_faults", 7.0, NAN, True)]
    found = question(rows, conditions={"1": {"cluster.nodes": 5}}, seeds=3).as_json()
    assert found["rows"] == [
        ["1", "mean_response_ms", 10.0, None, False], ["1", "cpu_utilisation", 0.5, 0.1, False],
        ["1", "page_faults", 7.0, None, True],
    ]  # fmt: skip
    assert found["over"] == [f"{SPEED}=0.5:2.5", f"{SEEK}=1:16:log"]
    assert (found["seeds"], found["conditions"]) == (3, {"1": {"cluster.nodes": 5}})
    # With another budget, other threads or other pictures, calibration continues from the same runs.
    assert "budget" not in found
    assert "compare" not in found["scenario"]
    measure = {"records": "all", "headline": "bounded_slowdown", "bound_ms": None, "metrics": [], "from_s": 0.0,
               "warmup": "none"}  # fmt: skip
    assert found["scenario"]["measure"] == measure
    assert "threads" not in found["scenario"]["run"]


# ---- held-out rows ----


@pytest.mark.parametrize(("runs", "share", "held_out"), [
    # At least one run is held out and at least one is left.
    (2, 0.1, 1), (2, 0.5, 1), (2, 0.9, 1), (4, 0.5, 2), (4, 0.7, 3), (4, 1.0, 3),
])  # fmt: skip
def test_whole_runs_are_held_out(runs, share, held_out):
    rows = [Row(2 + 3 * run + job, str(run), job, 1.0) for run in range(runs) for job in range(3)]
    found = observed(rows, "jobs").holding_out(share, 5)
    of_runs = [{row.is_held_out for row in found.rows if row.run == str(run)} for run in range(runs)]
    assert all(len(one) == 1 for one in of_runs)
    assert sum(one == {True} for one in of_runs) == held_out
    assert len(found.fitted) == 3 * (runs - held_out)


def test_the_seed_decides_which_rows_of_a_single_run_are_held_out():
    rows = [Row(2 + job, "1", job, 1.0) for job in range(40)]
    chosen = [{row.name for row in observed(rows, "jobs").holding_out(0.25, seed).rows if row.is_held_out}
              for seed in (1, 1, 2)]  # fmt: skip
    assert [len(one) for one in chosen] == [10, 10, 10]
    assert chosen[0] == chosen[1] != chosen[2]


# ---- starting points and slices ----


def test_starting_points_take_three_tenths_of_the_budget(monkeypatch):
    """0.3 x 40 runs at two runs per point are six points; the first is the scenario's own."""
    asked = {}
    monkeypatch.setattr(
        calibrate, "fit", lambda *given: asked.update(zip(("predict", "y", "sd", "starts"), given, strict=True))
    )
    base = scenario(cluster__cpu_speed=1.0, cluster__disk_seek_rotation_ms=4.0)
    calibrate._fit(question(base=base, seeds=2, budget=40), None, METRICS)
    assert len(asked["starts"]) == 6
    assert asked["starts"][0] == pytest.approx([0.25, 0.5])
    assert asked["y"] == pytest.approx(np.log([10.0, 0.5, 7.0]))
    assert asked["sd"] == pytest.approx([NAN, 0.1, NAN], nan_ok=True)
    # 0.3 x 4 runs are less than one point; one is the least.
    calibrate._fit(question(base=base, seeds=2, budget=4), None, METRICS)
    assert len(asked["starts"]) == 1


def test_slices_show_the_root_mean_square_residual_along_each_key():
    """Logarithms 0 and 1 (and 9, held out), predicted as speed and seek/4: sqrt((speed^2 + (1 - seek/4)^2)/2)."""
    rows = [Row(2, "1", "a", 1.0), Row(3, "1", "b", math.e), Row(4, "1", "c", math.e**9, NAN, True)]

    def logs_at(speed, seek):
        return np.array([[speed, seek / 4, 1e6], [speed, seek / 4, -1e6]])

    predictions = SimpleNamespace(of_settings=lambda asked: np.array([logs_at(one[SPEED], one[SEEK]) for one in asked]))
    fitted, point = np.array([True, True, False]), np.array([0.25, 0.75])
    found = calibrate._slices(question(rows), predictions, fitted, point, logs_at(1.0, 8.0))
    speeds = [0.5, 0.5 + 1 / 3, 1.0, 0.5 + 2 / 3, 1.5, 0.5 + 4 / 3, 0.5 + 5 / 3, 2.5]
    seeks = [*(16 ** (place / 6) for place in range(5)), 8.0, 16 ** (5 / 6), 16.0]
    assert list(found) == [SPEED, SEEK]
    for key, values, sizes in (
        (SPEED, speeds, [math.sqrt((speed**2 + 1) / 2) for speed in speeds]),
        (SEEK, seeks, [math.sqrt((1 + (1 - seek / 4) ** 2) / 2) for seek in seeks]),
    ):
        at, heights = found[key]
        assert at == pytest.approx(values, rel=1e-5)
        assert heights == pytest.approx(sizes, rel=1e-5)

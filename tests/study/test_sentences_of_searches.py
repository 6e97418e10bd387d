"""What `tune` and `calibrate` say, of searches and fits made by hand: every column, both forms of every sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import scenario

from cluster_abm.cli.frame import StudyCall
from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.options import Executor, Overrides
from cluster_abm.cli.studies.calibrate import _print_calibration
from cluster_abm.cli.studies.tune import TuneFrame, _in_a_line, _print_search
from cluster_abm.study.calibration.calibrate import Calibrated
from cluster_abm.study.calibration.fitting import Fit
from cluster_abm.study.calibration.observed import Observed, Row
from cluster_abm.study.calibration.question import CalibrationQuestion
from cluster_abm.study.calibration.uncertainty import Uncertainty
from cluster_abm.study.tuning.question import TuningQuestion
from cluster_abm.study.tuning.ranges import Over
from cluster_abm.study.tuning.search import TuningCandidate
from cluster_abm.study.tuning.tune import Tuned, judgement_of

NAN = math.nan
PERIOD, FLAG = "cluster.exchange_period_ms", "policy.normalised"

# ---- tune ----

# Over the defaults' 2, 4 and 8: half on every seed; a quarter on the first and the same on the second: 1/2.
CANDIDATES = (
    TuningCandidate(0, {PERIOD: 1000.0, FLAG: None}, scenario(), [2.0, 4.0, 9.0], [1.0, 1.0, 1.0], {}, "finished"),
    TuningCandidate(1, {PERIOD: 100.0, FLAG: True}, scenario(), [1.0, 2.0, 4.5], [0.5, 0.5, 0.5], {}, "finished"),
    TuningCandidate(2, {PERIOD: 200.0, FLAG: False}, scenario(), [0.5, 4.0], [0.25, 1.0], {}, "stopped",
                    "among the worse"),
    TuningCandidate(3, {PERIOD: -1.0, FLAG: False}, None, [], [], {}, "refused", "must be above 0"),
    TuningCandidate(4, {PERIOD: 5.0, FLAG: False}, scenario(), [], [], {}, "failed", "a run failed"),
)  # fmt: skip
HALF = judgement_of((4, 5), (2.0, 4.0), (1.0, 2.0))
DOUBLE = judgement_of((4, 5), (2.0, 4.0), (4.0, 8.0))
ALIKE = judgement_of((4, 5), (2.0, 2.0), (1.0, 4.0))


def tuned(best=1, judgement=HALF, candidates=CANDIDATES, metric="mean_slowdown", made=0, **more):
    overs = (Over(PERIOD, 10.0, 5000.0), Over(FLAG, choices=(True, False)))
    asked = TuningQuestion(scenario(policy__name="wal-re"), overs, budget=20, seeds=3, judge_seeds=2, metric=metric)
    return Tuned(asked, candidates, candidates[best], judgement, 11, runs=15 if best else 11, made=made, **more)


def test_every_column_of_the_candidates():
    table = tuned().frame()
    expected = {
        "candidate": [0, 1, 2, 3, 4], PERIOD: [1000.0, 100.0, 200.0, -1.0, 5.0],
        "state": ["finished", "finished", "stopped", "refused", "failed"],
        "reason": ["", "", "among the worse", "must be above 0", "a run failed"], "seeds": [3, 3, 2, 0, 0],
        "ratio": [1.0, 0.5, 0.5, NAN, NAN], "mean of mean_slowdown": [5.0, 2.5, 2.25, NAN, NAN],
    }  # fmt: skip
    for name, values in expected.items():
        numbers = not isinstance(values[0], str)
        assert table[name].tolist() == (pytest.approx(values, nan_ok=True) if numbers else values), name
    assert table[FLAG].astype(object).where(table[FLAG].notna(), None).tolist() == [None, True, False, False, False]
    assert list(table.columns) == ["candidate", PERIOD, FLAG, *list(expected)[2:]]


@pytest.mark.parametrize(("found", "line"), [
    (tuned(0, None), "no candidate was better than the defaults on seeds 1 to 3"),
    (tuned(1, None), "candidate 1 could not be judged on seeds 4 to 5: its runs failed"),
    (tuned(), "candidate 1, judged on seeds 4 to 5, which the search did not see: mean_slowdown is 0.500 [0.500, 0.500]"
              " times the defaults', the mean difference -1.5 ["),
])  # fmt: skip
def test_what_came_of_a_search_in_a_line(found, line):
    assert _in_a_line(found).startswith(line)
    assert found.found_better == (found.best.number == 1)


@pytest.mark.parametrize(("judged", "metric", "verdict"), [
    (HALF, "mean_slowdown", "better"), (DOUBLE, "mean_slowdown", "worse"), (HALF, "jobs.finished", "worse"),
    (DOUBLE, "jobs.finished", "better"), (ALIKE, "mean_slowdown", "not told apart"),
    (ALIKE, "jobs.finished", "not told apart"),
])  # fmt: skip
def test_a_verdict_hangs_on_which_side_is_better(judged, metric, verdict):
    found = tuned(judgement=judged, metric=metric)
    than = "from" if verdict == "not told apart" else "than"
    assert _in_a_line(found).endswith(f": {verdict} {than} the defaults")
    assert found.as_json()["judged"]["verdict"] == verdict


def test_the_document_of_a_search():
    found = tuned().as_json()
    assert found["candidates"] == {"finished": 2, "stopped": 1, "refused": 1, "failed": 1}
    assert (found["best"], found["search"]) == ({PERIOD: 100.0, FLAG: True}, {"seeds": [1, 2, 3], "ratio": 0.5})
    assert (found["runs"], found["budget"]) == (11, 20)
    judged = found["judged"]
    assert (judged["seeds"], judged["ratio"]) == ([4, 5], pytest.approx(0.5))
    # Differences of -1 and -2: -1.5 -+ 12.7062 x .5.
    assert judged["difference"] == -1.5
    assert judged["ci95"] == pytest.approx([-1.5 - 12.7062 / 2, -1.5 + 12.7062 / 2], rel=1e-5)
    assert judged["ratio_ci95"] == pytest.approx([0.5, 0.5])
    assert tuned(0, None).as_json()["judged"] is None


def test_what_is_printed_of_a_search(capsys):
    _print_search(tuned())
    text = capsys.readouterr().out
    assert "wal-re on test: 11 of 20 runs for the search" in text
    assert "5 candidates: 2 on all 3 seeds, 1 stopped early, 1 refused, 1 failed\n" in text
    assert "(below 1 is better)" in text
    assert "1 left out: must be above 0\n" in text
    assert "1 left out: a run failed\n" in text
    rows = [line.split() for line in text.splitlines() if "defaults  " in line or line.split()[:1] == ["1"]]
    # The best first.
    assert [row[0] for row in rows[:2]] == ["1", "the"]
    assert rows[1] == ["the", "defaults", "1000", "not", "set", "1", "5"]
    assert rows[0][1:] == ["100", "true", "0.5", "2.5"]
    _print_search(tuned(candidates=CANDIDATES[:2], metric="jobs.finished"))
    text = capsys.readouterr().out
    assert "2 candidates: 2 on all 3 seeds\n" in text
    assert "(above 1 is better)" in text
    assert "left out" not in text


@pytest.mark.parametrize(("found", "line"), [
    (tuned(made=15), "15 runs in 2.0 s"), (tuned(made=9), "15 runs in 2.0 s, 6 of them carried out before"),
    (tuned(0, None, made=11), "11 runs in 2.0 s"),
    (tuned(made=15, policy_faults={"a fault": 1}), "error: a fault"),
    (tuned(made=15, policy_faults={"a fault": 3}), "error: a fault (ended 3 runs)"),
])  # fmt: skip
def test_how_many_runs_there_were(found, line):
    call = StudyCall("test", (), FromLog(), Executor("inline", None, None, ()), None, False)
    frame = TuneFrame(call, Overrides({}, {}), found.question)
    frame.wall_s = 2.0
    assert line in list(frame._last_lines(found))


# ---- calibrate ----

SPEED, SEEK = "cluster.cpu_speed", "cluster.disk_seek_rotation_ms"
ROWS = (Row(2, "a", 0, 100.0), Row(3, "a", 1, 200.0), Row(4, "b", 0, 400.0, is_held_out=True))
# Two seeds; on average (geometric) 110, 180 and 500: away by .1, -.1 and .25.
PREDICTED = np.array([[110.0, 180.0, 500.0]] * 2) * np.array([[1.25], [0.8]])


def calibrated(rows=ROWS, points=(0.5, 0.5), shares=((0.5, 0.25, 0.25), (0.0, 0.9, 0.1)), is_converged=True, flat=()):
    overs = (Over(SPEED, 0.5, 1.5), Over(SEEK, 2.0, 10.0))
    kind = "jobs" if isinstance(rows[0].name, int) else "metrics"
    observed = Observed("runs.csv", kind, rows, {row.run: {} for row in rows})
    logs = np.log(PREDICTED[:, : len(rows)])
    fitted = [not row.is_held_out for row in rows]
    weights, jacobian = np.ones(sum(fitted)), np.zeros((sum(fitted), 2))
    found = Fit(np.array(points), logs[:, fitted], jacobian, np.zeros((2, 2)), weights, weights, is_converged, 7)
    # Of infinitely many degrees of freedom, nearly: 1.6449 and 1.96 standard errors (tables).
    known = Uncertainty(
        np.array([0.01, 0.02]), np.array([1e9, 1e9]), np.array(shares), np.eye(2), np.zeros((0, 2)), flat
    )
    question = CalibrationQuestion(scenario(), overs, observed, seeds=2)
    return Calibrated(question, found, known, logs, logs + math.log(2.0), {}, runs=30, made=12)


def test_every_column_of_the_rows():
    table = calibrated().frame()
    assert table.to_dict(orient="list") == {
        "run": ["a", "a", "b"], "use": ["fit", "fit", "held-out"], "job": [0, 1, 0], "observed": [100.0, 200.0, 400.0],
        "predicted": pytest.approx([110.0, 180.0, 500.0]),
        "residual": pytest.approx([math.log(100 / 110), math.log(200 / 180), math.log(400 / 500)]),
        # log 1.25 and log .8 are +-.22314: of two values sqrt(2) of that.
        "sd_of_a_run": pytest.approx([math.sqrt(2) * math.log(1.25)] * 3),
    }  # fmt: skip
    assert "metric" in calibrated((Row(2, "a", "mean_slowdown", 1.0),)).frame()


def test_errors_of_the_fit_and_of_what_was_held_out():
    """|110/100 - 1| and |180/200 - 1| are both .1; their geometric mean is sqrt(1.1 x .9). As given, twice as much."""
    found = calibrated()
    errors = found.as_json()["errors"]
    assert errors["fit"]["calibrated"] == pytest.approx(
        {"rows": 2, "median": 0.1, "p90": 0.1, "bias": math.sqrt(0.99) - 1}
    )
    # 2.2 and 1.8: 1.2 and .8 away; nine tenths of the way from the one to the other.
    assert errors["fit"]["as_it_stands"] == pytest.approx(
        {"rows": 2, "median": 1.0, "p90": 0.8 + 0.9 * 0.4, "bias": 2 * math.sqrt(0.99) - 1}
    )
    assert errors["held_out"]["calibrated"] == pytest.approx({"rows": 1, "median": 0.25, "p90": 0.25, "bias": 0.25})
    assert calibrated(ROWS[:2]).as_json()["errors"]["held_out"] is None


def test_each_key_has_its_value_and_intervals():
    """Speed .5 + .5 x 1 = 1, whose first-order arm of z x .01 is taken as a factor; see test_places_in_a_range."""
    found = calibrated()
    document = found.as_json()
    speed = document["keys"][SPEED]
    assert (speed["value"], speed["as_it_stands"]) == (1.0, 1.0)
    assert speed["variance"] == {"measurement": 0.5, "own_run": 0.25, "seeds": 0.25}
    for level, z in (("ci90", 1.644854), ("ci95", 1.959964)):
        assert speed[level] == pytest.approx([math.exp(-0.01 * z), math.exp(0.01 * z)], rel=1e-4)
    assert (document["converged"], document["runs"], document["cannot_tell"]) == (True, 30, [])
    assert document["observed"] == {"kind": "jobs", "runs": ["a", "b"], "rows": 3, "fitted": 2}
    assert document["correlation"] == [[1.0, 0.0], [0.0, 1.0]]
    assert found.settings == {SPEED: 1.0, SEEK: 6.0}


@pytest.mark.parametrize(("place", "at_end"), [
    (0.0, True), (0.0009, True), (0.0011, False), (0.5, False), (0.9989, False), (0.9991, True), (1.0, True),
])  # fmt: skip
def test_a_value_at_an_end_of_its_range_is_told(place, at_end):
    """Within a thousandth of it."""
    found = calibrated(points=(0.5, place))
    assert [one.at_end for one in found.estimates] == [False, at_end]
    value = found.estimates[1].value
    assert value == pytest.approx(2 + 8 * place, rel=1e-5)
    said = [f"{SEEK} is at the end of its range ({value:g}): it may lie beyond"] if at_end else []
    assert list(found.cannot_tell) == said


def test_what_is_printed_of_a_calibration(capsys):
    _print_calibration(calibrated(flat=(1,)))
    text = capsys.readouterr().out
    assert text.startswith("test fitted to 2 of 3 response times of jobs of 2 runs\n")
    rows = [line.split() for line in text.splitlines()]
    (speed,) = [row for row in rows if row[:1] == [SPEED]]
    assert speed[:3] == [SPEED, "1", "1"]
    assert speed[-6:] == ["50", "%", "25", "%", "25", "%"]
    shown = [" ".join(row) for row in rows if row[-4:-3] in (["given"], ["calibrated"]) or "calibrated" in row]
    assert "fitted (2) calibrated 10 10 -0.501" in shown
    assert "held out (1) calibrated 25 25 +25" in shown
    assert f"\n{SEEK} changes nothing that was observed\n" in text
    assert "has not come to its end" not in text
    _print_calibration(calibrated((Row(2, "a", "mean_slowdown", 100.0), Row(3, "a", "page_faults", 200.0)),
                                  is_converged=False))  # fmt: skip
    text = capsys.readouterr().out
    assert text.startswith("test fitted to 2 of 2 metrics of 1 run\n")
    assert "held out" not in text
    assert "the fit has not come to its end: the same command with a larger --budget goes on from here" in text

"""When a wait is near a log's, and what is said of a scenario whose waits are not: by numbers made by hand."""

from __future__ import annotations

import json

import pytest

from cluster_abm.json_text import to_json
from cluster_abm.study.fitting.verdicts import ComparedWait, NotJudged, QueueingJudgement

SMALL_MS = 10.0


def compared(log, *draws, load=0.7, policy="easy", measure="mean_wait_ms", shuffled=()):
    return ComparedWait(load, policy, measure, float(log), tuple(map(float, shuffled)), tuple(map(float, draws)))


def judgement(*each, **more):
    given = {"mean_run_ms": 1000.0, "processors": {0.7: 1200}, "jobs": 54_034, "window_s": 6e7, "is_part": False}
    return QueueingJudgement(each, **given | more)


@pytest.mark.parametrize(("log", "draws", "ratio", "is_near"), [
    (100, [100], 1.0, True),
    (100, [10, 150, 9000], 1.5, True),  # the median
    (100, [151], 1.51, False),
    (150, [100], 2 / 3, True),
    (151, [100], 100 / 151, False),
    (100, [100, 180], 1.4, True),
    # Below 10 ms all count alike.
    (0, [0], 1.0, True),
    (0.01, [9.9], 1.0, True),
    (0, [15], 1.5, True),
    (0, [16], 1.6, False),
    (16, [0], 0.625, False),
])  # fmt: skip
def test_near_is_within_a_factor_of_one_and_a_half(log, draws, ratio, is_near):
    one = compared(log, *draws)
    assert one.ratio(SMALL_MS) == pytest.approx(ratio)
    assert one.is_near(SMALL_MS) is is_near


def test_small_waits_are_a_hundredth_of_the_mean_run_time():
    assert judgement(compared(1, 1)).small_ms == 10.0


def test_what_a_scenario_must_not_be_used_for():
    found = judgement(
        compared(1000, 1100),
        compared(1000, 2300, 2300, load=0.9, policy="batch-system"),
        compared(3000, 6000, load=0.9, policy="batch-system", measure="p95_wait_ms"),
        compared(1000, 250, load=0.9),
        processors={0.7: 153, 0.9: 128},
    )
    assert found.verdict == (
        "Do not use it for waits under first come first served at load 0.9 (mean wait 2.3, 95th percentile 2 times the "
        "log's); waits under EASY at load 0.9 (mean wait 0.25 times the log's). 1 of 4 waits are within a factor 1.5 "
        "of the log's."
    )
    assert found.as_json()["verdict"] == "far"


def test_what_is_said_of_one_that_is_near():
    found = judgement(compared(1000, 1100, 900), compared(5, 6, policy="batch-system"))
    assert found.verdict == (
        "Waits under EASY and first come first served at loads 0.7 are within a factor 1.5 of the log's: mean and "
        "95th percentile, median of 2 draws."
    )
    assert found.as_json()["verdict"] == "near"
    assert found.as_json()["not_for"] == []


def test_the_lines_of_the_head():
    each = [
        compared(wait, 3 * wait, 4 * wait, load=load, policy=policy, measure=measure, shuffled=[wait, 2 * wait, wait])
        for wait in (38_629_620.75, 12_345.678)
        for load in (0.5, 0.9)
        for policy in ("batch-system", "easy")
        for measure in ("mean_wait_ms", "p95_wait_ms")
    ]
    lines = judgement(*each, is_held_back=True, is_part=True, processors={0.5: 214, 0.9: 1200}).lines()
    assert "54,034 jobs that were held back (the first 6e+07 s)" in lines[1]
    assert "medians and quartiles of 2 draws; the load is offered to 214 at 0.5, 1,200 at 0.9 processors" in lines[1]
    table = lines[2:]
    assert table[0].split() == ["load", "policy", "wait", "[s]", "log", "shuffled", "fitted", "quartiles", "ratio"]
    assert len(table) == 1 + 16
    assert "easy 95th percentile 38,630 38,630 135,204 [125,546, 144,861] 3.50 !" in " ".join(table[4].split())
    # None is longer than a line of the head, which would be wrapped.
    assert max(map(len, table)) <= 98
    json.loads(to_json(judgement(*each).as_json()))


def test_without_shuffles_there_is_no_such_column():
    found = judgement(compared(100, 100))
    assert "shuffled" not in found.table()
    assert found.as_json()["waits"][0]["shuffled"] is None


def test_what_was_not_judged_says_why():
    found = NotJudged("--no-judge")
    assert found.lines() == ["Not judged by queueing (--no-judge): do not use it for waits."]
    assert found.as_json() == {"verdict": None, "words": found.verdict, "reason": "--no-judge"}


def test_large_ratios_are_written_in_full():
    assert "mean wait 180 times" in judgement(compared(1000, 183_000)).verdict
    assert "mean wait 1,200 times" in judgement(compared(1000, 1_234_000)).verdict

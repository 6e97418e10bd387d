"""What a plan says, of searches and crossings made by hand: both forms of every note, cell and sentence."""

from __future__ import annotations

import math

import pytest
from support import scenario
from test_planning import BELOW_3, searched

from cluster_abm.cli.studies.plan import _print_plan
from cluster_abm.study.planning.bracketing import Crossing, KeyRange
from cluster_abm.study.planning.needs import Need, judged
from cluster_abm.study.planning.plan import Planned, PlanningQuestion
from cluster_abm.study.statistics.estimates import Estimate

SURE, WIDE = Estimate(1.0, (0.9, 1.1)), 1.0


def humped(better_high, doomed=()):
    """Kept from 18 to 39 alone, surely. Elsewhere 3 is missed by some tenths +- 1, or at some values by 1 +- .1."""

    def value(at):
        if 18 <= at < 40:
            return SURE
        if at in doomed:
            return Estimate(4.0, (3.9, 4.1))
        mean = 3.3 - at / 1000 if better_high else 3.3 + at / 1000
        return Estimate(mean, (mean - WIDE, mean + WIDE))

    return value


@pytest.mark.parametrize(("better_high", "doomed", "crossing", "note"), [
    (True, (), 18, "not monotone (not kept at 64; within noise: more seeds tell)"),
    (True, (64,), 18, "not monotone (not kept at 64; by more than noise)"),
    (False, (), 39, "not monotone (not kept at 1, not kept at 3, not kept at 8; within noise: more seeds tell)"),
    # One of several is enough.
    (False, (8,), 39, "not monotone (not kept at 1, not kept at 3, not kept at 8; by more than noise)"),
])  # fmt: skip
def test_whether_a_curve_that_is_not_monotone_may_be_noise(better_high, doomed, crossing, note):
    """The ends 1 and 64 are run first, and as neither is kept 8, 3 and 23."""
    # At 64 the mean of a doomed value is worse than at 1: the side would turn round.
    value = humped(better_high, doomed)
    if doomed == (64,):
        first = value

        def value(at):
            return Estimate(4.1, (4.0, 4.2)) if at < 18 else first(at)

    found, _ = searched(KeyRange(1.0, 64.0, True), value)
    assert (found.side, found.value) == ("least" if better_high else "most", crossing)
    assert found.note == note


@pytest.mark.parametrize(("arm", "doubt"), [(0.5, "within noise: more seeds tell"), (0.01, "by more than noise")])
def test_what_is_kept_where_it_should_not_be_is_named_too(arm, doubt):
    """Kept from 10 on, and by 8 and 9 perhaps. So the end of the interval is looked for below: 3 is run, and kept."""

    def value(at):
        if at >= 10:
            return SURE
        return {
            3: Estimate(2.9, (2.9 - arm, 2.9 + arm)),
            8: Estimate(3.1, (2.6, 3.6)),
            9: Estimate(3.1, (2.6, 3.6)),
        }.get(at, Estimate(5.0, (4.9, 5.1)))

    found, _ = searched(KeyRange(1.0, 64.0, True), value)
    assert (found.value, found.low, found.note) == (10.0, 3.0, f"not monotone (kept at 3; {doubt})")


def test_jobs_that_did_not_finish_at_the_value_are_told():
    need = Need("mean_slowdown", "<=", 3.0)
    found, _ = searched(KeyRange(1.0, 64.0, True), lambda n: 30.0 / n, need, unfinished=2.5)
    assert found.note == "2.5 jobs did not finish there, and metrics of jobs count those that did"
    assert searched(KeyRange(1.0, 64.0, True), lambda n: 30.0 / n, need)[0].note == ""


@pytest.mark.parametrize(("axis", "value", "note"), [
    (KeyRange(2.0, 64.0, True, 8.0), lambda n: 1.0 + n / 100, "kept at the end of the range already (64)"),
    (KeyRange(2.0, 64.0, True, 8.0), lambda n: 4.0 + n / 100, "not met down to 2"),
    (KeyRange(2.0, 64.0, True, 8.0), lambda n: 4.0 - n / 100, "not met up to 64"),
    (KeyRange(2.0, 64.0, True), lambda n: 4.0 - n / 100, "not met at any value that was tried from 2 to 64"),
    (KeyRange(2.0, 64.0, True, 8.0), lambda n: 1.0,
     "kept from 2 to 64 alike: the key changes nothing that is asked about"),
    (KeyRange(2.0, 64.0, True, 8.0), lambda n: math.nan,
     "not kept from 2 to 64 alike: the key changes nothing that is asked about"),
])  # fmt: skip
def test_notes_on_the_ends_of_the_range(axis, value, note):
    assert searched(axis, value)[0].note == note


# ---- what is printed and kept ----


def point(at, mean, arm=None, one_sample=False):
    ends = None if arm is None else (mean - arm, mean + arm)
    return judged([BELOW_3], at, {"p95_slowdown": Estimate(mean, ends)}, one_sample=one_sample)


def planned(crossings, **asked):
    given = {"needs": ("p95_slowdown<=3",), "key": "cluster.nodes", "policies": tuple(crossings), "low": 1, "high": 64}
    return Planned(PlanningQuestion(scenario(), **given | {"seeds": 4} | asked), crossings, runs=10, made=10)


def last_rows(text, count):
    """The last rows of a printed table, with one blank between cells."""
    return [" ".join(line.split()) for line in text.rstrip().splitlines()[-count:]]


AT_10, AT_9, AT_64 = point(10.0, 2.9, 0.25), point(9.0, 3.25, 0.25), point(64.0, 4.5, 0.5)


@pytest.mark.parametrize(("low", "high", "cell", "ends"), [
    (9.0, 12.0, "[9, 12]", [9, 12]), (None, 12.0, "[below 1, 12]", [None, 12]),
    (9.0, None, "[9, above 64]", [9, None]), (None, None, "", [None, None]),
])  # fmt: skip
def test_an_interval_of_the_key_may_go_on_beyond_the_range(low, high, cell, ends, capsys):
    found = planned({"none": Crossing("least", 10.0, low, high, (AT_9, AT_10))})
    _print_plan(found)
    (row,) = last_rows(capsys.readouterr().out, 1)
    assert row == " ".join(f"none at least 10 {cell} 2.9 [2.65, 3.15] 3.25 [3, 3.5] at 9".split())
    of_policy = found.as_json()["policies"]["none"]
    assert of_policy["ci95"] == ends
    assert of_policy["kept"] == {"value": 10, "p95_slowdown": {"mean": 2.9, "ci95": [2.65, 3.15]}}
    assert of_policy["not_kept"]["value"] == 9
    assert (of_policy["value"], of_policy["side"], of_policy["note"]) == (10, "least", "")


def test_the_heads_of_several_seeds_and_of_one_sample(capsys):
    several = planned({"none": Crossing("most", 10.0, 9.0, 12.0, (AT_10,), "a note")})
    _print_plan(several)
    told = capsys.readouterr().out
    assert told.startswith("test: cluster.nodes at which p95_slowdown<=3, in the mean over 4 seeds\n")
    assert "the same jobs for every value and policy; intervals at 95 %\n" in told
    assert "at most 10" in told
    assert told.endswith("\nnone: a note\n")
    alike = (point(9.0, 3.25, 0.0, True), point(10.0, 2.9, 0.0, True))
    one = planned({"none": Crossing("least", 10.0, 10.0, 10.0, alike)})
    _print_plan(one)
    told = capsys.readouterr().out
    assert "one sample: 4 seeds give the same runs\n" in told
    assert "; no intervals\n" in told
    assert last_rows(told, 1) == ["none at least 10 2.9 3.25 at 9"]
    document = one.as_json()
    assert (document["replications"], several.as_json()["replications"]) == (1, 4)
    assert document["policies"]["none"]["ci95"] is None
    assert document["policies"]["none"]["kept"]["p95_slowdown"] == {"mean": 2.9, "ci95": None}


def test_a_policy_that_never_keeps_the_needs_is_shown_at_its_best(capsys):
    never = Crossing("least", None, None, None, (point(1.0, 9.0, 0.5), AT_64), "not met up to 64")
    found = planned({"none": never, "jsq": Crossing("least", 10.0, 10.0, 10.0, (AT_10,))})
    _print_plan(found)
    assert last_rows(capsys.readouterr().out.partition("\n\nnone: not met")[0], 2) == [
        "none none 4.5 [4, 5] at 64", "jsq at least 10 [10, 10] 2.9 [2.65, 3.15]",
    ]  # fmt: skip
    assert found.values == {"none": None, "jsq": 10}
    assert repr(found) == "<Planned cluster.nodes at which p95_slowdown<=3: none none, jsq 10>"
    of_policy = found.as_json()["policies"]["none"]
    assert (of_policy["value"], of_policy["kept"], of_policy["not_kept"]) == (None, None, None)


def test_a_plan_whose_runs_finished_no_job_is_drawn_all_the_same():
    nothing = tuple(point(at, math.nan, math.nan) for at in (8.0, 16.0))
    none = Crossing(None, None, None, None, nothing, "a note")
    figure = planned({"none": none}).plot()
    assert "none (no number)" in [text.get_text() for text in figure.legends[0].get_texts()]
    both = planned({"none": none, "jsq": Crossing("least", 10.0, 10.0, 10.0, (AT_9, AT_10))}).plot()
    assert {"none (no number)", "jsq"} <= {text.get_text() for text in both.legends[0].get_texts()}


def test_every_column_of_the_points():
    unfinished = judged([BELOW_3], 9.0, {"p95_slowdown": Estimate(3.25, None)}, 1.5)
    table = planned({"none": Crossing("least", 10.0, 10.0, 10.0, (unfinished, AT_10))}).frame()
    assert table.to_dict(orient="list") == {
        "policy": ["none", "none"], "cluster.nodes": [9, 10], "p95_slowdown": [3.25, 2.9],
        "p95_slowdown low": pytest.approx([math.nan, 2.65], nan_ok=True),
        "p95_slowdown high": pytest.approx([math.nan, 3.15], nan_ok=True),
        "kept": [False, True], "jobs unfinished": [1.5, 0.0],
    }  # fmt: skip


def test_values_between_whole_numbers_stay_what_they_are():
    crossing = Crossing("most", 0.625, 0.5, None, (point(0.625, 2.0, 0.1),))
    found = planned({"none": crossing}, key="workload.utilisation", low=0.1, high=0.9)
    assert found.values == {"none": 0.625}
    assert found.as_json()["policies"]["none"]["ci95"] == [0.5, None]
    assert found.as_json()["range"] == [0.1, 0.9]

"""What a reproduction says, of points made by hand: both forms of each sentence, of claims that hold and that fail."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cluster_abm.cli.reproduce import _print_reproduction
from cluster_abm.study.papers.claims import check_claim
from cluster_abm.study.papers.drawing import measured_words
from cluster_abm.study.papers.plan import Claim, Number, load_plan
from cluster_abm.study.papers.points import Point
from cluster_abm.study.papers.reproduction import Reproduction
from cluster_abm.study.runner.tasks import RunsOutcome
from cluster_abm.study.statistics.estimates import Estimate

PLAN = load_plan("iolb-table-1")
# At two of its ten points: clb and mlb 10 and 20, iolb 5 and 10.
CURVES = {"clb": (10.0, 20.0), "mlb": (10.0, 20.0), "iolb": (5.0, 10.0)}
ROW = {"x": 1.0}


def reproduction(
    published=1.0, seeds=PLAN.seeds, curves=CURVES, outcome=(ROW,) * 3, plan=PLAN, interrupted=False, **more
):
    """`published`: over what is measured; None: nothing was. Each value comes from two seeds that agree."""
    points = tuple(
        Point(x, name, None if published is None else published * value, (value, value))
        for name, values in curves.items() for x, value in zip((0.8, 1.25), values, strict=True)
    )  # fmt: skip
    given = {"quick": False, "axis_points": 10} | more
    return Reproduction(plan, seeds, points, RunsOutcome(list(outcome), interrupted=interrupted), **given)


@pytest.mark.slow
@pytest.mark.parametrize(("found", "verdict", "errors"), [
    (reproduction(), "reproduced", 0.0),
    # 1/0.9 is 11 % above: more than clb's 10, and 1/0.95 5 %.
    (reproduction(0.95), "reproduced", 100 / 19), (reproduction(0.9), "shape", 100 / 9),
    (reproduction(plan=PLAN.model_copy(update={"mape_percent": {}}), published=None), "shape", None),
    (reproduction(curves=CURVES | {"iolb": (10.0, 30.0)}), "not reproduced", 0.0),
    (reproduction(curves={"clb": CURVES["clb"], "iolb": CURVES["iolb"]}), "not reproduced", 0.0),
])  # fmt: skip
def test_a_verdict(found, verdict, errors):
    assert found.verdict == found.verdict_words == verdict
    assert found.verdict_explained.startswith(f"{verdict} (")
    assert found.mape_percent().get("clb") == (None if errors is None else pytest.approx(errors, abs=1e-9))


@pytest.mark.slow
@pytest.mark.parametrize(("found", "left_out", "words"), [
    (reproduction(quick=True), "8 of 10 points", "smoke run: no verdict"),
    (reproduction(quick=True, axis_points=2, seeds=2), "30 of 32 seeds", "smoke run: no verdict"),
    (reproduction(quick=True, seeds=2), "30 of 32 seeds, 8 of 10 points", "smoke run: no verdict"),
    (reproduction(outcome=(ROW, None, ROW), interrupted=True), "1 of 3 runs", "interrupted: no verdict"),
    # Interrupted at its very end, a smoke run of everything, fewer seeds by the user's will.
    (reproduction(interrupted=True), "", "reproduced"), (reproduction(quick=True, axis_points=2), "", "reproduced"),
    (reproduction(seeds=2), "", "reproduced"),
])  # fmt: skip
def test_what_was_left_out_leaves_no_verdict(found, left_out, words):
    assert (found.left_out, found.verdict_words) == (left_out, words)
    assert (found.verdict is None) == bool(left_out)
    what = "interrupted" if found.outcome.interrupted else "a smoke run"
    said = f"{what} has no verdict: left out {left_out}"
    assert (said in found.notes.splitlines()) == bool(left_out)
    assert ("has no verdict" in found.notes) == bool(left_out)


def test_notes():
    notes = reproduction().notes.splitlines()
    assert notes[0] == PLAN.notes
    assert notes[1] == "holds: iolb/clb = 0.5 [0.5, 0.5] in the geometric mean over all points"
    assert len(notes) == 1 + len(PLAN.claim)
    fewer = reproduction(seeds=1, curves=CURVES | {"iolb": (20.0, 10.0)}).notes.splitlines()
    assert fewer[1] == "FAILS: iolb/clb = 1 [1, 1] in the geometric mean over all points"
    assert fewer[-1] == "from 1 seed; the plan asks for 32"


@pytest.mark.parametrize(("overrides", "words"), [
    ({}, "4 seeds"), ({"cluster.nodes": 8}, "4 seeds, with cluster.nodes=8"),
    ({"workload.kind": "trace", "workload.trace.file": "a/b.csv"}, "4 seeds, with trace b.csv"),
    ({"workload.kind": "synthetic"}, "4 seeds, with workload.kind=synthetic"),
])  # fmt: skip
def test_what_was_laid_over_stands_beside_the_seeds(overrides, words):
    found = reproduction(seeds=4, overrides=overrides)
    assert found.seeds_words == words
    assert ("this is not the paper's own scenario" in found.notes) == bool(overrides)
    assert reproduction(seeds=1).seeds_words == "1 seed"


@pytest.mark.slow
def test_every_column_of_the_rows():
    found = reproduction(0.5).rows
    # Two numbers of the text follow: iolb is 50 % below clb at both points; published are 15.1 and 24.2 %.
    assert found["x"].tolist() == [0.8, 1.25] * 3 + ["IOLB below CLB from", "IOLB below CLB to"]
    assert found["series"].tolist() == ["clb", "clb", "mlb", "mlb", "iolb", "iolb"] + ["clb / iolb"] * 2
    assert found["published"].tolist() == [5.0, 10.0, 5.0, 10.0, 2.5, 5.0, 15.1, 24.2]
    for name in ("measured", "low", "high"):
        assert found[name].tolist() == [10.0, 20.0, 10.0, 20.0, 5.0, 10.0, 50.0, 50.0]
    of_one = Reproduction(PLAN, 1, (Point(0.8, "clb", None, (7.0, math.nan)),), RunsOutcome([ROW]), False)
    row = of_one.rows.to_dict(orient="records")[0]
    assert (row["measured"], math.isnan(row["published"]), math.isnan(row["low"])) == (7.0, True, True)
    assert of_one.as_json()["rows"][0] == {"x": 0.8, "series": "clb", "published": None, "measured": 7.0, "ci95": None}


@pytest.mark.parametrize(("found", "words"), [
    (None, "not measured"), (Estimate(2.0, None), "2"), (Estimate(2.0, (1.0, 3.5)), "2 [1, 3.5]"),
])  # fmt: skip
def test_a_measured_number(found, words):
    assert measured_words(found) == words


@pytest.mark.slow
def test_what_is_printed(capsys):
    _print_reproduction(reproduction(0.95))
    text = capsys.readouterr().out
    assert text.startswith("IOLB, Table 1: Mean slowdown of parallel jobs under I/O-intensive work. ")
    assert "published | measured [95 % interval], 32 seeds\n" in text
    assert "9.5 | 10 [10, 10]" in text
    lines = [line.strip() for line in text.splitlines()]
    # Rows begin with what they are about, and have no numbers of their own.
    assert lines[lines.index("") + 2].startswith("0.8 ")
    assert "mean absolute percentage error: clb 5.3 %, mlb 5.3 %, iolb 5.3 %" in text
    assert "verdict: reproduced (every claim holds, and the numbers are near the published ones)" in text
    _print_reproduction(reproduction(None, quick=True, plan=PLAN.model_copy(update={"published": ""})))
    text = capsys.readouterr().out
    assert "published | " not in text
    assert "mean absolute percentage error" not in text
    assert "verdict: smoke run: no verdict\n" in text


@pytest.mark.slow
def test_numbers_that_the_paper_says_are_printed_beside_the_measured_ones(capsys):
    claim = load_plan("wal-pm-fig2").number[0].claim
    number = Number(claim=claim, statistic="largest ratio", old=("clb",), new=("iolb",))
    _print_reproduction(reproduction(plan=PLAN.model_copy(update={"name": "wal-pm-mine", "number": (number,)})))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    (head,) = [place for place, line in enumerate(lines) if line[:3] == ["the", "paper", "says"]]
    # clb is twice iolb at both points, of both seeds.
    assert " ".join(lines[head + 1]).startswith(f"{claim} [")
    assert lines[head + 1][-3:] == ["2", "[2,", "2]"]


# ---- claims ----


def told(claim, **curves):
    """The sentence: of curves at the points 1, 2, ..., one value or a list of seeds each."""
    tables = {
        name: np.array(values, float).reshape(len(values), -1 if values else 0) for name, values in curves.items()
    }
    return check_claim(claim, lambda name: ([float(x + 1) for x in range(len(tables[name]))], tables[name]))


@pytest.mark.parametrize(("kind", "curves", "text"), [
    ({"kind": "rising", "a": "a"}, {"a": [1, 2, 3]}, "a rises, 1 to 3 (rank correlation 1.00)"),
    ({"kind": "falling", "a": "a"}, {"a": [3, 2, 1]}, "a falls, 3 to 1 (rank correlation -1.00)"),
    ({"kind": "below", "a": "a", "b": "b"}, {"a": [1, 3], "b": [2, 2]}, "a below b at 1 of 2 points (ratio 0.5..1.5)"),
    # Exactly as large is not below.
    ({"kind": "below", "a": "a", "b": "b"}, {"a": [1, 2], "b": [2, 2]}, "a below b at 1 of 2 points (ratio 0.5..1)"),
    ({"kind": "within", "a": "a", "b": "b", "percent": 5}, {"a": [1, 2.2], "b": [1, 2]},
     "a within 5 % of b (worst 10.0 %)"),
    ({"kind": "below", "a": "a", "b": "b"}, {"a": [], "b": []}, "a: nothing measured"),
    ({"kind": "below", "a": "a", "b": "b"}, {"a": [1], "b": [1, 2]}, "a and b: not measured at the same points"),
    ({"kind": "minimum", "a": "a", "at": (3.0,)}, {"a": [1, 2]}, "a: not measured at the points"),
    ({"kind": "steepest", "a": "a", "at": (1.0, 2.0)}, {"a": [1]}, "a: not measured at the points"),
    ({"kind": "steepest", "a": "a", "at": (1.0, 2.0)}, {"a": [1, 2, 5]},
     "a rises most from 1.0 to 2.0 (found from 2.0 to 3.0, by 3)"),
    ({"kind": "better", "a": "a", "b": "b"}, {"a": [[1]], "b": [[2]]},
     "a/b = 0.5 in the geometric mean over all points"),
    ({"kind": "better", "a": "a", "b": "b"}, {"a": [[1, 2]], "b": [[2, 4]]},
     "a/b = 0.5 [0.5, 0.5] in the geometric mean over all points"),
    ({"kind": "better", "a": "a", "b": "b"}, {"a": [[1, 2]], "b": [[2]]}, "a and b: not the same seeds finished"),
    ({"kind": "equal", "a": "a", "b": "b", "percent": 5}, {"a": [[1]], "b": [[2]]},
     "a/b = 0.5 in the geometric mean over all points (within 5 %)"),
    ({"kind": "widens", "a": "a", "b": "b"}, {"a": [[1], [1]], "b": [[2], [3]]}, "b/a from 2 at 1 to 3 at 2"),
])  # fmt: skip
def test_a_claim_in_words(kind, curves, text):
    assert told(Claim(**kind), **curves)[0] == text


def test_exactly_at_the_percentage_a_claim_still_holds():
    within, equal, flat = (Claim(kind=kind, a="a", b="b", percent=50) for kind in ("within", "equal", "flat"))
    assert told(within, a=[1.5], b=[1.0])[1]
    assert told(equal, a=[[1.5]], b=[[1.0]])[1]
    assert told(flat, a=[1.0, 3.0])[1]
    ratio = Claim(kind="ratio", a="a", b="b", minimum=2.0, maximum=3.0)
    assert told(ratio, a=[2.0, 3.0], b=[1.0, 1.0])[1]

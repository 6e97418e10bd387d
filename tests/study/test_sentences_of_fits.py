"""What `trace fit` says of policies on a log and on its scenario, and of distances, by numbers made by hand."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import pytest
from test_sentences_of_comparisons import comparison

from cluster_abm.cli.traces.fit import MOST_HOMES, _print_distances, _print_rankings
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.unused import keys_without_effect, reason_without_effect
from cluster_abm.study.fitting.distances import Distances, Pair
from cluster_abm.study.fitting.rankings import Rankings
from cluster_abm.study.fitting.writing import _what_else, _wrapped

# On the log b and c are better than a, and like each other. On the other side a is better than b, and c than both.
LOG = {"a": [3.0, 4.0, 5.0, 6.0], "b": [2.1, 2.9, 4.0, 5.0], "c": [2.0, 3.0, 4.1, 4.7]}
FITTED = {"a": [2.0, 3.0, 4.0, 5.0], "b": [3.1, 3.9, 5.0, 6.0], "c": [1.1, 1.9, 3.0, 4.0]}


@pytest.mark.slow
def test_whether_the_conclusions_are_the_same():
    """Of the orders a > b > c and b > a > c two pairs of three agree: (2 - 1)/3."""
    found = Rankings(comparison(LOG), comparison(FITTED))
    assert found.conclusions == [("a", "b", "b", "a"), ("a", "c", "c", "c"), ("b", "c", "", "c")]
    assert found.counts() == {"pairs": 3, "decided_on_log": 2, "decided_on_fitted": 3, "alike": 1, "opposite": 1}
    assert found.tau == pytest.approx(1 / 3)
    assert Rankings(comparison(FITTED), comparison(LOG)).counts()["decided_on_log"] == 3
    assert (found.as_json()["alike"], found.as_json()["tau"]) == (1, found.tau)
    alone = Rankings(comparison({"a": LOG["a"]}), comparison({"a": FITTED["a"]}))
    assert (alone.as_json()["tau"], alone.counts()["pairs"]) == (None, 0)


def test_what_is_printed_of_the_policies(capsys):
    _print_rankings(Rankings(comparison(LOG), comparison(FITTED)))
    text = capsys.readouterr().out
    rows = {line.split()[0]: line.split() for line in text.splitlines()[1:4]}
    # Mean, interval, place; on the log and on the scenario.
    assert {name: (row[1], row[4], row[5], row[8]) for name, row in rows.items()} == {
        "a": ("4.5", "3", "3.5", "2"), "b": ("3.5", "1-2", "4.5", "3"), "c": ("3.45", "1-2", "2.5", "1"),
    }  # fmt: skip
    assert "Kendall's tau of the two orders: 0.33. Of 3 pairs of policies 2 are decided on the log and 3 on the" in text
    assert "1 alike, 1 the other way round (ratios, paired t tests, Holm, 5 %)" in text
    _print_rankings(Rankings(comparison({"a": [4.0], "b": [2.0]}), comparison({"a": [4.0], "b": [2.0]})))
    # One seed: no interval.
    assert capsys.readouterr().out.splitlines()[1].split() == ["a", "4", "1-2", "4", "1-2"]


def printed(capsys, work_ms=1e6, **changes):
    pair = Pair(2.0, 3.0, 2.5, 3.5)
    given = {
        "seeds": (1, 2), "law": {"cpu_ms": 0.25}, "drawn": {"cpu_ms": 0.125}, "means": {"cpu_ms": 1.0},
        "dispersions": {60.0: pair}, "correlations": {"cpu_ms,io_per_ms": pair}, "repeats": {1: pair}, "homes": {},
        "homes_cpu": {}, "jobs": Pair(0.0, 3.0, 2.5, 3.5), "work": Pair(work_ms, 1.5e6, 1e6, 2e6),
    }  # fmt: skip
    log = SimpleNamespace(file="log.csv", jobs=SimpleNamespace(times_s=range(4000), window_s=86400.0))
    fitted = SimpleNamespace(scenario=SimpleNamespace(name="like-it"))
    _print_distances(log, fitted, Distances(**given | changes))
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_what_is_printed_of_distances(capsys):
    lines = printed(capsys)
    assert lines[0] == "log.csv: 4,000 jobs in 86,400 s"
    assert lines[1] == "model: like-it, 2 draws; least to largest of them in brackets"
    assert "cpu_ms 0.2500 0.1250 1.000000000" in lines
    for name in ("dispersion of counts over 60 s", "rank correlation of cpu_ms and io_per_ms",
                 "rank correlation of jobs 1 apart"):  # fmt: skip
        assert f"{name} 2 3 [2.5, 3.5] 1.50" in lines
    # Over 0 there is no ratio.
    assert "jobs 0 3 [2.5, 3.5]" in lines
    assert "CPU time of all tasks [ms] 1e+06 1.5e+06 [1e+06, 2e+06] 1.50" in lines
    assert not [line for line in printed(capsys, math.nan) if line.startswith("CPU time of all")]


def test_of_many_nodes_those_with_most_are_printed_in_their_order(capsys):
    """Of ten nodes, of which node 3 and node 5 have least."""
    shares = [0.1, 0.2, 0.3, 0.01, 0.1, 0.02, 0.1, 0.4, 0.1, 0.1]
    homes = {node: Pair(share, share, share, share) for node, share in enumerate(shares)}
    found = printed(capsys, homes=homes)
    named = [int(line.split()[6]) for line in found if line.startswith("share of the jobs at node")]
    assert named == [0, 1, 2, 4, 6, 7, 8, 9]
    assert len(named) == MOST_HOMES


@pytest.mark.parametrize(("last", "is_long"), [("0.12345", False), ("0.123456", True)])
def test_a_list_of_80_characters_has_lines_of_its_own(last, is_long):
    """Fourteen times "0.1, ", the last number, and two brackets: 79 characters with one of seven digits and point."""
    numbers = ["0.1"] * 14 + [last]
    written = _wrapped("shares = [\n" + "".join(f"    {number},\n" for number in numbers) + "]\n")
    row = ", ".join(numbers)
    assert written == (f"shares = [\n    {row},\n]\n" if is_long else f"shares = [{row}]\n")


BURSTS = {"kind": "multiscale", "scales_s": [10.0, 100.0], "variations": [0.5, 0.3]}
SESSIONS = {"workload.kind": "sessions", "workload.jobs_per_s": 0.5, "workload.duration_s": 172_800.0}
GROUP = {"jobs": {"mean": 3.0}, "work_s": {"mean": 1.0}}


@pytest.mark.parametrize(("keys", "named"), [
    ({}, {}),
    ({"workload.arrivals": BURSTS}, {"arrivals.kind": "poisson"}),
    ({"workload.repeats.share": 0.5}, {"repeats.share": 0.0}),
    (SESSIONS | {"workload.sessions.group": [GROUP | {"after_end": 0.0}]}, {}),
    (SESSIONS | {"workload.sessions.group": [GROUP | {"after_end": 0.5}]}, {"users": "react"}),
    (SESSIONS | {"workload.sessions.group": [GROUP | {"after_end": 0.0}], "workload.sessions.hold_back_s": 3600.0},
     {"sessions.hold_back_s": 0.0}),
])  # fmt: skip
def test_the_head_names_keys_that_change_something(keys, named):
    """Each key that is named can be set to the value that is said, and has an effect before."""
    plain = {"cluster.nodes": 4, "workload.utilisation": None, "workload.jobs_per_s": 0.5} | keys
    scenario = scenario_from({}, "it", plain)
    said = _what_else(scenario.workload)
    found = dict(re.findall(r'workload\.([a-z_.]+) = "?([a-z0-9]+)', said))
    assert found == {key: f"{value:g}" if isinstance(value, float) else value for key, value in named.items()}
    for key, value in named.items():
        assert reason_without_effect(f"workload.{key}", keys_without_effect(scenario)) is None
        assert scenario_from({}, "it", plain | {f"workload.{key}": value}) != scenario

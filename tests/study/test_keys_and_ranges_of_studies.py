"""Checks of studies without runs: policies that draw, unset keys, metrics, ranges of plans, and sensitivity reports."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from support import scenario

from cluster_abm import policies
from cluster_abm.study.design import unread
from cluster_abm.study.design.metrics import metric_problems
from cluster_abm.study.design.unset_keys import AS_IN_SCENARIO, _value
from cluster_abm.study.planning.fixing import with_fixed_jobs
from cluster_abm.study.planning.plan import PlanningQuestion
from cluster_abm.study.report.sensitivity_report import sensitivity_lines
from cluster_abm.study.statistics.sensitivity import Analysis
from cluster_abm.workload import with_bound

# ---- policies that draw random numbers ----

SOURCES = """
from cluster_abm.policy.view import View
from os import path as x

class Plain: pass
class Named(Plain):
    def place(self, task, view): return Plain, x, View
class Draws:
    def place(self, task, view): return view.uniform()
def pick(view): return view.draw_nodes(1)
def second_hand(view): return pick(view)
class ThirdHand:
    def place(self, task, view): return second_hand(view), Plain
OBJECT = Draws()
class ByAnObject:
    def place(self, task, view): return OBJECT.place(task, view)
# These name each other.
class One:
    def place(self, task, view): return Other
class Other:
    def place(self, task, view): return One
"""


@pytest.mark.parametrize(("names", "never"), [
    (["Plain"], True), (["Named"], True), (["Draws"], False), (["pick"], False), (["ThirdHand"], False),
    (["ByAnObject"], False), (["One"], True), (["Plain", "Draws"], False), (["Draws", "Plain"], False), ([], True),
])  # fmt: skip
def test_a_policy_draws_if_something_that_its_code_names_draws(names, never, tmp_path, monkeypatch):
    (tmp_path / "of_a_test.py").write_text(SOURCES)
    monkeypatch.setattr(policies, "__path__", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "cluster_abm.policies.of_a_test", raising=False)
    module = importlib.import_module("cluster_abm.policies.of_a_test")
    assert unread._never_draw(tuple(getattr(module, name) for name in names)) is never


@pytest.mark.parametrize(("key", "left"), [
    ("a.b", {"a": {"c": [1, 2]}, "d": 3}), ("d", {"a": {"b": 1, "c": [1, 2]}}), ("a", {"d": 3}),
    # A dropped entry of a list leaves None. A key that does not exist drops nothing.
    ("a.c.1", {"a": {"b": 1, "c": [1, None]}, "d": 3}), ("a.c.2", {"a": {"b": 1, "c": [1, 2]}, "d": 3}),
    ("x.y.z", {"a": {"b": 1, "c": [1, 2]}, "d": 3}), ("a.c.2.x", {"a": {"b": 1, "c": [1, 2]}, "d": 3}),
    ("d.x", {"a": {"b": 1, "c": [1, 2]}, "d": 3}),
])  # fmt: skip
def test_a_key_is_dropped_from_tables(key, left):
    tables = {"a": {"b": 1, "c": [1, 2]}, "d": 3}
    unread.drop(tables, key)
    assert tables == left


# ---- keys and metrics ----


@pytest.mark.parametrize(("key", "value"), [
    ("a.b", 1), ("a.t", "word"), ("a.f", False), ("a", AS_IN_SCENARIO), ("a.c", AS_IN_SCENARIO),
    ("a.b.c", AS_IN_SCENARIO), ("a.l", AS_IN_SCENARIO), ("x.y", AS_IN_SCENARIO),
])  # fmt: skip
def test_the_value_of_a_key_that_a_point_does_not_set(key, value):
    assert _value({"a": {"b": 1, "t": "word", "f": False, "l": [1]}}, key) == value


def problems(given, **more):
    study = {"file": "s.toml", "precision_metric": "mean_slowdown", "measure": (), "precision": None} | more
    return metric_problems(SimpleNamespace(**study), given)


ALL, SOME = {"mean_slowdown", "page_faults"}, {"page_faults"}


def test_unknown_metrics_are_named_once_with_their_field():
    given = {(0, "none"): ALL, (1, "none"): SOME}
    assert problems(given) == []
    assert problems(given, measure=("page_faults", "mean_slowdown")) == []
    (line,) = problems(given, measure=("page_fault", "page_fault", "page_faults"))
    assert line.startswith("s.toml: measure = 'page_fault': no such metric; did you mean 'page_faults'")
    (line,) = problems(given, precision_metric="mean_slowdwn")
    assert line.startswith("s.toml: precision_metric = 'mean_slowdwn': no such metric")
    # Without known runs no metric is reported.
    assert problems({}, measure=("page_fault",)) == []


@pytest.mark.parametrize(("lacking", "more"), [(1, ""), (3, ", nor have those of 2 more")])
def test_precision_needs_a_metric_that_all_runs_have(lacking, more):
    given = {(0, "none"): ALL} | {(4 + place, "jsq"): SOME for place in range(lacking)}
    assert problems(given, precision=0.05) == [
        "s.toml: precision_metric = 'mean_slowdown': runs of point 4 under 'jsq' have no such metric"
        f"{more}; one is needed that all have"
    ]
    assert problems({(0, "none"): ALL}, precision=0.05) == []
    assert problems(given) == []


# ---- plans ----


@pytest.mark.parametrize(("allowed", "whole", "start", "end", "found"), [
    # Bisection finds the last allowed whole number, or the last allowed value of four digits.
    (lambda value: value <= 37, True, 4.0, 128.0, 37.0), (lambda value: value <= 128, True, 4.0, 128.0, 128.0),
    (lambda value: value <= 4, True, 4.0, 128.0, 4.0), (lambda value: value >= 3, True, 40.0, 1.25, 3.0),
    (lambda value: value >= 1, True, 16.0, 0.5, 1.0),
    (lambda value: value <= 0.98765, False, 0.5, 16.0, 0.9876), (lambda value: value <= 16, False, 0.5, 16.0, 16.0),
    (lambda value: value >= 0.1, False, 0.5, 0.015625, 0.1),
])  # fmt: skip
def test_a_range_goes_as_far_as_the_scenario_allows(allowed, whole, start, end, found):
    asked = SimpleNamespace(_said=lambda: int(start) if whole else start, _allows=lambda value, _: allowed(value))
    assert PlanningQuestion._furthest(asked, start, end) == found


def test_a_load_becomes_a_rate_of_jobs_before_the_nodes_are_varied():
    """A load of 0.5 on four nodes with one core each is 2 s of work per second: ten jobs of 200 ms."""
    base = scenario(workload__utilisation=0.5, workload__cpu_ms={"kind": "fixed", "mean": 200.0})
    found = with_fixed_jobs(base, "cluster.nodes")
    assert found.notes == ("workload.utilisation = 0.5 is 10 jobs per second, whatever cluster.nodes",)
    assert (found.scenario.workload.utilisation, found.scenario.workload.jobs_per_s) == (None, pytest.approx(10.0))
    # If the load itself is varied, it is not fixed.
    assert with_fixed_jobs(base, "workload.utilisation") == (with_bound(base), ())


def test_an_application_keeps_the_jobs_of_the_scenarios_own_cluster():
    base = scenario(workload__application__name="dmine")
    found = with_fixed_jobs(base, "cluster.memory_mb")
    assert found.notes[0] == "workload.application dmine: its jobs are those of the scenario's own cluster"
    assert found.scenario.workload.application.name == "none"
    kept = with_fixed_jobs(base, "workload.tasks.parallel_share")
    assert kept.scenario.workload.application.name == "dmine"


# ---- reports on sensitivity ----


def test_the_lines_of_a_report_on_sensitivity(tmp_path):
    rows = [
        ("mean_slowdown", "jsq", "cluster.nodes", "total", 0.75, 0.5, 1.0),
        ("mean_slowdown", "jsq", "cluster.nodes", "first_order", 0.5, 0.25, 0.75),
        ("mean_slowdown", "jsq", "cluster.cores", "total", 0.25, 0.125, 0.375),
        ("mean_slowdown", "jsq", "cluster.cores", "first_order", 0.0, -0.125, 0.125),
    ]
    table = pd.DataFrame(rows, columns=["metric", "policy", "factor", "index", "value", "low", "high"])
    pictures = [tmp_path / "sensitivity-mean_slowdown.png", tmp_path / "sensitivity-other.png"]
    lines = sensitivity_lines(Analysis("sobol", table, ("`none`: no variance",)), pictures)
    assert lines[:4] == ["## What matters", "", "**No sensitivity indices.** `none`: no variance.", ""]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert cells[0] == ["policy", "factor", "total", "first order"]
    assert [row[0] for row in cells[2:]] == ["`jsq`", "`jsq`"]
    assert [row[2:] for row in cells[2:]] == [
        ["0.75 [0.5, 1]", "0.5 [0.25, 0.75]"], ["0.25 [0.125, 0.375]", "0 [-0.125, 0.125]"]
    ]  # fmt: skip
    shown = [line for line in lines if line.startswith("!")]
    assert len(shown) == 1
    assert "sensitivity-mean_slowdown.png" in shown[0]

"""Whatever a caller in Python gives in an argument's place is taken, or is bad input, named."""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import busy, scenario

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.study import asking, batch, compare
from cluster_abm.study.papers import reproduce
from cluster_abm.study.papers.plan import load_plan
from cluster_abm.study.papers.points import Point
from cluster_abm.study.papers.reproduction import Reproduction
from cluster_abm.study.runner.tasks import RunsOutcome


class Odd:
    """An object whose words have its address in them."""


class Unwritable:
    """An object that cannot be written."""

    def __repr__(self):
        raise ZeroDivisionError


ODD = [
    None, True, 3, -1, 0, 2.5, math.nan, math.inf, -math.inf, 10**400, "x", "", "\0", "\ud800", b"x", [], [None], ["x"],
    {}, {"a": 1}, {3: 4}, (1, 2), Odd(), Odd, Unwritable(), len, np.int64(2), np.array([1.0, 2.0]), Path("nowhere"),
    pd.DataFrame(), 1j, range(3), {1, 2},
]  # fmt: skip
SHORT = busy(workload__duration_s=3.0)
FREE = {"quiet", "where", "slurm", "dask"}


class Reached(Exception):
    """All arguments were taken: what follows are runs."""


@pytest.fixture
def no_runs(monkeypatch):
    def reached(*_, **__):
        raise Reached

    monkeypatch.setattr(compare, "run_all", reached)
    monkeypatch.setattr(reproduce, "run_all", reached)
    monkeypatch.setattr(asking, "counted_runs", reached)
    monkeypatch.setattr(batch, "expand", reached)


def base_of(name, folder):
    """A call that is right."""
    study = ca.Study(scenario="quickstart", policies=("none",))
    return {
        "ClusterModel": {"scenario": scenario(**SHORT)},
        "compare": {"scenario": scenario(**SHORT), "policies": ["none", "jsq"]},
        "load_scenario": {"source": "quickstart"},
        "load_study": {"source": "quick-study"},
        "load_results": {"folder": folder},
        "reproduce": {"name": "iolb-table-1", "quick": True},
        "plan": {"scenario": scenario(**SHORT), "need": "p95_slowdown<=3", "over": "cluster.nodes"},
        "run_batch": {"study": study, "out": folder},
        "register": {"policy": None},
        "list_keys": {},
    }[name]


def judge(named, function, **given):
    """It is taken, or what is wrong is said in words without an address."""
    said = "taken"
    try:
        function(**given)
    except Reached:
        pass
    except InputError as problem:
        said = str(problem)
    except Exception as problem:
        said = ""
        named = f"{named}: {type(problem).__name__}: {problem}"
    assert said, named
    assert "0x" not in said, named
    assert len(said) < 3000, named


CALLS = [
    (name, parameter)
    for name in (
        "ClusterModel", "compare", "load_scenario", "load_study", "load_results", "reproduce", "plan", "run_batch",
        "register", "list_keys",
    )
    for parameter in inspect.signature(getattr(ca, name)).parameters
    if parameter not in ("kwargs", "keywords")
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameter"), CALLS)
def test_of_a_function(name, parameter, no_runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = getattr(ca, name)
    for place, value in enumerate(ODD):
        given = base_of(name, tmp_path / str(place)) | {parameter: value}
        judge(f"{name}({parameter}={type(value).__name__} number {place})", function, **given)
    assert {path.name for path in tmp_path.iterdir()} <= {*map(str, range(len(ODD))), "x", "nowhere"}


KEYWORDS = ["cluster__nodes", "workload__trace__file", "policy__name", "compare__policies", "cluster", "zeta", "a__b"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ClusterModel", "compare", "load_scenario", "reproduce", "plan"])
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_of_a_key(name, keyword, no_runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = getattr(ca, name)
    for place, value in enumerate(ODD):
        given = base_of(name, tmp_path) | {keyword: value}
        judge(f"{name}({keyword}={type(value).__name__} number {place})", function, **given)
        by_dots = base_of(name, tmp_path) | {"overrides": {keyword.replace("__", "."): value}}
        judge(f"{name}(overrides={keyword}: number {place})", function, **by_dots)


def finished():
    outcome = RunsOutcome([{}])
    runs = pd.DataFrame([{"policy": name, "seed": 1, "mean_slowdown": 1.0} for name in ("none", "jsq")])
    drawn = load_plan("iolb-table-1")
    return {
        "model": ca.ClusterModel(scenario(**SHORT)),
        "comparison": ca.Comparison(scenario(**SHORT), ("none", "jsq"), (1,), runs, outcome),
        "reproduction": Reproduction(drawn, 1, (Point(0.8, "clb", 62.0, (60.0,)),), outcome, True),
    }


METHODS = {
    "model": ["run", "records_of", "true_loads", "view_of", "plot"],
    "comparison": ["values", "estimate", "estimates", "differences", "pairs", "gap_closed", "best"],
    "reproduction": ["curve", "plot"],
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), [(name, one) for name, several in METHODS.items() for one in several])
def test_of_a_method(name, method):
    made = finished()[name]
    function = getattr(made, method)
    right = {"policy": "none", "metric": "mean_slowdown", "job": 0, "node": 0, "manager": None, "series": "clb"}
    for parameter in inspect.signature(function).parameters:
        for place, value in enumerate(ODD):
            given = {one: right[one] for one in inspect.signature(function).parameters if one in right}
            judge(f"{name}.{method}({parameter}= number {place})", function, **given | {parameter: value})


@pytest.mark.parametrize("until_ms", [math.nan, math.inf, -1.0, "9", b"9", 1j, Odd()])
def test_a_run_ends_at_a_finite_time(until_ms):
    model = ca.ClusterModel(scenario(**SHORT))
    with pytest.raises(InputError, match=r"until_ms = .*: a finite time from 0 on"):
        model.run(until_ms=until_ms)
    assert model.now_ms == 0

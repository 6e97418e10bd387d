"""Every kind of figure, and every script's picture from its table in docs/, passes what a strict referee asks."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sheets import check_sheet

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results.colours import BREAKDOWN_COLOURS
from cluster_abm.results.looks import FAMILIES, LOOKS, SPARE_COLOURS, colours_of
from cluster_abm.results.of_studies.arena_pictures import draw_map, draw_regret
from cluster_abm.results.of_studies.calibration_picture import Slice, draw_calibration
from cluster_abm.results.of_studies.fitting_picture import LogAndModel as FitCurve
from cluster_abm.results.of_studies.fitting_picture import draw_fit
from cluster_abm.results.of_studies.planning_picture import Ceiling, draw_plan
from cluster_abm.results.of_studies.sensitivity_picture import draw_indices
from cluster_abm.results.of_studies.study_axes import lay_out
from cluster_abm.results.of_studies.study_grid import Looks
from cluster_abm.results.of_studies.study_pictures import (
    draw_breakdowns,
    draw_differences,
    draw_distributions,
    draw_lines,
    draw_loads,
)
from cluster_abm.results.of_studies.tuning_picture import draw_search
from cluster_abm.results.of_studies.validation_picture import draw_validation
from cluster_abm.results.pictures import Curve, draw_comparison, draw_reproduction, draw_run
from cluster_abm.results.stacked import draw_stacked

ROOT = Path(__file__).parents[2]
POLICIES = ["none", "random", "jsq", "clb", "mlb", "iolb", "pooled"]
MANY = [*POLICIES, *(f"policy-{number:02d}" for number in range(39)), "a-policy-with-quite-a-long-name"]
DRAW = np.random.default_rng(3)


def parts(names, scale=3e3):
    return pd.DataFrame({part: DRAW.uniform(0, scale, len(names)) for part in BREAKDOWN}, index=list(names))


def comparison(names, seeds=8):
    rows = [
        {"policy": name, "seed": seed, "mean_slowdown": DRAW.uniform(2, 30)}
        | {f"breakdown_ms.{part}": DRAW.uniform(0, 3e3) for part in BREAKDOWN}
        for name in names for seed in range(seeds)
    ]  # fmt: skip
    return draw_comparison, "a comparison", pd.DataFrame(rows), dict.fromkeys(names, (12.0, (9.0, 15.0)))


def run(nodes=32, until_ms=620_000):
    times = np.arange(10_000, until_ms, 10_000)
    table = pd.DataFrame([(time, node) for time in times for node in range(nodes)], columns=["time_ms", "node"])
    table["tasks"] = DRAW.integers(0, 20, len(table))
    for name, share in (("cpu_busy_ms", 0.2), ("disk_busy_ms", 0.7)):
        table[name] = share * table["time_ms"]
    return draw_run, "a run", table, DRAW.lognormal(1, 1, 500) + 1


def reproduction(x, names, y="average run time of all processes of the four users together [s]"):
    curves = [
        Curve(name, name, x, [20.0 * (place + 1)] * len(x), [22.0 * (place + 1)] * len(x), [(5.0, 60.0)] * len(x))
        for place, name in enumerate(names)
    ]
    return draw_reproduction, "a reproduction", "mean I/O rate λ [accesses per ms of CPU]", y, curves


def study(names, metric="mean_response_ms", differences=False):
    points = pd.DataFrame({"workload.jobs_per_s": [0.1, 0.2, 0.3, 0.4]})
    rows = [
        {"point": point, "policy": name, "mean": 2e5 + 1e4 * place, "low": 1.9e5, "high": 4e5, "significant": point > 1}
        for point in points.index for place, name in enumerate(names)
    ]  # fmt: skip
    rest = (pd.DataFrame(rows), lay_out(points), Looks(names))
    if differences:
        return draw_differences, "a study", metric, *rest, "none"
    return draw_lines, "a study", metric, *rest


def distributions(names):
    curves = {name: np.sort(1 + DRAW.lognormal(1, 1, 101)) for name in names}
    return draw_distributions, "a study", [("jobs = 0.1 1/s", curves), ("jobs = 0.2 1/s", curves)], Looks(names)


def loads():
    times = list(range(10_000, 300_000, 10_000))
    one = {"time_ms": times, "tasks": DRAW.integers(0, 30, (8, len(times))).tolist()}
    return draw_loads, "a study", dict.fromkeys(POLICIES[:4], one)


def indices():
    rows = [
        (name, factor, index, DRAW.uniform(0, 1), 0.0, 1.0)
        for name in POLICIES[:3] for factor in ("cluster.exchange_period_ms", "workload.utilisation", "cluster.nodes")
        for index in ("total", "first_order")
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["policy", "factor", "index", "value", "low", "high"])
    return draw_indices, "what matters", "mean_slowdown", table, POLICIES[:3], ("total", "first_order")


def search():
    table = pd.DataFrame({
        "candidate": range(9), "state": ["finished"] * 4 + ["stopped"] * 5,
        "ratio": [1, 0.9, 0.95, 0.8, 1.1, 1, 3, 2, 5],
        "cluster.exchange_period_ms": np.geomspace(100, 20_000, 9), "policy.index": ["cpu", "io", "queue"] * 3,
    })  # fmt: skip
    keys = {"cluster.exchange_period_ms": True, "policy.index": False}
    return draw_search, "a search", "mean slowdown / the defaults'", table, keys, 3


def regret(own=("iolb",)):
    table = pd.DataFrame({"policy": MANY, "regret": np.geomspace(0.05, 3, len(MANY))})
    table["low"], table["high"], table["worst"] = 0.8 * table["regret"], 1.3 * table["regret"], 20 * table["regret"]
    return draw_regret, "an arena", table, "mean wait", own


def arena_map():
    regimes = pd.DataFrame({"load": DRAW.uniform(0.3, 0.9, 60), "cv": DRAW.uniform(0.1, 20, 60), "nodes": range(4, 64)})
    best = {number: (MANY[number % 10], number % 3 == 0) for number in range(60)}
    factors = [("cv", "cv of demands", True), ("nodes", "nodes", True)]
    return draw_map, "an arena", regimes, best, factors, ("load", "load of the busier resource")


def plan(names):
    nodes = [5, 8, 12, 20, 40]
    rows = [
        {"policy": name, "cluster.nodes": n, "mean_response_ms": 4e6 / n, "mean_response_ms low": 3e6 / n,
         "mean_response_ms high": 5e6 / n}
        for name in names for n in nodes
    ]  # fmt: skip
    need = Ceiling("mean_response_ms", 180_000.0, "mean_response_ms<=180000")
    return (draw_plan, "a plan", "cluster.nodes", pd.DataFrame(rows), [need], dict.fromkeys(names, (21.0, 19.0, None)))


def fit():
    x = np.array([1.0, 10.0, 100.0, 1000.0])
    curve = FitCurve(x, 2 * x, 2.2 * x, x, 4 * x)
    hours = FitCurve(np.arange(24) + 0.5, np.ones(24), np.ones(24), 0.5 * np.ones(24), 2 * np.ones(24))
    columns = {name: (DRAW.lognormal(5, 4, 400), DRAW.lognormal(5, 4, 400)) for name in ("cpu_ms", "memory_mb")}
    words = ("hours of the day", "hour of the day", "rate over the mean rate")
    return draw_fit, "a log", columns, curve, hours, words, [("cpu_ms,\nmemory_mb", 0.3, 0.2, 0.1, 0.3)]


def calibration():
    observed = DRAW.lognormal(6, 1, 40)
    table = pd.DataFrame({"use": ["fit"] * 30 + ["held-out"] * 10, "observed": observed, "predicted": 1.1 * observed})
    values = np.geomspace(1, 400, 9)
    one = Slice(values, 0.1 + np.abs(np.log(values / 20)), 20.0, 15.0, 28.0, True)
    return draw_calibration, "a calibration", table, "ms", {"cluster.disk_seek_rotation_ms": one}


def validation():
    predicted = DRAW.uniform(40, 1200, 80)
    table = pd.DataFrame({"part": ["cpu"] * 50 + ["mixed"] * 30, "cores": [1, 2] * 40, "predicted_ms": predicted})
    table["measured_ms"] = 1.02 * table["predicted_ms"]
    return draw_validation, "a machine", table, {"cpu": "median error 2.5%", "mixed": "median error 2.6%"}


def stacked():
    table = pd.DataFrame({"CPU": [3.0, 2.0], "queuing": [1.0, 5.0], "paging": [2.0, 9.0]}, index=["none", "iolb"])
    return draw_stacked, "parts", "mean life of a job [s]", table


KINDS = {
    "comparison": lambda: comparison(POLICIES), "comparison of 47": lambda: comparison(MANY), "run": run,
    "run of a day": lambda: run(nodes=3, until_ms=86_400_000 // 4),
    "curves": lambda: reproduction([0.8, 1.0, 1.25], POLICIES[1:4]),
    "many curves": lambda: reproduction(list(np.linspace(10, 20_000, 12)), POLICIES),
    "parts": stacked, "lines": lambda: study(POLICIES),
    "differences": lambda: study(POLICIES[1:], differences=True), "distributions": lambda: distributions(POLICIES),
    "breakdowns": lambda: (draw_breakdowns, "a study", [("jobs = 0.1 1/s", parts(POLICIES))]), "loads": loads,
    "indices": indices, "search": search, "regret": regret, "map": arena_map, "plan": lambda: plan(POLICIES),
    "fit": fit,
    "calibration": calibration, "validation": validation,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_figure_passes_the_referee(sheet, kind):
    assert check_sheet(sheet(*KINDS[kind]())) == []


@pytest.mark.slow
def test_no_kind_of_figure_is_left_out():
    written = {
        one.name
        for path in (ROOT / "cluster_abm" / "results").rglob("*.py")
        for one in ast.parse(path.read_text()).body
        if isinstance(one, ast.FunctionDef) and one.name.startswith("draw_") and one.args.args[0].arg == "path"
    }
    assert written == {make()[0].__name__ for make in KINDS.values()}


# Of the scripts whose picture needs no more than the table in docs/: the table, and what else is drawn with.
SCRIPTS = {
    "bids": ("papers/bids", 6),
    "buffer_size": ("papers/buffer", 16), "herding": ("papers/herding", 4), "iolb_pm": ("papers/iolb-pm", 6),
    "map_data_placement": ("papers/data-placement", 8),
    "map_preemptive_migration": ("papers/preemptive-migration", 4), "network_load": ("papers/network-load", 8),
    "real_work": ("validation/real-work", None), "scale": ("papers/scale", None),
    "selfish_minority": ("papers/selfish-minority", 8), "without_the_oracle": ("papers/without-the-oracle", 8),
    "worth_of_heterogeneous_forms": ("papers/unlike-nodes", 5), "wal_weights": ("papers/wal-weights", "FULL"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_scripts_pictures_pass_the_referee(sheet, name):
    script = runpy.run_path(str(ROOT / "scenarios" / f"{name}.py"))
    file, last = SCRIPTS[name]
    table = pd.read_csv(ROOT / "docs" / f"{file}.csv", dtype={"buffer": str})
    figure = sheet(lambda path: script["draw"](table, path, *([] if last is None else [script.get(last, last)])))
    assert check_sheet(figure) == []


def test_a_quantity_never_has_a_policys_colour():
    of_policies = {*(colour for colour, _ in (*LOOKS.values(), *FAMILIES.values())), *SPARE_COLOURS}
    assert not of_policies & set(BREAKDOWN_COLOURS.values())
    assert len(set(BREAKDOWN_COLOURS.values())) == len(BREAKDOWN_COLOURS)
    # As many policies as there are may stand in one picture, and a few files of one's own.
    assert len(set(colours_of(MANY))) == len(MANY)
    assert not set(colours_of(MANY)) & set(BREAKDOWN_COLOURS.values())


def bad_sheet():
    """Two panels: a policy's bars, and curves of quantities in the first policy's colour; ticks too close; no names."""
    figure = Figure(figsize=(6, 3))
    bars, lines = figure.subplots(1, 2)
    bars.barh(["clb", "mlb"], [1, 2], color=["#E69F00", "#009E73"])
    bars.set_xlabel("mean slowdown")
    lines.plot([0, 1], [0, 1], color="#009E73", label="CPU")
    lines.plot([0, 1], [1, 0], color="#0072B2", label="disk")
    lines.set_ylabel("busy [%]")
    lines.set_xticks([0.0, 0.001, 1.0], ["a first long label", "a second one", "here"])
    lines.text(0, 0, "")
    figure.legend(loc="lower center", ncols=2)
    return figure


def faults(figure, words):
    return [fault for fault in check_sheet(figure) if words in fault]


@pytest.mark.slow
def test_the_referee_sees_a_bad_sheet():
    figure = bad_sheet()
    assert faults(figure, "the colour of ['CPU'] is also something else's")
    assert faults(figure, "'CPU' and 'disk' look alike in grey")
    assert faults(figure, "'a first long label' stands over 'a second one'")
    bars, lines = figure.axes
    bars.set_xlabel("")
    assert faults(figure, "its x axis has no name")
    lines.set_title("a title that is far too long for a panel, and leaves the picture at its right edge")
    assert faults(figure, "is cut by the picture's edge")


def test_the_referee_sees_one_colour_for_two_things():
    figure = Figure()
    axes = figure.subplots()
    axes.bar([0, 1], [1, 2], color="#D55E00", label="round-robin")
    axes.bar([2], [1], color="#D55E00", hatch="//", label="paging")
    axes.legend()
    assert faults(figure, "for ['paging', 'round-robin']")

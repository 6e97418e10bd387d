"""What the arena's pictures show is what they are given: lengths, marks, scales and legends."""

from __future__ import annotations

import matplotlib.colors as colors
import numpy as np
import pandas as pd
import pytest

from cluster_abm.results.of_studies.arena_pictures import MOST_NAMED, draw_map, draw_regret

TABLE = pd.DataFrame({
    "policy": ["jsq", "mine", "none"], "regret": [0.1, 0.2, 3.0], "low": [0.05, 0.1, 2.0], "high": [0.2, 0.5, 5.0],
    "worst": [0.4, 1.0, 20.0],
})  # fmt: skip


def test_regret_is_a_bar_with_its_interval_and_its_worst_regime(sheet):
    axes = sheet(draw_regret, "an arena", TABLE, "mean wait", ["mine"]).axes[0]
    assert axes.get_xlabel().startswith("mean wait beyond the best")
    bars = [*axes.patches]
    assert [bar.get_width() for bar in bars] == pytest.approx([10.0, 20.0, 300.0])
    assert [bar.get_hatch() for bar in bars] == [None, "///", None]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["jsq", "mine", "none"]
    # The first policy is at the top.
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    ends = [np.asarray(line)[:, 0].tolist() for line in axes.collections[0].get_segments()]
    assert ends == [pytest.approx([5.0, 20.0]), pytest.approx([10.0, 50.0]), pytest.approx([200.0, 500.0])]
    worst = next(line for line in axes.lines if line.get_marker() == "x")
    assert np.asarray(worst.get_xdata()).tolist() == pytest.approx([40.0, 100.0, 2000.0])
    assert axes.get_xlim()[1] > 2000.0
    assert axes.get_xscale() == "symlog"
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "the same, of a policy of your own" in shown


def test_without_a_policy_of_ones_own_none_is_in_the_legend(sheet):
    axes = sheet(draw_regret, "an arena", TABLE, "mean wait").axes[0]
    assert {bar.get_hatch() for bar in axes.patches} == {None}
    assert len(axes.get_legend().get_texts()) == 2


# Of nine policies one is best in three regimes, one in two, seven in one: two of these share a look.
BEST = ["jsq"] * 3 + ["iolb"] * 2 + ["none", "clb", "mlb", "hbd", "random", "wal-pm", "cm-re"]


def arena_map(sheet):
    regimes = pd.DataFrame({"load": np.linspace(0.3, 0.8, 12), "cv": np.geomspace(0.1, 20, 12), "nodes": range(12)})
    best = {number: (name, number != 1) for number, name in enumerate(BEST)}
    factors = [("cv", "cv of demands", True), ("nodes", "nodes", False)]
    return regimes, sheet(draw_map, "an arena", regimes, best, factors, ("load", "the load"))


def test_a_map_has_a_panel_for_each_factor_on_its_scale(sheet):
    regimes, figure = arena_map(sheet)
    first, second, *others = figure.axes
    assert (first.get_yscale(), second.get_yscale(), first.get_xscale()) == ("log", "linear", "linear")
    assert (first.get_xlabel(), first.get_ylabel(), second.get_ylabel()) == ("the load", "cv of demands", "nodes")
    assert [panel.get_visible() for panel in others] == [False] * len(others)
    for panel, factor in (first, "cv"), (second, "nodes"):
        points = [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in panel.lines]
        assert points == [*zip(regimes["load"], regimes[factor], strict=True)]


def test_a_point_is_filled_if_its_policy_is_surely_near_the_best(sheet):
    _, figure = arena_map(sheet)
    fills = [colors.to_hex(line.get_markerfacecolor()) for line in figure.axes[0].lines]
    looks = [colors.to_hex(line.get_color()) for line in figure.axes[0].lines]
    assert [fill == "#ffffff" for fill in fills] == [number == 1 for number in range(12)]
    assert looks[0] == looks[1] == looks[2] != looks[3] == looks[4]
    # What is named has a look of its own, and all others share one.
    assert len({looks[0], looks[3], *looks[5:]}) == MOST_NAMED + 1


def test_the_legend_of_a_map_counts_the_regimes_of_each_policy(sheet):
    _, figure = arena_map(sheet)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown[:2] == ["jsq (3)", "iolb (2)"]
    assert sum(text.endswith(" (1)") for text in shown) == MOST_NAMED - 2
    assert "others (2)" in shown
    assert shown[-2:] == ["surely within 10 % of the best", "not surely"]


def test_choices_have_their_names_on_the_axis(sheet):
    regimes = pd.DataFrame({"load": [0.3, 0.5], "task_cpu": [0.0, 1.0]})
    best = {0: ("jsq", True), 1: ("lwl", True)}
    figure = sheet(draw_map, "an arena", regimes, best, [("task_cpu", "sizes", False)], ("load", "load"),
                   {"task_cpu": ("job", "each")})  # fmt: skip
    axes = figure.axes[0]
    assert [(y, label.get_text()) for y, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)] == [
        (0, "job"), (1, "each"),
    ]  # fmt: skip

"""Draws the figures of `in-plain-words.md` and `pictures.md`: schemes, two pictures of runs, a table of looks.

python docs/concepts/draw.py        # half a minute; writes beside itself
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from cluster_abm import ClusterModel
from cluster_abm.results.colours import ALONE, BREAKDOWN_COLOURS, FAINT, INK, MOVE, PAPER, SERIES_COLOURS, mixed
from cluster_abm.results.figures.picture import save_undated
from cluster_abm.results.looks import FAMILIES, LOOKS, colour_of
from cluster_abm.results.style import error_bars, new_figure, tidy
from cluster_abm.study.statistics.estimates import estimate

HERE = Path(__file__).resolve().parent
TALK = MOVE
# Light enough for words on them.
CPU, DISK, MEMORY = (mixed(BREAKDOWN_COLOURS[state], 0.65) for state in ("cpu", "io", "paging"))


POLICIES = (("none", "none: tasks stay at home"), ("jsq", "jsq: to the shortest queue"))


def sheet(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure without axes, one unit an inch."""
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def box(axes: Axes, x: float, y: float, width: float, height: float, words: str, colour: str) -> None:
    """A named box."""
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.04", facecolor=colour, edgecolor=INK))
    axes.text(x + width / 2, y + height / 2, words, ha="center", va="center", fontsize=10, color=INK)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], words: str = "", **style: object) -> None:
    """An arrow, and beside its middle what it stands for."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "linewidth": 1.2} | style)
    if words:
        axes.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.09, words, ha="center", fontsize=9, color=FAINT,
                  bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5})  # fmt: skip


def save(figure: Figure, name: str) -> None:
    """Write the figure beside this file."""
    # Of schemes, which are no `Picture`, too.
    figure.drawn_by = "docs/concepts/draw.py"  # type: ignore[attr-defined]
    save_undated(figure, HERE / f"{name}.png", dpi=110)
    print(f"{name}.png")


def node() -> None:
    """What a task goes through on a node."""
    figure, axes = sheet(9.0, 3.3)
    box(axes, 1.4, 1.9, 1.5, 0.7, "ready queue\n(round robin)", PAPER)
    box(axes, 3.9, 1.9, 1.3, 0.7, "CPU cores", CPU)
    box(axes, 6.0, 1.9, 0.9, 0.7, "buffer", MEMORY)
    box(axes, 6.0, 0.5, 1.5, 0.7, "disk queue\n(first come)", PAPER)
    box(axes, 3.9, 0.5, 1.3, 0.7, "disk", DISK)
    arrow(axes, (0.3, 2.25), (1.35, 2.25), "task enters")
    arrow(axes, (2.95, 2.25), (3.85, 2.25), "its turn")
    arrow(axes, (5.25, 2.25), (5.95, 2.25), "access")
    arrow(axes, (6.45, 1.85), (6.45, 1.25))
    axes.text(6.55, 1.5, "miss", fontsize=9, color=FAINT)
    arrow(axes, (5.95, 0.85), (5.25, 0.85), "request")
    arrow(axes, (3.85, 0.85), (2.15, 1.85), connectionstyle="arc3,rad=-0.25")
    axes.text(2.1, 1.0, "served: compute on", ha="center", fontsize=9, color=FAINT)
    arrow(axes, (4.55, 2.65), (2.15, 2.65), connectionstyle="arc3,rad=0.35")
    axes.text(3.35, 3.12, "quantum over: back to the queue", ha="center", fontsize=9, color=FAINT)
    arrow(axes, (6.95, 2.4), (8.2, 2.4), "hit: compute on")
    arrow(axes, (5.1, 1.85), (6.0, 1.25), connectionstyle="arc3,rad=0.1")
    axes.text(4.3, 1.48, "page fault: memory is full", fontsize=9, color=FAINT, ha="center")
    save(figure, "node")


def slices() -> None:
    """Between slices agents talk; inside a slice every node is alone."""
    figure, axes = sheet(9.0, 2.9)
    generator = np.random.default_rng(1)
    for number in range(3):
        y = 1.9 - number * 0.55
        axes.text(0.15, y + 0.15, f"node {number}", fontsize=10, va="center", color=INK)
        for place in range(3):
            x, left = 1.0 + place * 2.6, 2.4
            while left > 0.06:
                wide = min(left, float(generator.uniform(0.2, 0.9)))
                kind = generator.choice([CPU, DISK, PAPER], p=[0.5, 0.35, 0.15])
                axes.add_patch(Rectangle((x, y), wide, 0.3, facecolor=str(kind), edgecolor=INK, linewidth=0.6))
                x, left = x + wide, left - wide
    for place in range(4):
        x = 0.9 + place * 2.6
        axes.plot([x, x], [0.68, 2.35], color=TALK, linewidth=2)
        axes.text(x, 2.42, f"{place * 10} ms", ha="center", fontsize=9, color=TALK)
    for place in range(3):
        axes.text(2.2 + place * 2.6, 2.42, "every node alone", ha="center", fontsize=9, color=FAINT)
    axes.text(
        0.15, 0.12, "At each boundary: jobs appear, managers ask and answer, tasks set out, reports go out.",
        fontsize=10, color=TALK,
    )  # fmt: skip
    for place, (words, colour) in enumerate((("computes", CPU), ("reads or writes", DISK), ("idle", PAPER))):
        axes.add_patch(Rectangle((1.0 + place * 1.8, 0.42), 0.2, 0.16, facecolor=colour, edgecolor=INK, linewidth=0.6))
        axes.text(1.28 + place * 1.8, 0.5, words, fontsize=9, va="center", color=INK)
    save(figure, "slices")


def negotiation() -> None:
    """How an arriving task finds its node."""
    figure, axes = sheet(9.0, 3.5)
    for x, name in ((1.5, "home's load manager"), (4.5, "node A's load manager"), (7.5, "node B's load manager")):
        box(axes, x - 0.95, 3.0, 1.9, 0.3, name, PAPER)
        axes.plot([x, x], [0.25, 2.95], color=FAINT, linewidth=0.8, linestyle=(0, (4, 3)))
    said = ((4.5, 2.75, "report: my load (every second)"), (7.5, 2.5, "report: my load"))
    for x, y, words in said:
        arrow(axes, (x, y), (1.5, y), words, color=FAINT)
    axes.text(0.12, 2.06, "a task arrives;\nthe policy says: A", fontsize=9, color=TALK, va="center")
    arrow(axes, (1.5, 1.85), (4.5, 1.75), "will you take it?", color=TALK)
    arrow(axes, (4.5, 1.5), (1.5, 1.4), "no: I am busier than I reported", color=TALK)
    axes.text(0.12, 1.15, "asked again,\nwithout A: B", fontsize=9, color=TALK, va="center")
    arrow(axes, (1.5, 1.05), (7.5, 0.95), "will you take it?", color=TALK)
    arrow(axes, (7.5, 0.75), (1.5, 0.65), "yes", color=TALK)
    arrow(axes, (1.5, 0.42), (7.5, 0.3), "the task travels, and starts there", color=INK, linewidth=2)
    save(figure, "negotiation")


def sharing() -> None:
    """Slowdown over utilisation on one node, measured and by theory, without and with a disk."""
    figure = new_figure(7.0, 3.6, "One node that jobs share: slowdown over utilisation")
    axes = figure.subplots()
    loads = np.array([0.1, 0.3, 0.5, 0.7, 0.8, 0.9])
    found = []
    for load in loads:
        seen = []
        for seed in range(1, 9):
            model = ClusterModel(
                "cpu-bound", seed=seed, cluster__nodes=1, cluster__context_switch_ms=0.0,
                workload__utilisation=float(load), workload__duration_s=4000.0,
            )  # fmt: skip
            model.run()
            seen.append(model.summary()["metrics"]["mean_slowdown"])
        found.append(estimate(seen))
    ends = np.array([one.ci95 for one in found])
    means = np.array([one.mean for one in found])
    line = np.linspace(0.05, 0.92, 200)
    axes.plot(line, 1 / (1 - line), color=ALONE, label="theory: 1 / (1 - utilisation)")
    error_bars(
        axes, loads, means, *ends.T, color=SERIES_COLOURS[1], linestyle="", label="runs: mean of 8 seeds, 95 % interval"
    )
    tidy(axes, "", "utilisation of the CPU (share of time)", "mean slowdown (1 = alone)")
    axes.set_ylim(0, 15)
    axes.legend(frameon=False, loc="upper left")
    save(figure, "sharing")


def balanced() -> None:
    """Tasks per node over time, without and with balancing."""
    figure = new_figure(9.0, 3.6, "quickstart, seed 1: tasks on each of 32 nodes")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (policy, words) in zip(panels, POLICIES, strict=True):
        model = ClusterModel("quickstart", seed=1, policy=policy)
        model.run()
        frame = model.nodes_frame()
        table = frame.pivot_table(index="time_ms", columns="node", values="tasks")
        for node_number in table:
            axes.plot(table.index / 60_000, table[node_number], color=colour_of(policy), alpha=0.35, linewidth=0.8)
        tidy(axes, words, "time [min]", "tasks on a node")
    save(figure, "balanced")


def looks() -> None:
    """The fifteen policies with their colours and markers, and the colours of families."""
    figure, axes = sheet(9.0, 4.1)
    for number, (policy, (colour, marker)) in enumerate(LOOKS.items()):
        x, y = 0.3 + 3.0 * (number // 5), 3.8 - 0.35 * (number % 5)
        axes.plot([x, x + 0.3, x + 0.6], [y] * 3, color=colour, marker=marker, markevery=[1], markersize=8)
        axes.text(x + 0.75, y, policy, fontsize=10, va="center", color=INK)
    axes.text(0.3, 1.85, "Others, by family", fontsize=10, va="center", color=FAINT)
    for number, (family, (colour, names)) in enumerate(FAMILIES.items()):
        others = [name for name in names.split() if name not in LOOKS]
        x, y = 0.3 + 4.4 * (number // 5), 1.55 - 0.32 * (number % 5)
        axes.add_patch(Rectangle((x, y - 0.08), 0.3, 0.16, facecolor=colour))
        words = ", ".join(others[:2]) + (", ..." if len(others) > 2 else "")
        axes.text(x + 0.42, y, f"{family}: {words}", fontsize=9, va="center", color=INK)
    save(figure, "looks")


if __name__ == "__main__":
    looks()
    node()
    slices()
    negotiation()
    sharing()
    balanced()

"""Pictures of a run, of a comparison and of a reproduction: tables in, PNG files out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results.style import BREAKDOWN_COLOURS, colour_of, new_figure, save, tidy

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Curve:
    """One series of a reproduction: name, x, published and measured values, intervals of the measured ones."""

    name: str
    policy: str
    x: Sequence[float]
    published: Sequence[float]
    measured: Sequence[float]
    ci95: Sequence[Interval]


def draw_comparison(
    path: Path, title: str, runs: pd.DataFrame, slowdowns: Mapping[str, tuple[float, Interval]]
) -> Path:
    """Mean slowdown with intervals, where the time went, and each seed's slowdown joined across the policies.

    Args:
        path: the PNG file.
        title: of the whole picture.
        runs: one row a run: policy, seed, mean_slowdown, breakdown_ms.<part> [ms].
        slowdowns: policy to mean slowdown and its 95 % interval, in the order of the picture.
    """
    figure = new_figure(13, 4.6)
    figure.suptitle(title, fontsize=13)
    bars, parts, seeds = figure.subplots(1, 3, width_ratios=(1, 1.25, 1))
    names = list(slowdowns)
    places = np.arange(len(names))
    means = np.array([slowdowns[name][0] for name in names])
    reach = np.array([[m - c[0], c[1] - m] if c else [0, 0] for m, c in slowdowns.values()]).T
    bars.bar(places, means, color=[colour_of(name) for name in names], yerr=reach, capsize=4, width=0.7)
    for place, mean, above in zip(places, means, reach[1], strict=True):
        bars.annotate(
            f"{mean:.3g}",
            (place, mean + above),
            ha="center",
            va="bottom",
            xytext=(0, 2),
            textcoords="offset points",
        )
    bars.set_xticks(places, names)
    count = runs["seed"].nunique()
    interval = f"mean of {count} seeds, 95 % interval" if count > 1 else "one seed"
    tidy(bars, f"Slowdown ({interval})", "policy", "mean slowdown (wall / dedicated time)")
    bars.margins(y=0.12)

    means_s = runs.groupby("policy")[[f"breakdown_ms.{part}" for part in BREAKDOWN]].mean() / 1000
    bottom = np.zeros(len(names))
    for part in BREAKDOWN:
        heights = means_s.loc[names, f"breakdown_ms.{part}"].to_numpy()
        if heights.sum() > 0:
            parts.bar(
                places,
                heights,
                bottom=bottom,
                color=BREAKDOWN_COLOURS[part],
                width=0.7,
                label=part.replace("_", " "),
            )
            bottom += heights
    parts.set_xticks(places, names)
    tidy(parts, "Where a task's time went", "policy", "mean wall time of a task [s]")
    handles, labels = parts.get_legend_handles_labels()
    parts.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)

    table = runs.pivot_table(index="seed", columns="policy", values="mean_slowdown")[names]
    for _, row in table.iterrows():
        seeds.plot(places, row.to_numpy(), color="#BBBBBB", linewidth=1, zorder=1)
    for place, name in zip(places, names, strict=True):
        seeds.scatter(np.full(len(table), place), table[name], color=colour_of(name), s=26, zorder=2)
    seeds.set_xticks(places, names)
    seeds.margins(x=0.1)
    tidy(seeds, "The same jobs: a line a seed", "policy", "mean slowdown")
    return save(figure, path)


def draw_reproduction(path: Path, title: str, x_label: str, y_label: str, curves: Sequence[Curve]) -> Path:
    """Published (dashed) against measured (solid, 95 % band) over the axis; one panel a series, and all together."""
    figure = new_figure(4.2 * (len(curves) + 1), 4.4)
    figure.suptitle(title, fontsize=13)
    panels = np.atleast_1d(figure.subplots(1, len(curves) + 1, sharey=True))
    for panel, chosen in zip(panels, [list(curves), *([curve] for curve in curves)], strict=True):
        for curve in chosen:
            colour = colour_of(curve.policy)
            panel.plot(
                curve.x,
                curve.published,
                "--",
                marker="o",
                mfc="white",
                color=colour,
                label=f"{curve.name}, published",
            )
            panel.plot(
                curve.x,
                curve.measured,
                "-",
                marker="s",
                markersize=4,
                color=colour,
                label=f"{curve.name}, measured",
            )
            known = [(x, c[0], c[1]) for x, c in zip(curve.x, curve.ci95, strict=True) if c is not None]
            if known:
                xs, low, high = zip(*known, strict=True)
                label = "95 % interval" if len(chosen) == 1 else None
                panel.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0, label=label)
        name = "all series" if len(chosen) > 1 or len(curves) == 1 else chosen[0].name
        tidy(panel, name, x_label, y_label if panel is panels[0] else "")
        panel.legend(frameon=False, fontsize=8, loc="upper left")
    panels[0].set_ylim(bottom=0)
    return save(figure, path)


def draw_run(path: Path, title: str, nodes: pd.DataFrame, slowdown: pd.Series) -> Path:
    """Utilisation and tasks over time, load of each node over time, and the distribution of slowdowns.

    Args:
        path: the PNG file.
        title: of the whole picture.
        nodes: the model's nodes_frame.
        slowdown: slowdown of each finished task.
    """
    figure = new_figure(13, 7.2)
    figure.suptitle(title, fontsize=13)
    (busy, tasks), (heat, distribution) = figure.subplots(2, 2)
    time_s = np.sort(nodes["time_ms"].unique()) / 1000
    count = nodes["node"].nunique()
    for column, label, colour in (("cpu_busy_ms", "CPU", "#009E73"), ("disk_busy_ms", "disk", "#0072B2")):
        total_s = nodes.groupby("time_ms")[column].sum().to_numpy() / 1000
        since = np.diff(np.concatenate([[0.0], time_s]))
        share = np.diff(np.concatenate([[0.0], total_s])) / (since * count) * 100
        busy.plot(time_s, share, color=colour, label=label)
    busy.set_ylim(0, 105)
    busy.legend(frameon=False)
    tidy(busy, "Utilisation (mean of all nodes since the last measurement)", "time [s]", "busy [%]")
    by_time = nodes.groupby("time_ms")["tasks"]
    tasks.plot(time_s, by_time.mean(), color="#0072B2", label="mean")
    tasks.fill_between(
        time_s, by_time.min(), by_time.max(), color="#0072B2", alpha=0.18, linewidth=0, label="least to most"
    )
    tasks.set_ylim(bottom=0)
    tasks.legend(frameon=False)
    tidy(tasks, "Tasks on a node", "time [s]", "tasks")
    grid = nodes.pivot_table(index="node", columns="time_ms", values="tasks").to_numpy()
    image = heat.imshow(
        grid, aspect="auto", origin="lower", cmap="viridis", interpolation="nearest",
        extent=(0.0, float(time_s[-1]) if len(time_s) else 1.0, -0.5, count - 0.5),
    )  # fmt: skip
    figure.colorbar(image, ax=heat, label="tasks")
    tidy(heat, "Tasks on each node", "time [s]", "node")
    heat.grid(visible=False)
    if len(slowdown):
        values = np.sort(slowdown.to_numpy())
        distribution.step(values, np.arange(1, len(values) + 1) / len(values) * 100, where="post", color="#0072B2")
        distribution.set_xscale("log")
    distribution.set_ylim(0, 101)
    tidy(
        distribution,
        "Slowdown of finished tasks",
        "slowdown (wall / dedicated time)",
        "tasks with at most this slowdown [%]",
    )
    return save(figure, path)

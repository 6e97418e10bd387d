"""A picture of a log beside the scenario fitted to it: laws, bursts, hours, and what goes together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.results.colours import MARK, SERIES_COLOURS, mixed
from cluster_abm.results.style import (
    TIME_UNITS_S,
    columns_with_room,
    legend_below,
    log_ticks,
    panel_grid,
    points,
    save,
    tidy,
    time_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


COLUMNS = 3
LOG, MODEL = SERIES_COLOURS[:2]
RANGE = mixed(MODEL, 0.7)
# Quantiles through which a distribution function is drawn.
QUANTILES = 2000
NEARLY_EQUAL = 1e-9
NAMES = {
    "cpu_ms": "CPU time of a task [ms]", "memory_mb": "memory of a task [MB]", "io_per_ms": "accesses [1/ms of CPU]",
    "tasks": "tasks of a job", "request_kb": "size of an access [KB]", "initial_data_mb": "data at home [MB]",
    "requested_over_actual": "requested time over time alone",
}  # fmt: skip


class LogAndModel(NamedTuple):
    """Numbers of the log beside those of the model: shape (points,) each; low and high over seeds."""

    x: Floats
    log: Floats
    model: Floats
    low: Floats
    high: Floats


def draw_fit(
    path: Path,
    title: str,
    columns: Mapping[str, tuple[Floats, Floats]],
    dispersions: LogAndModel,
    course: LogAndModel,
    course_words: tuple[str, str, str],
    bars: Sequence[tuple[str, float, float, float, float]],
) -> Path:
    """Write the picture.

    Args:
        columns: by name, the values of the log and those of all draws.
        dispersions: of counts, over lengths of windows [s].
        course: rates, over time.
        course_words: that panel's title and axis labels.
        bars: rank correlations: what of, of the log, of the model, and least and largest over seeds.
    """
    figure, axes = panel_grid(title, len(columns) + 3, columns_with_room(COLUMNS, 4.4), 4.4 * COLUMNS, 3.5, 0.7)
    for panel, (name, (log, model)) in zip(axes, columns.items(), strict=False):
        _distribution(panel, name, log, model)
    rest = axes[len(columns) :]
    _dispersions(rest[0], dispersions)
    _course(rest[1], course, *course_words)
    _bars(rest[2], bars)
    handles, labels = axes[len(columns)].get_legend_handles_labels()
    legend_below(figure, handles, labels)
    return save(figure, path)


def _distribution(axes: Axes, name: str, log: Floats, model: Floats) -> None:
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    least = min((float(values[values > 0].min()) for values in (log, model) if (values > 0).any()), default=1.0)
    for values, colour, style, words in ((log, LOG, "-", "log"), (model, MODEL, "--", "model, mean")):
        if not len(values):
            continue  # a window in which few jobs come: none in any draw
        at = np.quantile(values, shares, method="inverted_cdf")
        # Zeros have no place on a logarithmic axis: they lie at its left end.
        axes.step(
            np.maximum(at, least), shares, where="post", color=colour, linestyle=style, linewidth=1.5, label=words
        )
    axes.set_ylim(0, 1.02)
    tidy(axes, name, NAMES.get(name, name), "share of the jobs below")
    low, high = axes.get_xlim()
    # Values that differ in their last digits have no room on a logarithmic axis.
    most = max(float(values.max(initial=0.0)) for values in (log, model))
    if low < high and not 1 < most / least <= 1 + NEARLY_EQUAL:
        log_ticks(axes)
    axes.tick_params(axis="x", labelsize=points(8))


def _dispersions(axes: Axes, curve: LogAndModel) -> None:
    axes.fill_between(curve.x, curve.low, curve.high, color=RANGE, label="model, least to largest over seeds")
    axes.plot(curve.x, curve.model, color=MODEL, linestyle="--", marker="s", markersize=4, label="model, mean")
    axes.plot(curve.x, curve.log, color=LOG, marker="o", markersize=4, label="log")
    axes.axhline(1.0, color=MARK, linewidth=0.8, linestyle=":")
    tidy(axes, "bursts (1: Poisson)", "counted over [s]", "variance over mean of counts")
    if len(curve.x) > 1:
        log_ticks(axes)
    log_ticks(axes, of_y=True)
    axes.tick_params(axis="x", labelsize=points(8))


def _course(axes: Axes, curve: LogAndModel, title: str, x: str, y: str) -> None:
    axes.fill_between(curve.x, curve.low, curve.high, color=RANGE, step="mid")
    axes.step(curve.x, curve.model, where="mid", color=MODEL, linestyle="--", label="model, mean")
    axes.step(curve.x, curve.log, where="mid", color=LOG, label="log")
    axes.set_ylim(bottom=0)
    tidy(axes, title, x, y)


def _bars(axes: Axes, bars: Sequence[tuple[str, float, float, float, float]]) -> None:
    ys = np.arange(len(bars))
    for number, (_, log, model, low, high) in enumerate(bars):
        axes.plot([low, high], [number + 0.14] * 2, color=RANGE, linewidth=6, solid_capstyle="butt")
        axes.plot(model, number + 0.14, "s", color=MODEL, markersize=5, label="model, mean")
        axes.plot(log, number - 0.14, "o", color=LOG, markersize=5)
    axes.set_yticks(ys, [name for name, *_ in bars])
    axes.set_ylim(max(1, len(bars)) - 0.5, -0.5)
    axes.axvline(0.0, color=MARK, linewidth=0.8)
    axes.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
    axes.set_xlim(-1, 1)
    tidy(axes, "what goes together", "rank correlation", "", grid="x")


def in_unit(seconds: Floats) -> tuple[Floats, str]:
    """Times in a unit in which they are short, and its name."""
    unit = time_unit(float(seconds.max(initial=1.0)))
    return seconds / TIME_UNITS_S[unit], unit

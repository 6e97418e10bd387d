"""Feedback control of the I/O buffer's size against fixed sizes: docs/papers/buffer.md.

    python scenarios/buffer_size.py --out docs/papers

Six nodes of 640 MB (WAL-PM's), jobs of its traces' kind for ten minutes; swept are what they ask of disk and memory,
and the size of the buffer, which is taken out of the memory for programs. Writes `buffer.csv` and `.png`.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm.results.looks import looks_of
from cluster_abm.results.style import legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.study.cells import Cell, means, ratio_of, run_cells

IO_PER_MS = (0.05, 0.6, 1.3)
MEMORY_MB = (4.0, 16.0, 32.0)
FIXED_MB = (0.0, 40.0, 80.0, 160.0, 320.0, 480.0)
CONTROLLED = "feedback"
GAINS = (0.1, 0.5, 1.0)
POLICIES = ("none", "wal-pm")
# How the line across of each policy is drawn.
ACROSS = {"none": ":", "wal-pm": "--"}
METRICS = ("mean_response_ms", "page_faults", "disk_requests")


def settings(io_per_ms: float, memory_mb: float, policy: str) -> dict[str, object]:
    """What all buffers of a panel have in common."""
    return {
        "workload.duration_s": 600.0, "workload.io_per_ms.mean": io_per_ms, "workload.memory_mb.mean": memory_mb,
        "policy.name": policy, "cluster.page_fault_rate_per_ms": 2.0,
    }  # fmt: skip


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """A row a run; `buffer` is a size [MB], or "feedback" with its gain."""
    cells = []
    for io_per_ms, memory_mb, policy in product(IO_PER_MS, MEMORY_MB, POLICIES):
        labels = {"io_per_ms": io_per_ms, "memory_mb": memory_mb, "policy": policy}
        own = settings(io_per_ms, memory_mb, policy)
        cells += [
            Cell({**labels, "buffer": f"{size_mb:g}"}, "wal-pm-fig2", {**own, "cluster.buffer_mb": size_mb})
            for size_mb in FIXED_MB
        ]
        for gain in GAINS:
            control = {"cluster.buffer_control.kind": "feedback", "cluster.buffer_control.gain": gain}
            cells.append(Cell({**labels, "buffer": f"{CONTROLLED} {gain:g}"}, "wal-pm-fig2", {**own, **control}))
    return run_cells(cells, range(1001, 1001 + seeds), METRICS, "buffer", workers)


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A panel a kind of work: response over the fixed size, and the controlled buffer's as a line across."""
    figure = new_figure(12, 9, f"Mean response: fixed I/O buffers, and one under feedback control ({seeds} seeds)")
    looks = looks_of(POLICIES)
    panels = figure.subplots(len(IO_PER_MS), len(MEMORY_MB), sharex=True)
    for (row, io_per_ms), (column, memory_mb) in product(enumerate(IO_PER_MS), enumerate(MEMORY_MB)):
        axes = panels[row][column]
        for policy in POLICIES:
            of_policy = (table["memory_mb"] == memory_mb) & (table["policy"] == policy)
            own = table[of_policy & (table["io_per_ms"] == io_per_ms)].set_index("buffer")
            look = looks[policy] | {"markersize": 4}
            fixed = [own.loc[f"{size:g}", "mean"] / 1000 for size in FIXED_MB]
            axes.plot(FIXED_MB, fixed, label=f"{policy}: fixed", **(look | {"linestyle": "-"}))
            controlled = own.loc[f"{CONTROLLED} 0.5", "mean"] / 1000
            axes.axhline(controlled, color=look["color"], linestyle=ACROSS[policy], label=f"{policy}: feedback control")
        tidy(
            axes, f"λ = {io_per_ms:g} /ms, memory {memory_mb:g} MB a job",
            "fixed buffer [MB]" if row == len(IO_PER_MS) - 1 else "", "" if column else "mean response [s]",
        )  # fmt: skip
        log_ticks(axes, of_y=True)
    handles, labels = panels[0][0].get_legend_handles_labels()
    legend_below(figure, handles, labels)
    save(figure, path)


@click.command()
@seeds_option(16, "point")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "buffer.csv", dtype={"buffer": str}), out / "buffer.png", seeds)
        return
    runs = measure(seeds, workers)
    by = ["io_per_ms", "memory_mb", "policy", "buffer"]
    table = means(runs, by, *METRICS)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "buffer.csv", index=False, float_format="%.4g")
    draw(table, out / "buffer.png", seeds)
    shown = table.pivot_table(index=["policy", "io_per_ms", "memory_mb"], columns="buffer", values="mean", sort=False)
    click.echo(shown.round(0).to_string())
    for place, own in runs.groupby(["policy", "io_per_ms", "memory_mb"], sort=False):
        # The best fixed size in hindsight; "policy" is what ratio_of compares.
        best = shown.loc[place, [f"{size:g}" for size in FIXED_MB]].astype(float).idxmin()
        buffers = own.assign(policy=own["buffer"])
        of_best, of_usual = (ratio_of(buffers, f"{CONTROLLED} 0.5", size, METRICS[0]) for size in (best, "160"))
        click.echo(f"{place}: feedback 0.5 over the best fixed size, {best} MB: {of_best}; over 160 MB: {of_usual}")
    fixed = shown[[column for column in shown if not str(column).startswith(CONTROLLED)]]
    for gain in GAINS:
        share = shown[f"{CONTROLLED} {gain:g}"]
        click.echo(
            f"gain {gain:g}: {(share / fixed.min(axis=1)).max():.2f} times the best fixed size at worst; the fixed "
            f"sizes: {', '.join(f'{size} MB {(fixed[size] / fixed.min(axis=1)).max():.2f}' for size in fixed)}"
        )


if __name__ == "__main__":
    main()

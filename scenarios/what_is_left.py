"""What is left of I/O-aware and memory-aware load balancing on nodes of today: docs/papers/what-is-left.md.

    python scenarios/what_is_left.py --out docs/papers

The same offered loads on 16 nodes of each of four hardware presets. The work is chosen for each: a job takes 1 s of a
core's time in the mean on any of them; its accesses and its memory are what the offered load then asks for. Writes
`what-is-left.csv` and `.png`.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm.results.colours import REMARK
from cluster_abm.results.looks import series_looks
from cluster_abm.results.style import error_bars, legend_below, log_ticks, new_figure, save, tidy
from cluster_abm.scenario.hardware import read_preset
from cluster_abm.study.cells import Cell, means, ratio_of, run_cells

PRESETS = {"qin-2003": 1200.0, "hdd-2015": 300.0, "ssd-2015": 300.0, "nvme-2024": 60.0}
"""What a node is, and how long jobs are submitted [s]: 10,000 to 31,000 jobs."""
NODES, CPU_LOAD, REQUEST_KB, FAULTS_PER_MS = 16, 0.5, 256.0, 0.05
# The load that is swept, and what the other one is meanwhile.
LOADS = {"disk": (0.5, 0.7, 0.8, 0.9), "memory": (0.2, 0.3, 0.4, 0.6)}
OTHER = {"disk": 0.05, "memory": 0.05}
# What is aware of the swept load, and what by the same rules is aware of CPU load alone: of IOLB's paper, and IOCM's.
PAIRS = {"disk": ("iolb", "clb"), "memory": ("memory-based", "cpu-based")}
METRICS = (
    "mean_slowdown", "remote_executions", "breakdown_ms.cpu_queue", "breakdown_ms.io_queue", "breakdown_ms.paging",
)  # fmt: skip

# From here on a cluster pages and does not catch up: its mean slowdown.
COLLAPSED = 10.0


def work(preset: str, disk: float, memory: float) -> dict[str, object]:
    """Settings under which a preset's nodes are offered these loads."""
    keys = read_preset(preset).keys
    transfer_ms = REQUEST_KB / keys["disk_mb_per_s"]
    service_ms = keys["disk_seek_rotation_ms"] + transfer_ms
    jobs_per_s = CPU_LOAD * keys["cores"]
    accesses = disk * 1000.0 / max(service_ms / keys["disk_channels"], transfer_ms) / jobs_per_s
    alone_s = 1.0 + accesses * service_ms / 1000.0
    programs_mb = keys["memory_mb"] - keys["buffer_mb"] - keys["system_mb"]
    return {
        "cluster.hardware": preset,
        "cluster.nodes": NODES,
        "cluster.page_fault_rate_per_ms": FAULTS_PER_MS,
        "cluster.page_fault_law": "overflow",
        "workload.utilisation": CPU_LOAD,
        "workload.duration_s": PRESETS[preset],
        "workload.cpu_ms": {"kind": "exponential", "mean": 1000.0 * keys["cpu_speed"]},
        "workload.io_per_ms": {"kind": "uniform", "mean": accesses / (1000.0 * keys["cpu_speed"])},
        "workload.request_kb": {"kind": "fixed", "mean": REQUEST_KB},
        "workload.memory_mb": {"kind": "uniform", "mean": memory * programs_mb / (jobs_per_s * alone_s)},
    }


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """A row a run."""
    cells = []
    for swept, preset in product(LOADS, PRESETS):
        for load, policy in product(LOADS[swept], ("none", *PAIRS[swept])):
            settings = work(preset, **{**OTHER, swept: load})
            labels = {"swept": swept, "preset": preset, "load": load, "policy": policy}
            cells.append(Cell(labels, "cpu-bound", {**settings, "policy.name": policy}))
    return run_cells(cells, range(1001, 1001 + seeds), METRICS, "what is left", workers)


def gains(runs: pd.DataFrame) -> pd.DataFrame:
    """A row a preset and load: the aware policy's mean slowdown over CPU load balancing's, with its interval."""
    rows = []
    for (swept, preset, load), own in runs.groupby(["swept", "preset", "load"], sort=False):
        aware, blind = PAIRS[str(swept)]
        one = ratio_of(own, aware, blind, "mean_slowdown")
        rows.append((swept, preset, load, aware, one.mean, one.low, one.high))
    return pd.DataFrame(rows, columns=["swept", "preset", "load", "policy", "ratio", "ratio_low", "ratio_high"])


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A panel a swept load, a line a preset: the aware policy over CPU load balancing."""
    title = f"What I/O-aware and memory-aware balancing gain over CPU load balancing ({seeds} seeds, bars: 95 %)"
    figure = new_figure(12, 5, title)
    looks = series_looks(list(PRESETS))
    for axes, swept in zip(figure.subplots(1, len(LOADS)), LOADS, strict=True):
        aware, blind = PAIRS[swept]
        for preset in PRESETS:
            own = table[(table["swept"] == swept) & (table["preset"] == preset) & (table["policy"] == aware)]
            bounds = (own[name].to_numpy(float) for name in ("ratio", "ratio_low", "ratio_high"))
            error_bars(axes, own["load"].to_numpy(float), *bounds, label=preset, **looks[preset])
        axes.axhline(1.0, color=REMARK, linewidth=0.8)
        axes.set_xticks(LOADS[swept])
        tidy(axes, f"{aware} over {blind}", f"offered {swept} load of a node [1]", "mean slowdown, ratio")
        if swept == "memory":
            log_ticks(axes, of_y=True)
    legend_below(figure, *figure.axes[0].get_legend_handles_labels())
    save(figure, path)


@click.command()
@seeds_option(8, "point")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "what-is-left.csv"), out / "what-is-left.png", seeds)
        return
    runs = measure(seeds, workers)
    by = ["swept", "preset", "load", "policy"]
    out.mkdir(parents=True, exist_ok=True)
    runs["collapsed"] = runs["mean_slowdown"] > COLLAPSED
    table = means(runs, by, *METRICS, "collapsed").merge(gains(runs), how="left", on=by)
    table.to_csv(out / "what-is-left.csv", index=False, float_format="%.4g")
    draw(table, out / "what-is-left.png", seeds)
    shown = table.pivot_table(index=["swept", "preset", "load"], columns="policy", values="mean", sort=False)
    click.echo(shown.round(3).to_string())
    shown = table[table["collapsed"] > 0].pivot_table(index=by[:3], columns="policy", values="collapsed", sort=False)
    click.echo("share of the runs that collapse\n" + shown.to_string())
    for (swept, preset, load), own in runs.groupby(["swept", "preset", "load"], sort=False):
        aware, blind = PAIRS[str(swept)]
        for one, other in ((aware, blind), (aware, "none"), (blind, "none")):
            ratio = ratio_of(own, one, other, "mean_slowdown")
            click.echo(
                f"{swept} {load:g}, {preset}: {one}/{other} {ratio.mean:.4g} [{ratio.low:.4g}, {ratio.high:.4g}]"
            )


if __name__ == "__main__":
    main()

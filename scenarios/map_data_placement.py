"""Where placement by data pays: LMIP's data access against the majority of the data and against load alone.

    python scenarios/map_data_placement.py --out docs/papers

Everything but what is swept is `wide-area-data`: four clusters of three nodes. Writes `data-placement.csv` and `.png`;
8 seeds take five minutes on two cores. What comes out is discussed in docs/papers/data-placement.md.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import pandas as pd
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm import load_scenario
from cluster_abm.results.colours import ink_on
from cluster_abm.results.load_scale import shades_of_ratios
from cluster_abm.results.style import new_figure, save
from cluster_abm.scenario import shipped_path
from cluster_abm.study.runner.tasks import SeededRun, run_all
from cluster_abm.study.statistics.paired import paired

Floats = npt.NDArray[np.float64]

TRUNKS_MBPS = (10.0, 30.0, 100.0, 300.0, 1000.0)
FILES_MB = (1.0, 4.0, 16.0, 64.0)
MEAN_CPU_MS = 2000.0
LOCAL = {"bandwidth_mbps": 1000.0, "latency_ms": 0.1, "trunk_latency_ms": 20.0}
NETWORKS: dict[str, dict[str, object]] = {
    "all clusters alike far": {"kind": "clusters", "clusters": 4, **LOCAL},
    "two and two near": {"file": str(shipped_path("networks", "two-pairs.json")), "nodes_per_vertex": 3, **LOCAL},
}
# What a policy is called here, and its keys.
POLICIES: dict[str, dict[str, object]] = {
    "data-access": {"policy.name": "data-access"},
    "data-access with load": {"policy.name": "data-access", "policy.load_weight_ms": MEAN_CPU_MS},
    "data-majority": {"policy.name": "data-majority"},
    "jsq": {"policy.name": "jsq"},
}
TELLS = "ratio of mean responses (above 1: data access is better; =: the interval holds 1)"
# Pairs of policies: mean response of the first divided by that of the second.
RATIOS = (("data-majority", "data-access"), ("jsq", "data-access"), ("jsq", "data-access with load"))


def task(network: str, trunk_mbps: float, file_mb: float, policy: str, seed: int) -> SeededRun:
    """One run of a cell."""
    settings = {
        "interconnect": NETWORKS[network] | {"trunk_bandwidth_mbps": trunk_mbps},
        "data.size_mb.mean": file_mb,
        **POLICIES[policy],
    }
    return SeededRun(load_scenario("wide-area-data", settings), seed)


def measure(seeds: int, workers: int | None) -> pd.DataFrame:
    """One row a network, bandwidth and size: mean responses and waits for files of each policy [ms].

    For each pair of RATIOS also the ratio of the mean responses, and the 95 % interval of their paired difference as
    such a ratio.
    """
    cells = list(product(NETWORKS, TRUNKS_MBPS, FILES_MB))
    tasks = [task(*cell, policy, seed) for cell in cells for policy in POLICIES for seed in range(1, 1 + seeds)]
    outcome = run_all(tasks, workers, label="map")
    if outcome.interrupted or outcome.errors:
        raise SystemExit("\n".join(outcome.errors) or "interrupted")
    metrics = [row for row in outcome.rows if row is not None]
    shape = (len(cells), len(POLICIES), seeds)
    responses = np.asarray([metric["mean_response_ms"] for metric in metrics], float).reshape(shape)
    waits = np.asarray([metric["breakdown_ms.migration"] for metric in metrics], float).reshape(shape)
    rows = []
    for cell, response_ms, wait_ms in zip(cells, responses, waits, strict=True):
        row: dict[str, object] = dict(zip(("network", "trunk_mbps", "file_mb"), cell, strict=True))
        row |= dict(zip(POLICIES, response_ms.mean(axis=1), strict=True))
        row |= {f"{name}: wait": wait for name, wait in zip(POLICIES, wait_ms.mean(axis=1), strict=True)}
        for pair in RATIOS:
            row |= _ratio(dict(zip(POLICIES, response_ms, strict=True)), *pair)
        rows.append(row)
    return pd.DataFrame(rows)


def _ratio(response_ms: dict[str, Floats], rival: str, ours: str) -> dict[str, float]:
    """The ratio of the means, and the interval of the difference on the same jobs as such ratios."""
    found = paired(response_ms[rival].tolist(), response_ms[ours].tolist())
    low, high = found.difference.ci95 or (np.nan, np.nan)
    mean = float(response_ms[ours].mean())
    name = f"{rival} / {ours}"
    return {name: found.ratio, f"{name}: low": 1.0 + low / mean, f"{name}: high": 1.0 + high / mean}


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A map for each network and pair: the ratio of mean responses in each cell, "=" where the interval holds 1."""
    from matplotlib.colors import LogNorm

    figure = new_figure(13, 8.2, f"Mean response as a multiple of data access's (12 nodes, {seeds} seeds)")
    panels = figure.subplots(len(NETWORKS), len(RATIOS), sharex=True, sharey=True)
    image, shades, scale = None, shades_of_ratios(), LogNorm(1 / 7, 7)
    for row, network in enumerate(NETWORKS):
        of_network = table[table["network"] == network]
        for panel, (rival, ours) in zip(panels[row], RATIOS, strict=True):
            name = f"{rival} / {ours}"
            columns = of_network[[name, f"{name}: low", f"{name}: high"]].to_numpy(float)
            ratios, low, high = columns.T.reshape(3, len(TRUNKS_MBPS), len(FILES_MB))
            image = panel.imshow(ratios, origin="lower", cmap=shades, norm=scale, aspect="auto")
            for (y, x), ratio in np.ndenumerate(ratios):
                same = "=" if low[y, x] <= 1.0 <= high[y, x] else ""
                panel.text(x, y, f"{same}{ratio:.2f}", ha="center", va="center", color=ink_on(shades(scale(ratio))))
            panel.set_xticks(range(len(FILES_MB)), [f"{size:g}" for size in FILES_MB])
            panel.set_yticks(range(len(TRUNKS_MBPS)), [f"{trunk:,g}" for trunk in TRUNKS_MBPS])
            panel.set_title(f"{name}\n{network}", fontsize=10)
            panel.set_xlabel("mean size of a file [MB]" if row == len(NETWORKS) - 1 else "")
        panels[row][0].set_ylabel("wide-area bandwidth [Mbit/s]")
    bar = figure.colorbar(image, ax=panels, label=TELLS, ticks=[0.2, 0.5, 1, 2, 5])
    bar.ax.set_yticklabels(["0.2", "0.5", "1", "2", "5"])
    bar.ax.minorticks_off()
    save(figure, path)


@click.command()
@seeds_option(8, "cell")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure the map, print it, and write it as CSV and PNG."""
    if only_draws:
        draw(measured(out / "data-placement.csv"), out / "data-placement.png", seeds)
        return
    table = measure(seeds, workers)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "data-placement.csv", index=False, float_format="%.4g")
    draw(table, out / "data-placement.png", seeds)
    click.echo(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))


if __name__ == "__main__":
    main()

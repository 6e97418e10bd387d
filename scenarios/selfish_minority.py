"""What a minority of load managers that play by other rules does to the rest: docs/papers/selfish-minority.md.

    python scenarios/selfish_minority.py --seeds 16 --out docs/papers

A cluster of nodes under `jsq`, of which some have another manager or policy: *selfish* ones send tasks away as all
others do and refuse every offer; those of the group `random` send each task to a node drawn at random and refuse none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from script_options import draw_option, measured
from tqdm import tqdm

from cluster_abm import ClusterModel
from cluster_abm.model import LoadManager
from cluster_abm.results.colours import ALONE, SERIES_COLOURS
from cluster_abm.results.style import error_bars, legend_below, new_figure, save, tidy, whole_numbers
from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.estimates import estimate

NODES = 16
MINORITIES = (0, 1, 2, 4, 8)
SETTINGS: dict[str, Any] = {
    "cluster__nodes": NODES, "policy__name": "jsq", "workload__utilisation": 0.7, "workload__duration_s": 600.0,
    "negotiation__remote_execution_ms": 100.0,
}  # fmt: skip


class Selfish(LoadManager):
    """Refuses every offer where its node belongs to the minority."""

    def answer(self, task: Any, decision: Any, asker: LoadManager) -> str:
        """Refuse, or answer as a cooperative manager does."""
        if self.index < self.model.minority:
            return "selfish"
        return super().answer(task, decision, asker)


class WithMinority(ClusterModel):
    """A cluster whose first nodes are selfish."""

    load_manager_class = Selfish
    minority = 0


def slowdowns(model: ClusterModel, minority: int) -> tuple[float, float]:
    """Mean slowdown of the jobs submitted at the minority's nodes, and of all others; NaN where there are none."""
    jobs = model.jobs_frame()
    of_minority = jobs["home"] < minority
    return float(jobs[of_minority]["slowdown"].mean()), float(jobs[~of_minority]["slowdown"].mean())


def one_run(kind: str, minority: int, seed: int) -> tuple[float, float]:
    """Run one cluster with a minority of that kind."""
    if kind == "selfish":
        chosen = type("Cluster", (WithMinority,), {"minority": minority})
        model: ClusterModel = chosen("cpu-bound", seed=seed, **SETTINGS)
    else:
        groups = [{"count": minority, "policy": "random"}] if minority else []
        model = ClusterModel("cpu-bound", seed=seed, **SETTINGS, cluster__group=groups)
    model.run()
    return slowdowns(model, minority)


def measure(seeds: int) -> pd.DataFrame:
    """One row a kind and size of minority: mean slowdowns with their 95 % intervals over seeds."""
    rows = []
    for kind in ("selfish", "random"):
        for minority in tqdm(MINORITIES, desc=kind, disable=None):
            found = np.array([one_run(kind, minority, seed) for seed in range(1, seeds + 1)])
            for place, group in enumerate(("minority", "others")):
                if np.isfinite(found[:, place]).all():
                    mean = estimate(found[:, place].tolist(), bounds_of("mean_slowdown"))
                    low, high = mean.ci95 or (np.nan, np.nan)
                    rows.append((kind, minority, group, mean.mean, low, high))
    return pd.DataFrame(rows, columns=["kind", "minority", "group", "mean_slowdown", "low", "high"])


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """Mean slowdown of both groups over the size of the minority, a panel a kind."""
    figure = new_figure(10, 4.2, f"A minority among {NODES} nodes under jsq (utilisation 0.7, {seeds} seeds)")
    for axes, (kind, own) in zip(figure.subplots(1, 2, sharey=True), table.groupby("kind", sort=False), strict=True):
        for group, line in own.groupby("group"):
            is_minority = group == "minority"
            look = {"color": SERIES_COLOURS[1], "marker": "D", "linestyle": "--"} if is_minority else {"color": ALONE}
            curve = (line[name] for name in ("minority", "mean_slowdown", "low", "high"))
            error_bars(axes, *curve, label="jobs of the minority" if is_minority else "jobs of the other nodes", **look)
        tidy(axes, f"{kind} minority", "nodes of the minority", "mean slowdown" if kind == "selfish" else "", grid="y")
        axes.xaxis.set_major_locator(whole_numbers())
    handles, labels = axes.get_legend_handles_labels()
    legend_below(figure, handles, labels)
    save(figure, path)


@click.command()
@click.option("--seeds", default=16, show_default=True, type=click.IntRange(min=2))
@click.option("--out", default="out/selfish-minority", show_default=True, type=click.Path(path_type=Path))
@draw_option
def main(seeds: int, out: Path, only_draws: bool) -> None:
    """Measure, and write selfish-minority.csv and .png."""
    if only_draws:
        draw(measured(out / "selfish-minority.csv"), out / "selfish-minority.png", seeds)
        return
    out.mkdir(parents=True, exist_ok=True)
    table = measure(seeds)
    table.round(4).to_csv(out / "selfish-minority.csv", index=False)
    draw(table, out / "selfish-minority.png", seeds)
    click.echo(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()

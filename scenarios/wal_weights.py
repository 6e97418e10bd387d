"""WAL's weights, tuned in sixteen regimes: does any fixed weighting hold everywhere, and do adaptive weights?

    python scenarios/wal_weights.py --out docs/papers

Eight nodes, what is scarce (CPU, disk, memory, CPU and disk), how scarce it is, and the law of the CPU times. In each
regime, for `wal-re` and for `wal-pm`, the search of `cluster-abm tune` looks for the best weights on seeds 1 to 8. On
the same seeds one weighting is chosen for all regimes. All of them, the defaults and `adaptive` run in all regimes on
seeds from 9 on. Writes `wal-weights.csv`, `wal-weights-found.csv` and `.png`; docs/papers/wal-weights.md discusses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pandas as pd
from script_options import draw_option, measured, out_option, workers_option
from tqdm import tqdm

from cluster_abm.limits import available_processors
from cluster_abm.results.colours import ink_on
from cluster_abm.results.load_scale import shades_of_ratios
from cluster_abm.results.style import new_figure, save, tidy
from cluster_abm.scenario import load_scenario
from cluster_abm.study.cells import Cell, ratio_of, run_cells
from cluster_abm.study.runner.executors import open_executor
from cluster_abm.study.runner.tasks import Where
from cluster_abm.study.statistics.paired import PairedDifference, corrected, paired
from cluster_abm.study.tuning.question import TuningQuestion
from cluster_abm.study.tuning.ranges import Over, Value
from cluster_abm.study.tuning.tune import tune

NODES, REQUEST_KB, REQUEST_MS, PROGRAMS_MB, FAULTS_PER_MS = 8, 100.0, 10.5, 480.0, 0.1
POLICIES = ("wal-re", "wal-pm")
# Offered loads of CPU, disk and memory where this is scarce, by how scarce.
SCARCE = {
    "CPU": lambda load: (load, 0.1, 0.02), "disk": lambda load: (0.2, load, 0.02),
    "memory": lambda load: (0.4, 0.1, 0.75 * load), "CPU and disk": lambda load: (load, load, 0.15 * load),
}  # fmt: skip
LOADS = (0.6, 0.8)
LAWS = {"exponential": {"kind": "exponential", "mean": 1000.0}, "heavy-tailed": {"kind": "hbd97", "mean": 1000.0}}
WEIGHTS = ("policy.cpu_weight", "policy.memory_weight", "policy.io_weight")
OVERS = (*(Over(key, 0.0, 1.0) for key in WEIGHTS), Over("policy.normalised", choices=(True, False)))
SEARCH_SEEDS = range(1, 9)

Settings = Mapping[str, Value]


class Regime(NamedTuple):
    """Under which work the weights are tuned."""

    scarce: str
    load: float
    law: str

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.scarce} {self.load:g}, {self.law}"

    def settings(self, duration_s: float) -> dict[str, object]:
        """The settings under which nodes are offered these loads by jobs of 1 s of CPU in the mean."""
        cpu, disk, memory = SCARCE[self.scarce](self.load)
        accesses = disk * 1000.0 / REQUEST_MS / cpu
        alone_s = 1.0 + accesses * REQUEST_MS / 1000.0
        return {
            "cluster.nodes": NODES,
            "cluster.page_fault_rate_per_ms": FAULTS_PER_MS,
            "cluster.page_fault_law": "overflow",
            "workload.utilisation": cpu,
            "workload.duration_s": duration_s,
            "workload.cpu_ms": LAWS[self.law],
            "workload.io_per_ms": {"kind": "uniform", "mean": accesses / 1000.0},
            "workload.request_kb": {"kind": "fixed", "mean": REQUEST_KB},
            "workload.memory_mb": {"kind": "uniform", "mean": memory * PROGRAMS_MB / (cpu * alone_s)},
        }


class Plan(NamedTuple):
    """How much is run."""

    regimes: tuple[Regime, ...]
    duration_s: float
    budget: int
    judge_seeds: range


FULL = Plan(tuple(Regime(*one) for one in product(SCARCE, LOADS, LAWS)), 600.0, 200, range(9, 25))
QUICK = Plan((Regime("CPU", 0.8, "heavy-tailed"), Regime("disk", 0.8, "heavy-tailed")), 60.0, 32, range(9, 13))


def found_by_search(regime: Regime, policy: str, plan: Plan) -> dict[str, Value]:
    """The best weights of a policy in a regime."""
    scenario = load_scenario("cpu-bound", {**regime.settings(plan.duration_s), "policy.name": policy})
    question = TuningQuestion(scenario, OVERS, plan.budget, len(SEARCH_SEEDS), 2, sum_to_one=WEIGHTS)
    return tune(question, quiet=True, where=Where("inline")).best_settings


def search_all(plan: Plan, workers: int | None) -> dict[tuple[str, Regime], dict[str, Value]]:
    """The best weights of each policy in each regime; searches run beside each other."""
    wanted = list(product(POLICIES, plan.regimes))
    with open_executor("process", workers or available_processors()) as executor:
        futures = [executor.submit(found_by_search, regime, policy, plan) for policy, regime in wanted]
        return {one: future.result() for one, future in zip(wanted, tqdm(futures, "searches"), strict=True)}


def weights(cpu: float, memory: float, io: float, normalised: bool = True) -> dict[str, Value]:
    """Settings of a weighting."""
    return {**dict(zip(WEIGHTS, (cpu, memory, io), strict=True)), "policy.normalised": normalised}


def grid() -> dict[str, Settings]:
    """Weightings in steps of a quarter: of normalised loads, and of CPU and I/O load in their own units."""
    quarters = [(c, m, 4 - c - m) for c in range(5) for m in range(5 - c)]
    normalised = {f"{c}/4 {m}/4 {i}/4": weights(c / 4, m / 4, i / 4) for c, m, i in quarters}
    raw = {f"{c}/4 0 {4 - c}/4 in own units": weights(c / 4, 0.0, 1 - c / 4, False) for c in range(5)}
    return {**normalised, **raw}


def run_weightings(
    plan: Plan, weightings: Mapping[str, Mapping[str, Settings]], seeds: Sequence[int], workers: int | None, label: str
) -> pd.DataFrame:
    """A row a run of every weighting of a policy in every regime; `policy` is the weighting, `of` the policy."""
    cells = [
        Cell({"of": name, "regime": regime.name, "policy": weighting}, "cpu-bound",
             {**regime.settings(plan.duration_s), "policy.name": name, **settings})
        for name, regime in product(POLICIES, plan.regimes)
        for weighting, settings in weightings[name].items()
    ]  # fmt: skip
    return run_cells(cells, seeds, ("mean_slowdown",), label, workers)


def for_all(runs: pd.DataFrame) -> str:
    """The weighting whose worst regime is the least bad against the best weighting there."""
    logs = np.log(runs.pivot_table(index=["regime", "seed"], columns="policy", values="mean_slowdown"))
    means = logs.groupby("regime").mean()
    return str(means.sub(means.min(axis=1), axis=0).max().idxmin())


def against(runs: pd.DataFrame, weighting: str, other: str | None) -> dict[tuple[str, str], PairedDifference]:
    """A weighting against another (None: the regime's own) in every regime: logarithms, Holm over all of them."""
    found = {}
    for (name, regime), own in runs.groupby(["of", "regime"], sort=False):
        wide = np.log(own.pivot_table(index="seed", columns="policy", values="mean_slowdown"))
        rival = other or f"tuned: {regime}"
        if weighting != rival:
            found[str(name), str(regime)] = paired(wide[weighting].tolist(), wide[rival].tolist())
    return corrected(found)


def table_of(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean slowdowns, and ratios to the regime's own weights and to the defaults with their intervals."""
    rows = []
    for (name, regime, weighting), own in runs.groupby(["of", "regime", "policy"], sort=False):
        group = runs[(runs["of"] == name) & (runs["regime"] == regime)]
        row = {"policy": name, "regime": regime, "weights": weighting, "mean_slowdown": own["mean_slowdown"].mean()}
        for word, rival in (("own", f"tuned: {regime}"), ("defaults", "defaults")):
            if weighting != rival:
                ratio = ratio_of(group, str(weighting), rival, "mean_slowdown")
                row |= {f"over_{word}": ratio.mean, f"over_{word}_low": ratio.low, f"over_{word}_high": ratio.high}
        rows.append(row)
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame, path: Path, plan: Plan) -> None:
    """A map for each policy: what weights tuned in one regime cost in another."""
    from matplotlib.colors import Normalize

    names = [regime.name for regime in plan.regimes]
    title = f"Mean slowdown over that of the regime's own weights ({len(plan.judge_seeds)} seeds not searched on)"
    figure = new_figure(11, 16, title)
    # Above 1 the weights cost something.
    shades, scale = shades_of_ratios().reversed(), Normalize(-0.4, 0.4)
    for axes, policy in zip(figure.subplots(len(POLICIES), 1, sharex=True), POLICIES, strict=True):
        own = table[table["policy"] == policy].pivot_table(index="weights", columns="regime", values="over_own")
        rows = [*(f"tuned: {name}" for name in names), "one for all", "defaults", "adaptive"]
        cells = own.reindex(index=rows, columns=names).fillna(1.0)
        image = axes.imshow(np.log(cells), cmap=shades, norm=scale, aspect="auto")
        for (y, x), ratio in np.ndenumerate(cells.to_numpy()):
            colour = ink_on(shades(scale(np.log(ratio))))
            axes.text(x, y, f"{ratio:.2f}", ha="center", va="center", color=colour, fontsize=7)
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=8)
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
        tidy(axes, policy, "regime that is judged" if policy == POLICIES[-1] else "", "weights")
        axes.grid(visible=False)
    ticks = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4)
    bar = figure.colorbar(image, ax=figure.axes, label="mean slowdown, over that of the regime's own weights")
    bar.set_ticks(np.log(ticks), labels=[f"{tick:g}" for tick in ticks])
    save(figure, path)


def tell_pairs(words: str, pairs: Mapping[tuple[str, str], PairedDifference]) -> None:
    """In how many regimes one is worse and better, and the worst and best of them."""
    for policy in POLICIES:
        own = {regime: pair for (name, regime), pair in pairs.items() if name == policy}
        if not own:
            continue
        worse = [regime for regime, pair in own.items() if pair.significant and pair.difference.mean > 0]
        better = [regime for regime, pair in own.items() if pair.significant and pair.difference.mean < 0]
        ordered = sorted(own, key=lambda regime: own[regime].difference.mean)
        ends = [f"{np.exp(own[one].difference.mean):.3f} ({one})" for one in (ordered[0], ordered[-1])]
        click.echo(
            f"{policy}, {words}: worse in {len(worse)}, better in {len(better)} of {len(own)} regimes; "
            f"from {ends[0]} to {ends[1]}"
        )


@click.command()
@click.option("--quick", is_flag=True, help="A smoke run: two regimes, short runs, a minute.")
@workers_option
@out_option
@draw_option
def main(quick: bool, workers: int | None, out: Path, only_draws: bool) -> None:
    """Search, judge, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "wal-weights.csv"), out / "wal-weights.png", QUICK if quick else FULL)
        return
    plan = QUICK if quick else FULL
    found = search_all(plan, workers)
    tuned = {
        policy: {f"tuned: {regime.name}": settings for (name, regime), settings in found.items() if name == policy}
        for policy in POLICIES
    }
    tried = run_weightings(plan, {name: tuned[name] | grid() for name in POLICIES}, SEARCH_SEEDS, workers, "for all")
    weightings: dict[str, dict[str, Settings]] = {}
    for policy in POLICIES:
        chosen = for_all(tried[tried["of"] == policy])
        one = (tuned[policy] | grid())[chosen]
        weightings[policy] = {
            **tuned[policy], "one for all": one, "defaults": {}, "adaptive": {"policy.adaptive": True}
        }  # fmt: skip
        click.echo(f"{policy}, one weighting for all regimes: {chosen}: {one}")
    runs = run_weightings(plan, weightings, plan.judge_seeds, workers, "judging")
    table = table_of(runs)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "wal-weights.csv", index=False, float_format="%.4g")
    rows = [{"policy": policy, "regime": regime.name, **one} for (policy, regime), one in found.items()]
    best = pd.DataFrame(rows).rename(columns=lambda name: name.removeprefix("policy."))
    best.to_csv(out / "wal-weights-found.csv", index=False)
    draw(table, out / "wal-weights.png", plan)
    click.echo(best.to_string(index=False))
    shown = table[table["weights"].isin(["one for all", "adaptive"])]
    click.echo(shown.to_string(index=False, float_format=lambda value: f"{value:.3f}"))
    for policy in POLICIES:
        for weighting in weightings[policy]:
            own = {key: pair for key, pair in against(runs, weighting, None).items() if key[0] == policy}
            tell_pairs(f"{weighting}, over the regime's own", own)
    for weighting, other in (("one for all", "defaults"), ("adaptive", "defaults"), ("adaptive", "one for all")):
        tell_pairs(f"{weighting} over {other}", against(runs, weighting, other))
        for policy in POLICIES:
            ratio = ratio_of(runs[runs["of"] == policy], weighting, other, "mean_slowdown", ["regime"])
            click.echo(f"{policy}, {weighting} over {other}, all regimes: {ratio.mean:.4f} "
                       f"[{ratio.low:.4f}, {ratio.high:.4f}]")  # fmt: skip
    tell_pairs("the regime's own over the defaults", own_over_defaults(runs))


def own_over_defaults(runs: pd.DataFrame) -> dict[tuple[str, str], PairedDifference]:
    """The weights tuned in each regime against the defaults there."""
    found = {}
    for (name, regime), own in runs.groupby(["of", "regime"], sort=False):
        wide = np.log(own.pivot_table(index="seed", columns="policy", values="mean_slowdown"))
        found[str(name), str(regime)] = paired(wide[f"tuned: {regime}"].tolist(), wide["defaults"].tolist())
    return corrected(found)


if __name__ == "__main__":
    main()

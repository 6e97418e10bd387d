"""Which conclusions of the papers, and of the arena, are true on recorded work: docs/validation/real-work.md.

    python scenarios/real_work.py --data DIR --out docs/validation

DIR holds the logs (docs/validation/real-work.md says which); those that are absent are left out and named. Every
conclusion of scenarios/published/real-work.toml is held against every workload. Writes `real-work.csv`,
`real-work-policies.csv` and `real-work.png`.
"""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
import pandas as pd
from reality.judging import WORDS, Claim, Verdict, beyond_all, verdict
from reality.workloads import SOURCES, Workload
from script_options import draw_option, measured, out_option, workers_option

from cluster_abm.results.colours import AGAINST, FOR, LINE, LINK, PAPER, ink_on, mixed
from cluster_abm.results.style import new_figure, save
from cluster_abm.scenario import shipped_path
from cluster_abm.study.cells import Cell, run_cells
from cluster_abm.study.statistics.gap import share_of_gap

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

METRICS = (
    "mean_slowdown", "mean_slowdown_job", "mean_slowdown_cpu", "mean_response_ms", "makespan_ms", "migrations",
    "remote_executions", "messages_per_job", "jobs.finished", "breakdown_ms.cpu_queue", "breakdown_ms.io_queue",
    "breakdown_ms.paging", "breakdown_ms.migration",
)  # fmt: skip
UNTRIED = Verdict(None, float("nan"))
# The ends that every policy is compared with.
BOUNDS = ("none", "pooled")
# Of a verdict: beyond Holm's correction over the table, and by its own interval alone.
COLOURS = {
    "holds": (FOR, mixed(FOR, 0.6)), "the reverse": (AGAINST, mixed(AGAINST, 0.6)), "not told apart": (LINE, LINE),
    "does not apply": (PAPER, PAPER),
}  # fmt: skip
SIGNS = {"holds": "✓ ", "the reverse": "✗ "}


def load_claims() -> list[Claim]:
    """Those of published/real-work.toml."""
    text = shipped_path("published", "real-work.toml").read_text(encoding="utf-8")
    return [Claim(**entry) for entry in tomllib.loads(text)["claim"]]


def run(workload: Workload, claims: list[Claim], workers: int | None, folder: Path) -> pd.DataFrame:
    """A row a run: every policy that a claim names which applies, and the bounds, on every replication."""
    applying = [claim for claim in claims if claim.applies(workload.load) and not untried(claim, workload)]
    policies = dict.fromkeys([*BOUNDS, *(name for claim in applying for name in (claim.better, claim.worse))])
    cells = [
        Cell(
            {"workload": workload.name, "policy": policy}, "replay",
            {**workload.settings, **window, **workload.of_policy.get(policy, {}), "policy.name": policy}, [seed],
        )
        for seed, window in enumerate(workload.windows, 1)
        for policy in policies
    ]  # fmt: skip
    return run_cells(cells, (), METRICS, workload.name, workers, folder)


def untried(claim: Claim, workload: Workload) -> bool:
    """Whether a policy of a claim is not run on a workload."""
    return bool({claim.better, claim.worse} & set(workload.without))


def judge(workload: Workload, claims: list[Claim], runs: pd.DataFrame) -> list[dict[str, object]]:
    """A row a claim, and one more for the workload's own metric."""
    rows = []
    for metric in (None, workload.also) if workload.also else (None,):
        column = workload.name if metric is None else f"{workload.name} makespan"
        for claim in claims:
            found = UNTRIED if untried(claim, workload) else verdict(claim, runs, workload.load, metric)
            rows.append({**named(claim), "workload": column, "metric": metric or claim.metric, **numbers(found)})
    return rows


def named(claim: Claim) -> dict[str, object]:
    """What tells a claim from others."""
    return {"paper": claim.paper, "says": claim.says, "better": claim.better, "worse": claim.worse}


def numbers(found: Verdict) -> dict[str, object]:
    """A verdict's columns."""
    ratio = found.ratio
    mean, low, high = (np.nan,) * 3 if ratio is None else (ratio.mean, ratio.low, ratio.high)
    return {"ratio": mean, "low": low, "high": high, "p": found.p_value, "verdict": found.word}


def by_policy(workload: Workload, runs: pd.DataFrame) -> pd.DataFrame:
    """The mean of each metric, and which share of the gap between `none` and `pooled` is closed (mean slowdown)."""
    table = runs.groupby(["workload", "policy"], sort=False)[list(METRICS)].mean().reset_index()
    wide = runs.pivot_table(index="seed", columns="policy", values="mean_slowdown")
    gaps = {name: share_of_gap(*(wide[one].tolist() for one in ("none", name, "pooled"))) for name in wide}
    table.insert(2, "gap_closed", [np.nan if (gap := gaps[name]) is None else gap.mean for name in table["policy"]])
    table.insert(1, "nodes", workload.nodes)
    for place, (name, load) in enumerate(workload.load.items()):
        table.insert(2 + place, f"offered_{name}", load)
    return table


def draw(table: pd.DataFrame, path: Path) -> None:
    """A row a claim, a column a workload: colour is the verdict, the number the ratio."""
    from matplotlib.colors import to_rgb

    claims = table.drop_duplicates(["paper", "better", "worse", "says"])
    columns = list(table["workload"].unique())
    figure = new_figure(
        4.2 + 1.05 * len(columns), 2.0 + 0.36 * len(claims), "Which conclusions are true on recorded work"
    )
    axes = figure.subplots()
    for row, (_, claim) in enumerate(claims.iterrows()):
        own = table[(table["says"] == claim["says"]) & (table["paper"] == claim["paper"])].set_index("workload")
        for place, column in enumerate(columns):
            one = own.loc[column]
            colour = COLOURS[str(one["verdict"])][0 if one["beyond_holm"] else 1]
            axes.add_patch(patch(place, row, colour))
            if np.isfinite(one["ratio"]):
                axes.text(place, row, signed(one), ha="center", va="center", fontsize=8.5, color=ink_on(to_rgb(colour)))
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(claims) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), [column.replace(" ", "\n", 1) for column in columns], fontsize=8.5)
    axes.xaxis.tick_top()
    axes.set_yticks(
        range(len(claims)),
        [f"{one['paper']}: {one['better']} / {one['worse']}" for _, one in claims.iterrows()],
        fontsize=9,
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for words, (strong, weak) in COLOURS.items():
        if words in SIGNS:
            signed_words = SIGNS[words] + words
            axes.plot(
                [], [], "s", color=strong, markersize=9, label=f"{signed_words}, beyond Holm's correction over all"
            )
            axes.plot([], [], "s", color=weak, markersize=9, label=f"{signed_words}, by its own 95 % interval")
        else:
            axes.plot([], [], "s", color=weak, markeredgecolor=LINK, markersize=9, label=words)
    axes.set_xlabel("ratio of the metrics, first policy over second, geometric mean on the same jobs [1]")
    figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    save(figure, path)


def signed(one: pd.Series) -> str:
    """The ratio after a sign for its verdict, which grey print keeps."""
    return f"{SIGNS.get(str(one['verdict']), '')}{one['ratio']:.2f}"


def patch(x: float, y: float, colour: str) -> Rectangle:
    """A cell of the table."""
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.45), 0.96, 0.9, facecolor=colour, edgecolor=LINE, linewidth=0.5)


@click.command()
@click.option("--data", required=True, type=click.Path(path_type=Path, exists=True, file_okay=False), help="The logs.")
@click.option("--replications", default=6, show_default=True, type=click.IntRange(min=2), help="Windows or draws.")
@click.option("--only", multiple=True, type=click.Choice([source.name for source in SOURCES]), help="These alone.")
@click.option(
    "--work", type=click.Path(path_type=Path, file_okay=False),
    help="Folder for derived traces and finished runs: a second call goes on there (default: a temporary one).",
)  # fmt: skip
@workers_option
@out_option
@draw_option
def main(
    data: Path,
    replications: int,
    only: tuple[str, ...],
    work: Path | None,
    workers: int | None,
    out: Path,
    only_draws: bool,
) -> None:
    """Run, judge, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "real-work.csv"), out / "real-work.png")
        return
    claims = load_claims()
    rows: list[dict[str, object]] = []
    policies: list[pd.DataFrame] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = work or Path(temporary)
        (folder / "traces").mkdir(parents=True, exist_ok=True)
        for source in SOURCES:
            if only and source.name not in only:
                continue
            files = source.found(data)
            if not files:
                click.echo(f"{source.name}: left out, no {data / source.files}")
                continue
            for workload in source.build(files, (folder / "traces").resolve(), replications):
                load = ", ".join(f"{name} {value:.2f}" for name, value in workload.load.items())
                between = f"{min(workload.loads):.2f} to {max(workload.loads):.2f}"
                click.echo(f"{workload.name}: {workload.nodes} nodes, offered {load} (busiest: {between})")
                click.echo(f"  recorded: {workload.real}\n  assumed: {workload.assumed}")
                runs = run(workload, claims, workers, folder / "runs")
                rows += judge(workload, claims, runs)
                policies.append(by_policy(workload, runs))
    if not rows:
        raise click.UsageError(f"{data}: holds none of the logs: {', '.join(source.files for source in SOURCES)}")
    table = pd.DataFrame(rows)
    table["beyond_holm"] = beyond_all(table["p"].tolist())
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "real-work.csv", index=False, float_format="%.4g")
    pd.concat(policies).to_csv(out / "real-work-policies.csv", index=False, float_format="%.4g")
    draw(table, out / "real-work.png")
    cells = [
        f"{ratio:.2f} {word}{'**' if beyond else ''}" if np.isfinite(ratio) else WORDS[""]
        for ratio, word, beyond in zip(
            table["ratio"].tolist(), table["verdict"].tolist(), table["beyond_holm"].tolist(), strict=True
        )
    ]
    shown = table.assign(cell=cells).pivot_table(
        index=["paper", "better", "worse"], columns="workload", values="cell", aggfunc="first", sort=False
    )
    click.echo(shown.to_string())
    tested = table[table["ratio"].notna()]
    counted = tested.groupby("verdict")["beyond_holm"].agg(["size", "sum"])
    click.echo(
        f"{len(tested)} comparisons; of each verdict, and of these beyond Holm's correction over all:\n{counted}"
    )


if __name__ == "__main__":
    main()

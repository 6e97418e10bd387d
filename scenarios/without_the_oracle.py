"""Which of the papers' conclusions are left when load managers negotiate by reports: docs/papers/without-the-oracle.md.

    python scenarios/without_the_oracle.py --out docs/papers

The papers' own scenarios decide centrally on the true state of every node (mode `papers`). Here every conclusion of
scenarios/published/conclusions.toml is compared once more so, and with managers that know of the others what reports
say, are refused, and wait for answers. Writes `without-the-oracle.csv` and `.png`.
"""

from __future__ import annotations

from pathlib import Path

import click
import pandas as pd
from conclusions import Conclusion, distinct, load_conclusions
from script_options import draw_option, measured, out_option, seeds_option, workers_option

from cluster_abm.results.colours import AGAINST, FOR, INK, LINE, REMARK
from cluster_abm.results.style import log_ticks, new_figure, save, tidy
from cluster_abm.study.cells import Ratio, run_cells

LATENCY_MS = 0.1
WAYS: dict[str, dict[str, object]] = {
    "true loads (papers)": {"negotiation.mode": "papers"},
    **{
        f"reports every {period_s:g} s": {
            "negotiation.mode": "negotiated",
            "cluster.exchange_period_ms": 1000.0 * period_s,
            "interconnect.latency_ms": LATENCY_MS,
        }
        for period_s in (0.1, 1.0, 10.0)
    },
}
# Filled, empty and half filled: distinct in grey too.
COLOURS = {"yes": FOR, "not told": REMARK, "no": AGAINST}
FILLED = {"yes": "full", "not told": "none", "no": "left"}
WORDS = {"yes": "holds by more than noise", "not told": "not told apart", "no": "the reverse, by more than noise"}
MARKERS = dict(zip(WAYS, "osD^", strict=True))


def measure(conclusions: list[Conclusion], seeds: int, workers: int | None) -> pd.DataFrame:
    """Every conclusion under every way: ratio of the better policy's metric to the worse one's, with its interval."""
    cells = distinct(
        cell
        for conclusion in conclusions
        for way, settings in WAYS.items()
        for cell in conclusion.cells({"way": way}, settings, conclusion.points)
    )
    metrics = sorted({conclusion.metric for conclusion in conclusions})
    runs = run_cells(cells, range(1, 1 + seeds), metrics, "without the oracle", workers)
    rows = []
    for conclusion in conclusions:
        for way in WAYS:
            ratio = conclusion.ratio(runs[runs["way"] == way])
            rows.append(
                {
                    "paper": conclusion.paper, "says": conclusion.says, "better": conclusion.better,
                    "worse": conclusion.worse, "way": way, "ratio": ratio.mean, "low": ratio.low, "high": ratio.high,
                    "holds": ratio.word,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def draw(table: pd.DataFrame, path: Path, seeds: int) -> None:
    """A row a conclusion, in it a point a way, with its interval."""
    title = f"The papers' conclusions with true loads and with reports ({seeds} seeds, bars: 95 %)"
    figure = new_figure(11, 9.5, title)
    axes = figure.subplots()
    labels = []
    for row, (_, own) in enumerate(table.groupby(["paper", "says"], sort=False)):
        first = own.iloc[0]
        labels.append(f"{first['paper']}: {first['better']} / {first['worse']}")
        for place, (_, one) in enumerate(own.iterrows()):
            y = row + (place - 1.5) * 0.19
            colour = COLOURS[str(one["holds"])]
            axes.plot([one["low"], one["high"]], [y, y], color=colour, linewidth=1.2)
            axes.plot(
                one["ratio"],
                y,
                MARKERS[str(one["way"])],
                color=colour,
                markersize=6,
                fillstyle=FILLED[str(one["holds"])],
            )
        axes.axhline(row + 0.5, color=LINE, linewidth=0.6)
    axes.axvline(1.0, color=INK, linewidth=0.8)
    axes.set_xlim(max(0.01, table["low"].min() * 0.9), min(5.0, table["high"].max() * 1.1))
    log_ticks(axes)
    axes.set_yticks(range(len(labels)), labels, fontsize=9)
    axes.invert_yaxis()
    label = "ratio of the metrics, geometric mean on the same jobs (below 1: as the paper says)"
    tidy(axes, "", label, "", grid="x")
    for way, marker in MARKERS.items():
        axes.plot([], [], marker, color=INK, markersize=5, label=way)
    for word, colour in COLOURS.items():
        axes.plot([], [], "s", color=colour, fillstyle=FILLED[word], label=WORDS[word])
    figure.legend(loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    save(figure, path)


@click.command()
@seeds_option(8, "point")
@workers_option
@out_option
@draw_option
def main(seeds: int, workers: int | None, out: Path, only_draws: bool) -> None:
    """Measure, print, and write CSV and PNG."""
    if only_draws:
        draw(measured(out / "without-the-oracle.csv"), out / "without-the-oracle.png", seeds)
        return
    table = measure(load_conclusions(), seeds, workers)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "without-the-oracle.csv", index=False, float_format="%.4g")
    draw(table, out / "without-the-oracle.png", seeds)
    cells = [str(Ratio(*row)) + ("" if word == "yes" else f" ({word})")
             for *row, word in table[["ratio", "low", "high", "holds"]].itertuples(index=False)]  # fmt: skip
    shown = table.assign(cell=cells).pivot_table(
        index=["paper", "better", "worse"], columns="way", values="cell", aggfunc="first", sort=False
    )
    click.echo(shown.to_string())


if __name__ == "__main__":
    main()

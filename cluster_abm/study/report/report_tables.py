"""The tables of a report in Markdown: policies compared, their differences, percentiles, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from cluster_abm.results.asked import better_side
from cluster_abm.results.of_studies.study_axes import key_texts, label_of
from cluster_abm.study.report.findings import Findings
from cluster_abm.study.report.markdown import table_lines, with_interval
from cluster_abm.study.statistics.seeds_compared import FAILED


def left_out_lines(found: Findings, metric: str) -> list[str]:
    """How many seeds are not part of a metric's numbers, and why; nothing where all are."""
    if not len(found.left_out):
        return []
    rows = found.left_out[found.left_out["metric"] == metric]
    lines = []
    seeds = rows[rows["what"] == "seed"]
    if len(seeds):
        count = len(seeds.drop_duplicates(["point", "seed"]))
        reasons = [
            f"`{policy}` {'failed on' if why == FAILED else 'has no value on'} {len(group):,}"
            for (policy, why), group in seeds.groupby(["policy", "why"], sort=False)
        ]
        what = "seed of a point is" if count == 1 else "seeds of points are"
        lines += [f"**{count:,} {what} left out for all policies** (left-out.csv): {', '.join(reasons)}.", ""]
    for (policy, why), group in rows[rows["what"] == "policy"].groupby(["policy", "why"], sort=False):
        why_words = "all its runs failed" if why == FAILED else "none of its runs has a value"
        lines += [f"**`{policy}` is left out at {len(group):,} of {len(found.points):,} points**: {why_words}.", ""]
    return lines


def comparison_table(found: Findings, metric: str) -> list[str]:
    """Policies over the seeds that all of them have: by rank, where there is one."""
    rows = found.compared[found.compared["metric"] == metric]
    alone = found.estimates[found.estimates["metric"] == metric].set_index(["point", "policy"])
    # Both tables have the same rows in the same order.
    some_have_more = bool((alone["seeds"].to_numpy() > rows["seeds"].to_numpy()).any())
    ranks = _ranks(found, metric)
    if ranks is not None:
        rows = rows.assign(order=[ranks.get(key, ("", len(rows)))[1] for key in _cells(rows)])
        rows = rows.sort_values(["point", "order"], kind="stable")
    keys = _Keys(found.points)
    lines = []
    for _, row in rows.iterrows():
        cells = [*keys[row["point"]]]
        if ranks is not None:
            cells.append(ranks.get((row["point"], row["policy"]), ("–", 0))[0])
        known = row["seeds"] > 0
        cells += [
            f"`{row['policy']}`",
            with_interval(row["mean"], row["low"], row["high"]) if known else "no value",
            with_interval(row["median"], row["median_low"], row["median_high"]) if known else "no value",
            str(row["seeds"]),
        ]
        if some_have_more:
            own = alone.loc[(row["point"], row["policy"])]
            mean = with_interval(own["mean"], own["low"], own["high"]) if own["seeds"] else "no value"
            cells.append(f"{mean} ({own['seeds']})")
        lines.append(cells)
    of_seeds = ["mean over seeds [95 %]", "median over seeds [95 %]", "seeds counted"]
    head = [*keys.heads, *(["rank"] if ranks is not None else []), "policy", *of_seeds]
    if some_have_more:
        head.append("mean over all its own seeds (how many)")
    table = table_lines(head, lines, "compared.csv")
    return table if ranks is not None else [*table, "No ranks: neither more nor less of it is better by itself.", ""]


def difference_table(found: Findings, metric: str) -> list[str]:
    """Every pair's difference, over the same seeds."""
    if not len(found.differences):
        return []
    keys = _Keys(found.points)
    rows = [
        [
            *keys[row["point"]], f"`{row['a']}`", f"`{row['b']}`",
            with_interval(row["ratio"], row["ratio_low"], row["ratio_high"]),
            with_interval(row["difference"], row["low"], row["high"]),
            "one sample" if row["significant"] is None else row["verdict"],
        ]
        for _, row in found.differences[found.differences["metric"] == metric].iterrows()
    ]  # fmt: skip
    head = [*keys.heads, "a", "b", "a / b [95 % over all together (Holm)]", "a - b [95 %]", "a is"]
    return table_lines(head, rows, "differences.csv")


def percentile_table(found: Findings) -> list[str]:
    """Percentiles of slowdowns, a row a point and policy."""
    texts = [with_interval(*row) for row in found.percentiles[["mean", "low", "high"]].to_numpy()]
    table = found.percentiles.assign(text=texts).pivot_table(
        index=["point", "policy"], columns="percentile", values="text", aggfunc="first", sort=False
    )
    keys = _Keys(found.points)
    rows = [
        [*keys[point], f"`{policy}`", *row] for (point, policy), row in zip(table.index, table.to_numpy(), strict=True)
    ]
    return table_lines([*keys.heads, "policy", *(f"{percent} %" for percent in table.columns)], rows, "percentiles.csv")


class _Keys:
    """The cells that distinguish points."""

    def __init__(self, points: pd.DataFrame) -> None:
        self.heads = [label_of(str(key)) for key in points.columns]
        self._texts = key_texts(points)

    def __getitem__(self, point: int) -> list[str]:
        return [str(text) for text in self._texts.loc[point]]


def _ranks(found: Findings, metric: str) -> dict[tuple[int, str], tuple[str, int]] | None:
    """The rank in words of each point and policy, and its place in the table; None if the metric has none."""
    if not better_side(metric):
        return None
    if not len(found.ranking):
        return {}
    ranked = found.ranking[found.ranking["metric"] == metric]
    words = [f"{a}" if a == b else f"{a} to {b}" for a, b in zip(ranked["best"], ranked["worst"], strict=True)]
    return {key: (word, order) for order, (key, word) in enumerate(zip(_cells(ranked), words, strict=True))}


def _cells(rows: pd.DataFrame) -> Sequence[tuple[int, str]]:
    return list(zip(rows["point"], rows["policy"], strict=True))

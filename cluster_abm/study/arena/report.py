"""The arena's report: Markdown, tables and pictures in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cluster_abm.results.figures.files import linked
from cluster_abm.results.files import write_json, write_table, write_text
from cluster_abm.results.style import save
from cluster_abm.results.words import line_words
from cluster_abm.study.arena.arena import LEFT_OUT, Arena, ArenaSize
from cluster_abm.study.arena.figures import PICTURES, figure_of
from cluster_abm.study.arena.regimes import BY_NAME, FACTORS, in_words
from cluster_abm.study.arena.rules import RegimeRule, rules
from cluster_abm.study.arena.verdicts import regrets_by_third, table_of_regret
from cluster_abm.study.heads import paragraphs
from cluster_abm.study.report.markdown import table_lines

# Policies of which rules are sought: the best, and the textbook's.
RULES_OF_BEST = 10
TEXTBOOK = (
    "random", "round-robin", "power-of-d", "jsq", "lwl", "central-queue", "easy", "tetris", "jiq", "cpu-based", "none",
)  # fmt: skip


def document(arena: Arena, plan: ArenaSize, own: Sequence[str]) -> dict[str, Any]:
    """What the arena has found, as plain data: what `cluster-abm arena --json` prints."""
    table = table_of_regret(arena.runs, arena.found)
    return {
        "regimes": len(arena.found),
        "seeds": plan.seeds,
        "own": list(own),
        "settings": dict(arena.settings),
        "headline": arena.headline,
        **({} if arena.estimated is None else arena.estimated.as_json()),
        "ranking": [
            {name: _plain(value) for name, value in row.items()} for row in table.to_dict(orient="records")
        ],
        "rules": [rule._asdict() for rule in rules_of(arena, table)],
        "verdicts": [
            {
                "regime": {str(name): float(str(value)) for name, value in arena.regimes.loc[number].items()},
                "best": found.best,
                "like": list(found.like),
            }
            for number, found in arena.found.items()
        ],
    }  # fmt: skip


def rules_of(arena: Arena, table: pd.DataFrame) -> list[RegimeRule]:
    """The rules among the best policies and the textbook's."""
    chosen = [*table["policy"].head(RULES_OF_BEST), *TEXTBOOK]
    names = [name for name in dict.fromkeys(chosen) if name in set(table["policy"])]
    return rules(arena.regimes, arena.logs, names)


def write_report(folder: Path, arena: Arena, plan: ArenaSize, own: Sequence[str]) -> None:
    """Write arena.md, arena.json, runs.parquet, regimes.csv, regret.csv, regret.png and map.png."""
    table = table_of_regret(arena.runs, arena.found)
    write_json(folder, "arena.json", document(arena, plan, own))
    write_table(folder, "runs.parquet", arena.runs)
    write_text(folder, "regimes.csv", arena.regimes.to_csv(float_format="%.4g"))
    write_text(folder, "regret.csv", table.to_csv(index=False, float_format="%.4g"))
    figures = [figure_of(arena.regimes, arena.runs, arena.found, arena.headline, name, {}, own) for name in PICTURES]
    for name, figure in zip(PICTURES, figures, strict=True):
        save(figure, folder / f"{name}.png")
    write_text(folder, "arena.md", markdown(arena, plan, table, own))


def markdown(arena: Arena, plan: ArenaSize, table: pd.DataFrame, own: Sequence[str]) -> str:
    """The report as text."""
    words = line_words(arena.headline)
    lines = [
        "# The arena",
        "",
        f"{len(table)} policies in {len(arena.found)} regimes: points of a Latin hypercube over the factors below, "
        f"{plan.seeds} seeds each, the same jobs for every policy. A regime's best policy is that of least "
        f"{words} (geometric mean over seeds); *regret* is a policy's {words} over the best's, less 1.",
        *_settings(arena),
        "",
        *paragraphs([] if arena.estimated is None else arena.estimated.words),
        *table_lines(
            ["factor", "from", "to"], [[factor.words, f"{factor.low:g}", f"{factor.high:g}"] for factor in FACTORS],
            "regret.csv",
        ),
        "",
        linked("regret", "regret.png"),
        "",
        *table_lines(
            ["policy", "mean regret", "95 % over regimes", "worst", "best, or not told apart, in", "alone best in",
             "regret of mean slowdown", "of the gap to pooled", "messages per job"],
            [_row(row, own) for row in table.to_dict(orient="records")],
            "regret.csv",
        ),
        "",
        "The least of several noisy means is too low: regrets are somewhat too high, for all policies alike. *Not told "
        "apart*: paired t tests of the logarithms against the regime's best, Holm's correction over its policies, "
        "5 %. *Of the gap*: the median over regimes of the share of the gap between `none` and `pooled` that a policy "
        "closes. Left out: "
        + "; ".join(f"`{name}` ({why})" for name, why in LEFT_OUT.items() if name not in set(table["policy"]))
        + ".",
        "",
        "## Where which policy is best",
        "",
        linked("map", "map.png"),
        "",
        "## Rules",
        "",
    ]  # fmt: skip
    found = rules_of(arena, table)
    lines += [f"* {rule.in_words}" for rule in found] or ["No rule holds by more than noise in these regimes."]
    lines += [
        "",
        f"In brackets: how much larger the other one's {words} is, in the geometric mean over the third of the regimes "
        "in which the factor is largest, or least. A rule is listed if the factor decides (rank correlation with the "
        "ratio of the two, 5 % with Holm's correction over all pairs and factors) and the policies differ by more "
        "than noise in both thirds (t tests over regimes, 5 %); they change places where a straight line through the "
        "regimes says so.",
    ]
    for name in own:
        lines += _of_own(arena, table, name)
    return "\n".join([*lines, ""])


def _settings(arena: Arena) -> list[str]:
    """What was laid over all regimes, if anything."""
    given = ", ".join(f"`{key} = {value}`" for key, value in arena.settings.items())
    return ["", f"In all regimes: {given}."] if given else []


def _of_own(arena: Arena, table: pd.DataFrame, name: str) -> list[str]:
    """The section of a user's own policy."""
    if name not in set(table["policy"]):
        return []
    place = int(table.index[table["policy"] == name][0]) + 1
    row = table.iloc[place - 1]
    regret = pd.Series({number: found.regret[name] for number, found in arena.found.items()})
    lines = [
        "", f"## {name}", "",
        f"Place {place} of {len(table)} by mean regret ({row['regret']:.1%}). It is best, or not told apart from the "
        f"best, in {row['best_in']} of {len(regret)} regimes, and sends {row['messages']:.3g} messages per job.",
        "", "Where it is nearest to the best:", "",
    ]  # fmt: skip
    for number in regret.sort_values().index[:3]:
        lines.append(f"* {regret[number]:+.1%}: {in_words(arena.regimes.loc[number])}")
    lines += ["", "Where it loses most:", ""]
    for number in regret.sort_values(ascending=False).index[:3]:
        lines.append(f"* {regret[number]:+.1%} to {arena.found[number].best}: {in_words(arena.regimes.loc[number])}")
    thirds = regrets_by_third(arena.regimes, arena.found, name, [factor.name for factor in FACTORS])
    lines += [
        "", "Its mean regret by thirds of each factor:", "",
        *table_lines(
            ["factor", "low", "middle", "high"],
            [[BY_NAME[str(factor)].words, *(f"{value:.1%}" for value in values)]
             for factor, *values in thirds.itertuples()],
            "regret.csv",
        ),
    ]  # fmt: skip
    return lines


def _row(row: Mapping[Any, Any], own: Sequence[str]) -> list[str]:
    name = f"**{row['policy']}**" if row["policy"] in own else str(row["policy"])
    closed = "" if np.isnan(row["gap_closed"]) else f"{row['gap_closed']:.0%}"
    return [
        name, f"{row['regret']:.1%}", f"{row['low']:.1%} to {row['high']:.1%}", f"{row['worst']:.0%}",
        str(row["best_in"]), str(row["alone_in"]), f"{row['regret_of_mean_slowdown']:.1%}", closed,
        f"{row['messages']:.3g}",
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value
    number = float(value)
    return None if not np.isfinite(number) else int(number) if isinstance(value, int | np.integer) else number

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
from cluster_abm.study.arena.claims import (
    GAINS,
    KEEPS,
    LOSES,
    MOST_NAMED,
    by_rank_kept,
    general,
    listed,
    of_sizes,
    places_in_words,
)
from cluster_abm.study.arena.figures import PICTURES, figure_of
from cluster_abm.study.arena.regimes import BY_NAME, FACTORS, Factor, in_words
from cluster_abm.study.arena.sizes import CHANGES
from cluster_abm.study.arena.verdicts import TRAITS, regrets_by_third
from cluster_abm.study.heads import paragraphs
from cluster_abm.study.report.markdown import table_lines

PLURAL = {KEEPS: "keep their ranks", LOSES: "lose rank", GAINS: "gain rank"}


def document(arena: Arena, plan: ArenaSize, own: Sequence[str]) -> dict[str, Any]:
    """What the arena has found, as plain data: what `cluster-abm arena --json` prints."""
    table = arena.table
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
        "rules": [rule._asdict() for rule in arena.rules.held],
        "rules_found": len(arena.rules.found),
        "sizes": {
            name: [{str(key): _plain(value) for key, value in row.items()} for row in rows_of(own)]
            for name, own in arena.sizes.items()
        },
        "verdicts": [
            {
                "regime": {
                    str(name): BY_NAME[str(name)].shown(float(str(value)))
                    for name, value in arena.regimes.loc[number].items()
                },
                "best": found.best,
                "sure": list(found.sure),
            }
            for number, found in arena.found.items()
        ],
    }  # fmt: skip


def write_report(folder: Path, arena: Arena, plan: ArenaSize, own: Sequence[str]) -> None:
    """Write arena.md, arena.json, runs.parquet, regimes.csv, regret.csv, sizes.csv, regret.png and map.png."""
    table = arena.table
    write_json(folder, "arena.json", document(arena, plan, own))
    write_table(folder, "runs.parquet", arena.runs)
    shown = arena.regimes.assign(**{one.name: arena.regimes[one.name].map(one.shown) for one in FACTORS if one.names})
    write_text(folder, "regimes.csv", shown.to_csv(float_format="%.4g"))
    write_text(folder, "regret.csv", table.to_csv(index=False, float_format="%.4g"))
    figures = [figure_of(arena.regimes, arena.runs, arena.found, arena.headline, name, {}, own) for name in PICTURES]
    for name, figure in zip(PICTURES, figures, strict=True):
        save(figure, folder / f"{name}.png")
    if arena.sizes:
        rows = [one.reset_index().assign(change=name) for name, one in arena.sizes.items()]
        write_text(folder, "sizes.csv", pd.concat(rows).to_csv(index=False, float_format="%.4g"))
    write_text(folder, "arena.md", markdown(arena, plan, own))


def markdown(arena: Arena, plan: ArenaSize, own: Sequence[str]) -> str:
    """The report as text."""
    words, table = line_words(arena.headline), arena.table
    lines = [
        "# The arena",
        "",
        f"{len(table)} policies in {len(arena.found)} regimes: points of a Latin hypercube over the factors below, "
        f"{plan.seeds} seeds each, the same jobs for every policy. A regime's best policy is that of least "
        f"{words} (geometric mean over seeds); *regret* is a policy's {words} over the best's, less 1.",
        *_settings(arena),
        "",
        *paragraphs(arena.head),
        *table_lines(
            ["factor", "from", "to"],
            [[factor.words, _end(factor, factor.low), _end(factor, factor.high)] for factor in FACTORS],
            "regret.csv",
        ),
        "",
        *(f"* {claim.words}" for claim in general(arena)),
        "",
        linked("regret", "regret.png"),
        "",
        *table_lines(
            ["policy", "mean regret", "95 % over regimes", "worst", "surely within 10 % of the best in", "best in",
             "knows sizes", "sees the true state", "may refuse", "regret of mean slowdown", "of the gap to pooled",
             "messages per job"],
            [_row(row, own) for row in table.to_dict(orient="records")],
            "regret.csv",
        ),
        "",
        "The least of several noisy means is too low: regrets are somewhat too high, for all policies alike. *Surely "
        "within 10 %*: against every other policy the upper end of the one-sided 95 % interval of the mean log ratio "
        "(paired over seeds, Student's t) is at most log 1.1; the observed best has to pass, too. *Knows sizes*: the "
        "policy reads announced CPU demands or requested times, or load indices of work still to come. *Sees the true "
        "state*: it decides by the state at the decision. *May refuse*: a node that is asked may refuse the task. "
        "*Of the gap*: the median over regimes of the share of the gap between `none` and `pooled` that a policy "
        "closes. Left out: "
        + "; ".join(f"`{name}` ({why})" for name, why in LEFT_OUT.items() if name not in set(table["policy"]))
        + ".",
        "",
        "## Where which policy is best",
        "",
        linked("map", "map.png"),
        "",
        *_rules(arena, words),
        *_sizes(arena, plan, words),
    ]  # fmt: skip
    for name in own:
        lines += _of_own(arena, table, name)
    return "\n".join([*lines, ""])


def _end(factor: Factor, value: float) -> str:
    shown = factor.shown(value)
    return shown if isinstance(shown, str) else f"{shown:g}"


def _rules(arena: Arena, words: str) -> list[str]:
    """The section of rules."""
    told = [f"* {rule.in_words}" for rule in arena.rules.held] or ["No rule holds on the other half of these regimes."]
    return [
        "## Rules",
        "",
        f"Rules are found in one half of the regimes and measured on the other half: {arena.rules.in_words}.",
        "",
        *told,
        "",
        f"In brackets: how much larger the other one's {words} is, in the geometric mean over the regimes of the other "
        "half above, or below, the value. A rule is found if the factor decides (rank correlation with the ratio of "
        "the two, 5 % with Holm's correction over all pairs and factors) and each policy is significantly better at "
        "one end of the factor (the third of the regimes in which it is least, or largest; t tests over regimes, "
        "5 %). They change places where a straight line through the regimes says so. A rule holds if on the other "
        "half both sides gain (one-sided t tests over regimes, 5 % each). Regimes of even number find, those of odd "
        "number measure.",
    ]


def _sizes(arena: Arena, plan: ArenaSize, words: str) -> list[str]:
    """The section of wrong sizes, and of tasks that differ."""
    if not arena.sizes:
        return []
    named = [str(name) for name in arena.table["policy"].head(MOST_NAMED)]
    tables = [arena.sizes[change.name].loc[named] for change in CHANGES]
    rows = [
        [name, str(wrong["before"]), str(wrong["after"]), _cost(wrong), str(each["after"])]
        for name, (_, wrong), (_, each) in zip(named, *(table.iterrows() for table in tables), strict=True)
    ]
    told = [
        f"* {change.words}, {listed(names)} {verb if len(names) == 1 else PLURAL[verb]}."
        for change in CHANGES for verb, names in by_rank_kept(arena, change, named).items()
    ]  # fmt: skip
    return [
        "",
        "## Sizes that are wrong, and tasks that differ",
        "",
        f"The first {plan.paired_regimes} regimes, {plan.paired_seeds} seeds each, three times: with exact sizes and "
        "tasks of a job that are alike; with sizes announced wrong by a factor of two "
        "(`workload.announced_error = 2`); and "
        'with a size drawn for each task (`workload.task_cpu = "each"`). All else is the same.',
        "",
        *told,
        *(f"* {claim.words}" for claim in of_sizes(arena) if claim.kind == "wrong" and " rank" not in claim.words),
        "",
        *table_lines(
            ["policy", "rank", "rank with wrong sizes", f"their cost in {words}", "rank with tasks that differ"], rows,
            "sizes.csv",
        ),
        "",
        f"A rank is kept if it moves by at most {places_in_words(len(arena.table))} among {len(arena.table)} policies. "
        "Of costs the interval is 95 % over regimes; one is significant by t tests with Holm's correction over all "
        "policies, 5 %.",
    ]  # fmt: skip


def rows_of(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows of a table of sizes.effects_of_sizes, with the policy in each."""
    return table.reset_index().to_dict(orient="records")


def _cost(row: pd.Series) -> str:
    return f"{row['cost']:+.1%} [{row['low']:+.1%}, {row['high']:+.1%}]"


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
        f"Place {place} of {len(table)} by mean regret ({row['regret']:.1%}). It is surely within 10 % of the best in "
        f"{row['sure_in']} of {len(regret)} regimes, and sends {row['messages']:.3g} messages per job.",
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
        str(row["sure_in"]), str(row["best_in"]), *(str(row.get(name, "")) for name in TRAITS),
        f"{row['regret_of_mean_slowdown']:.1%}", closed, f"{row['messages']:.3g}",
    ]  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, str | bool | np.bool_):
        return value if isinstance(value, str) else bool(value)
    number = float(value)
    return None if not np.isfinite(number) else int(number) if isinstance(value, int | np.integer) else number

"""What an arena's report claims, each claim with its figure, so that fresh regimes can tell whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.study.arena.arena import Arena
from cluster_abm.study.arena.rules import RegimeRule, measured
from cluster_abm.study.arena.sizes import CHANGES, SizeChange, places
from cluster_abm.study.statistics.paired import holm, paired

# Of the effects of sizes, so many of the best policies are named.
MOST_NAMED = 15
# What becomes of a policy's rank.
KEEPS, LOSES, GAINS = "keeps its rank", "loses rank", "gains rank"
# The same runs give the same measure, up to rounding of sums.
NOTHING = 1e-9


class ArenaClaim(NamedTuple):
    """A sentence that an arena's report prints."""

    kind: str  # leader, best, surely, rule, wrong, each or rank
    words: str
    figure: Callable[[Arena], str]  # what it says in numbers, of any arena
    holds: Callable[[Arena], bool]  # whether it holds in any arena


def claims_of(arena: Arena) -> list[ArenaClaim]:
    """All claims of an arena's report, in its order."""
    return [
        *general(arena), *(_of_rule(arena, rule) for rule in arena.rules.held), *of_sizes(arena),
        *(_of_rank(arena, str(name)) for name in arena.table["policy"]),
    ]  # fmt: skip


# ---- leaders ----


def general(arena: Arena) -> list[ArenaClaim]:
    """Which policies lead, and how often one is the best or surely near it."""
    names = [str(name) for name in arena.table["policy"]]
    blind = [name for name in names if name in arena.traits and not arena.traits[name].knows_sizes]
    of_blind = [_leader(arena, "Of the policies that do not know sizes", blind)] if blind else []
    return [_leader(arena, "Of all policies", names), *of_blind, best(arena), surely(arena)]


def leaders(arena: Arena, among: Sequence[str]) -> list[str]:
    """Of some policies that of least mean regret, and those that are not significantly behind it.

    That is by paired t tests over regimes, of logarithms of the measure, with Holm's correction at 5 %.
    """
    means = np.exp(arena.logs.groupby(level="regime").mean())
    first, *others = (str(name) for name in arena.table["policy"] if name in among)
    behind = holm([paired(means[name].tolist(), means[first].tolist()).p_value for name in others])
    return [first, *(name for name, is_behind in zip(others, behind, strict=True) if not is_behind)]


def _leader(arena: Arena, which: str, among: Sequence[str]) -> ArenaClaim:
    names = leaders(arena, among)
    if len(names) == 1:
        words = f"{which}, `{names[0]}` leads: the mean regret of every other one is significantly larger."
    else:
        words = f"{which}, {listed(names)} lead: between the first of them and the others no difference is significant."

    def first(of: Arena) -> pd.Series:
        return of.table[of.table["policy"].isin(among)].iloc[0]

    def figure(of: Arena) -> str:
        return f"least mean regret: {first(of)['policy']}, {first(of)['regret']:.1%}"

    return ArenaClaim("leader", words, figure, lambda of: first(of)["policy"] in names)


def best(arena: Arena) -> ArenaClaim:
    """Whether one policy is the best in most regimes."""
    name, share = _most(arena, "best_in")
    is_most = share > 0.5

    def figure(of: Arena) -> str:
        first, own = _most(of, "best_in")
        return f"{(of.table['best_in'] > 0).sum()} policies; {first} in {own:.0%}"

    if is_most:
        return ArenaClaim("best", f"`{name}` is the best in more than half of the regimes.", figure,
                     lambda of: _most(of, "best_in")[0] == name and _most(of, "best_in")[1] > 0.5)  # fmt: skip
    words = "No policy is the best in more than half of the regimes."
    return ArenaClaim("best", words, figure, lambda of: _most(of, "best_in")[1] <= 0.5)


def surely(arena: Arena) -> ArenaClaim:
    """Which policy is surely within 10 % of the best most often."""
    name, _ = _most(arena, "sure_in")
    is_alone = _others_reach(arena, name) < 0

    def holds(of: Arena) -> bool:
        return _others_reach(of, name) < (0 if is_alone else 1)

    def figure(of: Arena) -> str:
        first, share = _most(of, "sure_in")
        own = float(of.table.set_index("policy")["sure_in"].get(name, 0)) / len(of.found)
        return f"{name} in {own:.0%}" + ("" if first == name else f", {first} in {share:.0%}")

    than = "more regimes than" if is_alone else "as many regimes as"
    words = f"`{name}` is surely within 10 % of the best in {than} any other policy."
    return ArenaClaim("surely", words, figure, holds)


def _others_reach(arena: Arena, name: str) -> int:
    """In how many more regimes than a policy another one is surely near the best, at most; 0: in as many."""
    counts = arena.table.set_index("policy")["sure_in"]
    others = counts.drop(name, errors="ignore")
    return int(others.max() - counts.get(name, 0)) if len(others) else -1


def _most(arena: Arena, column: str) -> tuple[str, float]:
    """The policy with the largest count of regimes, and its share of all."""
    counts = arena.table.set_index("policy")[column]
    return str(counts.idxmax()), float(counts.max()) / len(arena.found)


def _of_rank(arena: Arena, name: str) -> ArenaClaim:
    rank, among = _rank(arena, name), len(arena.table)

    def figure(of: Arena) -> str:
        return f"{_rank(of, name)}, {of.table.set_index('policy')['regret'][name]:.1%}"

    words = f"`{name}` has rank {rank} of {among} by mean regret, give or take {places_in_words(among)}."
    return ArenaClaim("rank", words, figure, lambda of: abs(_rank(of, name) - rank) <= places(among))


def _rank(arena: Arena, name: str) -> int:
    return int(arena.table.index[arena.table["policy"] == name][0]) + 1


def places_in_words(among: int) -> str:
    """By how many places a rank may move, in words."""
    return "one place" if places(among) == 1 else f"{places(among)} places"


# ---- rules ----


def _of_rule(arena: Arena, rule: RegimeRule) -> ArenaClaim:
    def again(of: Arena) -> RegimeRule | None:
        return rule if of is arena else measured(rule, of.regimes, of.logs.groupby(level="regime").mean())

    def figure(of: Arena) -> str:
        found = again(of)
        return "too few regimes" if found is None else f"{found.gain_above:+.0%}; {found.gain_below:+.0%}"

    def holds(of: Arena) -> bool:
        found = again(of)
        return found is not None and found.holds

    return ArenaClaim("rule", rule.in_words, figure, holds)


# ---- sizes ----


def of_sizes(arena: Arena) -> list[ArenaClaim]:
    """What wrong sizes cost, and which of the best policies keep their rank."""
    if not arena.sizes:
        return []
    named = [str(name) for name in arena.table["policy"].head(MOST_NAMED)]
    return [
        *_of_blind(arena),
        *_of_costs(arena, named),
        *(claim for change in CHANGES for claim in _of_ranks(arena, change, named)),
    ]


def _row(arena: Arena, change: str, name: str) -> Any:
    """A policy's row in a table of effects_of_sizes."""
    return arena.sizes[change].loc[name]


def _of_blind(arena: Arena) -> Iterator[ArenaClaim]:
    blind = [name for name, traits in arena.traits.items() if not traits.knows_sizes]
    if not blind:
        return

    def most(of: Arena) -> float:
        return max(abs(_row(of, "wrong", name)["cost"]) for name in blind)

    words = f"Wrong sizes change nothing for the {len(blind)} policies that do not know sizes."
    yield ArenaClaim("wrong", words, lambda of: f"{most(of):.1%} at most", lambda of: most(of) < NOTHING)


def _of_costs(arena: Arena, named: Sequence[str]) -> Iterator[ArenaClaim]:
    for name in named:
        if _row(arena, "wrong", name)["is_dearer"]:
            words = f"Sizes wrong by a factor of two cost `{name}` significantly."
            yield ArenaClaim("wrong", words, _cost_of(name), _is_dear(name))


def _cost_of(name: str) -> Callable[[Arena], str]:
    def figure(of: Arena) -> str:
        row = _row(of, "wrong", name)
        return f"{row['cost']:+.1%} [{row['low']:+.1%}, {row['high']:+.1%}]"

    return figure


def _is_dear(name: str) -> Callable[[Arena], bool]:
    return lambda of: bool(_row(of, "wrong", name)["low"] > 0.0)


def _of_ranks(arena: Arena, change: SizeChange, named: Sequence[str]) -> Iterator[ArenaClaim]:
    for name in named:
        verb = _verb(_row(arena, change.name, name))
        yield ArenaClaim(
            change.name, f"{change.words}, `{name}` {verb}.", _moves_of(change, name), _does(change, name, verb)
        )


def _verb(row: Any) -> str:
    """What becomes of a rank."""
    return KEEPS if row["keeps"] else LOSES if row["after"] > row["before"] else GAINS


def _moves_of(change: SizeChange, name: str) -> Callable[[Arena], str]:
    def figure(of: Arena) -> str:
        row = _row(of, change.name, name)
        return f"{row['before']} to {row['after']}"

    return figure


def _does(change: SizeChange, name: str, verb: str) -> Callable[[Arena], bool]:
    return lambda of: _verb(_row(of, change.name, name)) == verb


def by_rank_kept(arena: Arena, change: SizeChange, named: Sequence[str]) -> dict[str, list[str]]:
    """Which policies keep their rank, lose or gain rank; a verb without any is left out."""
    verbs = {name: _verb(_row(arena, change.name, name)) for name in named}
    found = {verb: [name for name in named if verbs[name] == verb] for verb in (KEEPS, LOSES, GAINS)}
    return {verb: names for verb, names in found.items() if names}


def listed(names: Sequence[str]) -> str:
    """Policies in a sentence."""
    marked = [f"`{name}`" for name in names]
    return marked[0] if len(marked) == 1 else f"{', '.join(marked[:-1])} and {marked[-1]}"

"""Which columns are times of submission, start and end, where no name says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cluster_abm.workload.traces.guessing.cells import ColumnContent, Floats
from cluster_abm.workload.traces.guessing.durations import (
    ROUND,
    SELDOM,
    WAITLESS,
    WITHIN_REQUEST,
    is_counter,
    is_spread,
    rank_correlation,
    round_share,
    run_beside_wait,
)
from cluster_abm.workload.traces.guessing.relations import (
    ALWAYS,
    ANY_FACTORS,
    FACTORS,
    Difference,
    differences,
    share_in_order,
    sums_of_pairs,
)

SORTED = 0.9  # share of the rows that do not go back
TOGETHER = 0.8  # rank correlation of two times of the same jobs
APART = 0.25  # rank correlation of two durations that have nothing to do with each other
NEAR = 0.2  # share of a log's span that its jobs mostly take
MOST_COLUMNS = 40  # that are compared with each other
MOST_TOGETHER = 20  # durations of which pairs are


@dataclass(frozen=True)
class GuessedInstants:
    """What columns of times tell about each other: columns, and how sure."""

    submit: int | None = None
    start: int | None = None
    end: int | None = None
    run: int | None = None
    sure: float = 0.0
    why: str = ""
    run_why: str = ""  # if the run time is known by something else
    waits: tuple[int, ...] = ()  # columns that are no run time: times from submission to start


def guessed_instants(contents: Mapping[int, ColumnContent]) -> GuessedInstants:
    """Submission, start and end among columns, as far as the values tell them."""
    instants = instants_among(contents)
    if not instants:
        return GuessedInstants()
    chain = _chain(instants)
    rest = {at: one.numbers for at, one in contents.items() if at not in instants and _may_be_duration(one)}
    dates = all(contents[at].is_instant for at in chain)
    found = differences({at: instants[at] for at in chain}, rest, FACTORS if dates else ANY_FACTORS)
    if len(chain) >= 3:
        return _of_three(chain, found, dates)
    if len(chain) == 2:
        return _of_two(chain, contents, found, dates)
    sure, why = (0.75, "the only column of dates") if dates else (0.65, "the only column that rises from row to row")
    return GuessedInstants(submit=chain[0], sure=sure, why=why)


def instants_among(contents: Mapping[int, ColumnContent]) -> dict[int, Floats]:
    """Columns of times, as seconds where they are dates: dates, else what rises and what goes with it."""
    dates = {at: one.seconds for at, one in contents.items() if one.is_instant and not one.is_steady}
    if dates:
        return dates
    able = {at: one for at, one in list(contents.items())[:MOST_COLUMNS] if _may_be_instant(one)}
    rising = [at for at, one in able.items() if _rising_share(one.numbers) >= SORTED]
    if not rising:
        return _by_differences(able)
    # Of several that rise, the one before most others; ids and row numbers were left out before.
    anchor = max(rising, key=lambda at: sum(_goes_with(able[at].numbers, able[other].numbers) for other in able))
    others = {
        at: one.numbers
        for at, one in able.items()
        if at != anchor
        and (_goes_with(able[anchor].numbers, one.numbers) or _goes_shortly_before(one.numbers, able[anchor].numbers))
    }
    return {anchor: able[anchor].numbers} | others


def _may_be_duration(content: ColumnContent) -> bool:
    return content.kind in ("number", "clock") and not content.is_instant and not content.is_steady


def _may_be_instant(content: ColumnContent) -> bool:
    values = content.values
    if content.kind != "number" or content.is_steady or len(values) < 10 or values.min() < 0:
        return False
    return len(np.unique(values)) >= min(20, 0.3 * len(values)) and not is_counter(content)


def _rising_share(numbers: Floats) -> float:
    known = numbers[~np.isnan(numbers)]
    return float((np.diff(known) >= 0).mean())


def _goes_with(first: Floats, then: Floats) -> bool:
    """Whether a column holds later times of the same jobs."""
    if share_in_order(first, then) < ALWAYS:
        return False
    same = float((first == then).mean())
    return same >= WAITLESS or rank_correlation(first, then) >= TOGETHER


def _goes_shortly_before(first: Floats, then: Floats) -> bool:
    """Whether a column holds earlier times of the same jobs, in a log that is sorted by the later ones.

    Row numbers lie before all times and go with them as well, but far from them.
    """
    low, high = np.nanquantile(then, [0.05, 0.95])
    return _goes_with(first, then) and float(np.nanmedian(then - first)) <= NEAR * float(high - low)


def _by_differences(able: Mapping[int, ColumnContent]) -> dict[int, Floats]:
    """Times in rows that are in no order: two of them, of which the difference is a third column."""
    numbers = {at: one.numbers for at, one in able.items()}
    found: set[int] = set()
    durations: set[int] = set()
    for one in differences(numbers, numbers, (1.0,)):
        later, earlier, duration = (numbers[at] for at in (one.later, one.earlier, one.duration))
        # a - b = c is a - c = b as well: the time is what the later time goes with.
        if np.nanstd(earlier) > 1.5 * np.nanstd(duration) and rank_correlation(later, earlier) >= TOGETHER:
            found |= {one.later, one.earlier}
            durations.add(one.duration)
    # From submission to end is a duration, although run and wait are differences of it.
    return {at: numbers[at] for at in sorted(found - durations)}


def _chain(instants: Mapping[int, Floats]) -> list[int]:
    """Columns of which each lies at or after the one before, in nearly all rows; the longest such."""
    means = {at: float(np.nanmean(values)) for at, values in instants.items()}
    order = sorted(instants, key=lambda at: (_mean_rank(instants, at), means[at], at))
    best: list[int] = []
    for first in range(len(order)):
        chain = [order[first]]
        for at in order[first + 1 :]:
            if share_in_order(instants[chain[-1]], instants[at]) >= ALWAYS:
                chain.append(at)
        best = chain if len(chain) > len(best) else best
    return best


def _mean_rank(instants: Mapping[int, Floats], at: int) -> int:
    """How many columns lie before this one in nearly all rows."""
    return sum(
        share_in_order(values, instants[at]) >= ALWAYS and share_in_order(instants[at], values) < ALWAYS
        for other, values in instants.items()
        if other != at
    )


def _of_three(chain: Sequence[int], found: Sequence[Difference], dates: bool) -> GuessedInstants:
    runs = [one for one in found if one.later == chain[-1] and one.earlier != chain[0]]
    if runs:
        # Of an eligible time and a start, the run counts from the later one.
        # Of two columns with the same durations, it is the one that stands beside the times.
        one = max(runs, key=lambda one: (chain.index(one.earlier), one.scale == 1.0, -abs(one.duration - one.later)))
        why = f"column {one.duration + 1} is the time from one to the other"
        return GuessedInstants(chain[0], one.earlier, one.later, one.duration, 0.9 if dates else 0.85, why)
    why = f"{len(chain)} columns of times, each at or after the one before"
    return GuessedInstants(chain[0], chain[-2], chain[-1], sure=0.75 if dates else 0.7, why=why)


def _of_two(
    chain: Sequence[int], contents: Mapping[int, ColumnContent], found: Sequence[Difference], dates: bool
) -> GuessedInstants:
    first, then = chain
    gap = contents[then].seconds - contents[first].seconds
    at_once = float((gap[~np.isnan(gap)] <= 1.0).mean())
    surer = 0.05 if dates else 0.0
    if at_once >= WAITLESS:
        why = "two columns of times, often the same: jobs that start at once"
        waits = tuple(one.duration for one in found)
        return GuessedInstants(submit=first, start=then, sure=0.65 + surer, why=why, waits=waits)
    if found:
        length = found[0].duration
        why = f"column {length + 1} is the time from one to the other"
        other = _other_run(contents, length, [*chain, *(one.duration for one in found)])
        if other is not None:
            why = f"{why}, but it may be a wait, and column {other + 1} the run time"
            return GuessedInstants(None, first, then, length, 0.56 + surer, why)
        return GuessedInstants(None, first, then, length, 0.75 + surer, why)
    parts = _parts_of(chain, contents, FACTORS if dates else ANY_FACTORS)
    if parts is not None:
        why = f"columns {parts[0] + 1} and {parts[1] + 1} are together the time from one to the other"
        run = run_beside_wait({at: contents[at] for at in parts})
        if run is None:
            return GuessedInstants(submit=first, sure=0.65 + surer, why=why, waits=parts)
        run_why = f"{why}, and this one is hardly ever 0, as waits are"
        return GuessedInstants(first, None, then, run, 0.75 + surer, why, run_why)
    why = "two columns of times, one at or after the other and seldom the same"
    return GuessedInstants(start=first, end=then, sure=0.6 + surer, why=why)


def _other_run(contents: Mapping[int, ColumnContent], given: int, known: Sequence[int]) -> int | None:
    """Another column that may be the run time as well: spread, hardly ever 0, not with the given one, and no limit."""
    run = contents[given].numbers
    for at, one in contents.items():
        if at in known or not is_spread(one) or (one.values <= 0.0).mean() > SELDOM:
            continue
        # Limits are whole minutes, and used CPU time is never more than a run time.
        within = share_in_order(one.numbers, run) >= WITHIN_REQUEST
        if round_share(one) < ROUND and not within and abs(rank_correlation(run, one.numbers)) < APART:
            return at
    return None


def _parts_of(
    chain: Sequence[int], contents: Mapping[int, ColumnContent], factors: Sequence[float]
) -> tuple[int, int] | None:
    """Two durations, a wait and a run time, that are together the gap between two times, in nearly all rows."""
    durations = {at: one.numbers for at, one in contents.items() if at not in chain and _may_be_duration(one)}
    pairs = list(combinations(list(durations)[:MOST_TOGETHER], 2))
    found = differences({at: contents[at].seconds for at in chain}, sums_of_pairs(durations, pairs), factors)
    return pairs[-1 - found[0].duration] if found else None

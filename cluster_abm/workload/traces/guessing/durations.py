"""Which column is the run time, where no name says it and no two times differ by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cluster_abm.workload.traces.guessing.cells import ColumnContent, Floats
from cluster_abm.workload.traces.guessing.relations import share_in_order

WITHIN_REQUEST = 0.9  # share of the jobs that end within the run time that they asked for
MOSTLY = 0.6
SLACK_S = 60.0  # by which a scheduler ends jobs late
WAITLESS, SELDOM = 0.3, 0.02  # share of the jobs that start at once among waits; that run for no time among run times
ROUND, NOT_ROUND = 0.8, 0.6  # share of whole minutes among requests; no more among run times
MOST_COMPARED = 20  # columns
TOGETHER, MUCH_TOGETHER = 0.25, 0.7  # rank correlation


@dataclass(frozen=True)
class GuessedDurations:
    """What columns of durations tell about each other."""

    run: int | None = None
    requested: int | None = None
    cpu: int | None = None
    cores: int | None = None
    sure: float = 0.0
    why: str = ""


def guessed_durations(contents: Mapping[int, ColumnContent], counts: Mapping[int, ColumnContent]) -> GuessedDurations:
    """Run time, request and CPU time among columns, as far as the values tell them.

    Args:
        contents: columns that may be durations.
        counts: columns that may be numbers of cores.
    """
    spread = {at: one for at, one in contents.items() if is_spread(one)}
    product = _product(spread, counts)
    if product is not None:
        return product
    asked = _with_request(spread, contents)
    if asked is not None:
        return asked
    beside = _beside_waits(spread)
    if beside is not None:
        return beside
    if len(spread) == 1 and not is_like_waits(spread[next(iter(spread))]):
        return GuessedDurations(run=next(iter(spread)), sure=0.6, why="the only column that is spread as run times are")
    if len(spread) == 2:
        for first, then in ((a, b) for a in spread for b in spread if a != b):
            if _is_part_of(spread[first], spread[then]):
                return GuessedDurations(run=then, cpu=first, sure=0.55, why="never less than another such column")
    return GuessedDurations()


def is_spread(content: ColumnContent) -> bool:
    """Whether numbers are spread as durations are: many different ones, from small to far larger than most."""
    values = content.values
    if content.kind == "clock":
        return not content.is_steady
    if content.kind != "number" or content.is_instant or len(values) < 0.3 * len(content.cells):
        return False
    if content.is_steady or len(np.unique(values)) < min(20, 0.3 * len(values)) or values.min() < 0:
        return False
    middle, high = np.quantile(values, [0.5, 0.98])
    return bool(high >= 3.0 * max(middle, 1e-9)) and not is_counter(content) and not is_code(content)


def is_counter(content: ColumnContent) -> bool:
    """Whether whole numbers count the rows: none comes twice, and most follow the one before by the same step."""
    values = content.values
    if not content.whole or len(np.unique(values)) < len(values) or len(values) < 3:
        return False
    steps = np.diff(values)
    return bool(np.median(np.abs(steps)) <= 1.0 or (steps == np.median(steps)).mean() >= 0.5)


def is_code(content: ColumnContent) -> bool:
    """Whether whole numbers stand for users, programs or the like: small and dense, or numbered as they appeared."""
    values = content.values
    if not content.whole or not len(values):
        return False
    return len(np.unique(values)) >= 0.6 * (float(np.ptp(values)) + 1.0) or is_numbered(content)


def is_numbered(content: ColumnContent) -> bool:
    """Whether numbers that appear later for the first time are larger: users are numbered so, amounts are not."""
    from scipy.stats import spearmanr

    distinct, first = np.unique(content.values, return_index=True)
    if len(distinct) < 10 or len(distinct) == len(content.values):
        return False
    return bool(spearmanr(distinct, first).statistic >= 0.9)


def rank_correlation(first: Floats, then: Floats) -> float:
    """Spearman's, of the rows that have both; 0 if these are few or all alike."""
    from scipy.stats import spearmanr

    both = ~(np.isnan(first) | np.isnan(then))
    if both.sum() < 10 or np.ptp(first[both]) == 0.0 or np.ptp(then[both]) == 0.0:
        return 0.0
    return float(spearmanr(first[both], then[both]).statistic)


def round_share(content: ColumnContent) -> float:
    """Share of whole minutes among durations above 0."""
    known = content.values[content.values > 0]
    return float((known % 60 == 0).mean()) if len(known) else 0.0


def _is_part_of(part: ColumnContent, whole: ColumnContent) -> bool:
    """Whether one duration is always within another and goes with it, as CPU time and run time do."""
    if share_in_order(part.numbers, whole.numbers * 1.01 + SLACK_S / 10.0) < 0.95:
        return False
    return rank_correlation(part.numbers, whole.numbers) >= MUCH_TOGETHER


def _with_request(
    spread: Mapping[int, ColumnContent], contents: Mapping[int, ColumnContent]
) -> GuessedDurations | None:
    """A run time by a request: whole minutes, in which nearly all jobs end."""
    requests = {at: one for at, one in contents.items() if not one.is_steady and round_share(one) >= ROUND}
    best: tuple[float, int, int] | None = None
    for run, content in spread.items():
        for request, asked in requests.items():
            if run == request or asked.distinct > content.distinct or not _ends_within(content, asked):
                continue
            together = rank_correlation(content.numbers, asked.numbers)
            if together >= TOGETHER and (best is None or together > best[0]):
                best = together, run, request
    if best is None:
        return None
    _, found, request = best
    alike = [
        at
        for at, one in spread.items()
        if at == found
        or (
            at != request
            and rank_correlation(one.numbers, spread[found].numbers) >= MUCH_TOGETHER
            and _ends_within(one, contents[request], MOSTLY)
        )
    ]
    # Of run time and CPU time, the former is known of more jobs, and larger.
    run = max(alike, key=lambda at: (round(10.0 * spread[at].known_share), float(np.nanmean(spread[at].numbers))))
    cpu = next((at for at in alike if at != run and _is_part_of(spread[at], spread[run])), None)
    why = "nearly all are within another column, of whole minutes"
    return GuessedDurations(run, request, cpu, sure=0.7, why=why)


def _ends_within(content: ColumnContent, asked: ColumnContent, share: float = WITHIN_REQUEST) -> bool:
    """Whether nearly all run times, which are seldom whole minutes, lie within what was asked for."""
    if round_share(content) > NOT_ROUND:
        return False
    return share_in_order(content.numbers, asked.numbers * 1.05 + SLACK_S) >= share


def is_like_waits(content: ColumnContent) -> bool:
    """Whether many durations are 0, as the waits of jobs that start at once are."""
    return len(content.values) > 0 and float((content.values == 0.0).mean()) >= WAITLESS


def run_beside_wait(columns: Mapping[int, ColumnContent]) -> int | None:
    """The run time among durations, if there is one like waits, and just one that is hardly ever 0.

    Sums of two others, from submission to end, are left out. One that is never less than the wait may be such a sum,
    of which the run time is not there: None.
    """
    waits = [at for at, one in columns.items() if is_like_waits(one)]
    totals = {total for total in columns for pair in combinations(columns, 2) if _is_sum(columns, total, pair)}
    runs = [at for at, one in columns.items() if (one.values <= 0.0).mean() <= SELDOM and at not in totals]
    if len(runs) != 1 or not waits:
        return None
    run = columns[runs[0]].numbers
    if any(share_in_order(columns[at].numbers, run) >= 0.95 for at in waits):
        return None
    return runs[0]


def _is_sum(columns: Mapping[int, ColumnContent], total: int, parts: tuple[int, int]) -> bool:
    """Whether one duration is two others together, in nearly all rows."""
    if total in parts:
        return False
    whole = columns[total].numbers
    found = columns[parts[0]].numbers + columns[parts[1]].numbers
    known = ~(np.isnan(whole) | np.isnan(found))
    return known.sum() >= 10 and bool((np.abs(whole - found)[known] <= 1.01 + 1e-3 * whole[known]).mean() >= 0.95)


def _beside_waits(spread: Mapping[int, ColumnContent]) -> GuessedDurations | None:
    run = run_beside_wait(spread) if len(spread) <= MOST_COMPARED else None
    if run is None:
        return None
    return GuessedDurations(run=run, sure=0.6, why="hardly ever 0, beside a column that is often 0, as waits are")


def _product(spread: Mapping[int, ColumnContent], counts: Mapping[int, ColumnContent]) -> GuessedDurations | None:
    """A run time that, times a number of cores, is another column: CPU or core time."""
    for total, product in spread.items():
        for run, content in spread.items():
            for count, number in counts.items():
                if total == run or count in (total, run) or is_spread(number):
                    continue
                found = content.numbers * number.numbers
                known = ~(np.isnan(found) | np.isnan(product.numbers))
                wide = known & (number.numbers > 1) & (content.numbers > 1)
                if known.sum() < 10 or wide.sum() < 5:
                    continue
                near = np.abs(found - product.numbers) <= 1e-3 * np.abs(product.numbers) + 1e-6
                if near[known].mean() >= 0.95 and near[wide].mean() >= 0.95:
                    return GuessedDurations(
                        run, cores=count, sure=0.75, why=f"times column {count + 1} it is column {total + 1}"
                    )
    return None

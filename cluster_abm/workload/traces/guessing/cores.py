"""Which column is the number of cores, where no name says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cluster_abm.workload.traces.guessing.cells import ColumnContent, Floats
from cluster_abm.workload.traces.guessing.durations import is_counter, is_numbered, rank_correlation
from cluster_abm.workload.traces.guessing.relations import ALWAYS, FEWEST, share_in_order

MOST = 1e6
LIKE_CORES = 0.6  # share of numbers above 2 that are powers of two or multiples of 4
TOGETHER = 0.2  # rank correlation of cores with nodes or tasks
WIDE = 0.05  # share of jobs that have more than one core
MOST_GB = 8.0  # of memory for each core, which come in the same ratio in all rows; more may be cores of each node
MEMORY_FROM, MEMORY_STEP = 512, 128  # MB: memory comes in such steps


@dataclass(frozen=True)
class GuessedCores:
    """The column of cores, if the values show one."""

    at: int | None = None
    unit: str = ""
    sure: float = 0.0
    why: str = ""


def guessed_cores(contents: Mapping[int, ColumnContent]) -> GuessedCores:
    """The cores of jobs among columns that are no times and no durations.

    Args:
        contents: column -> what it holds; texts are looked at for lists of nodes.
    """
    able = {at: one for at, one in contents.items() if may_be_cores(one)}
    if any(one.values.max() > 2 for one in able.values()):
        able = {at: one for at, one in able.items() if one.values.max() > 2}
    able = {at: one for at, one in able.items() if not _is_memory_of_cores(one, list(able.values()))}
    listed = {at: one for at, one in able.items() if _counts_a_list(one, list(contents.values()))}
    if listed:
        at = next(iter(listed))
        return GuessedCores(at, "", 0.75, "it counts the words of another column")
    if able:
        widest = _widest(able)
        if widest is not None:
            well = _share_like_cores(able[widest].values) >= 0.8
            return GuessedCores(
                widest, "", 0.65 if well else 0.55, "small whole numbers, mostly powers of two or multiples of 4"
            )
        return GuessedCores()
    return _in_thousandths(contents)


def may_be_cores(content: ColumnContent) -> bool:
    """Whether numbers look like cores: whole, from 1 on, few, powers of two or multiples of 4."""
    values = content.values
    if content.kind != "number" or content.is_instant or not content.whole or content.is_steady:
        return False
    if len(values) < 0.5 * len(content.cells) or (values < 1).mean() > 0.01 or values.max() > MOST:
        return False
    if is_counter(content) or is_numbered(content) or (values > 1).mean() < WIDE or _is_memory(values) or parts(values):
        return False
    if len(np.unique(values)) > max(10, 0.2 * len(values)) or np.median(values) > MEMORY_FROM:
        return False
    return _share_like_cores(values) >= LIKE_CORES


def _share_like_cores(values: Floats) -> float:
    """Share of multiples of 4 among numbers above 2; all if there are none, but 2 occurs."""
    large = values[values > 2]
    if len(large) < 0.02 * len(values):
        return 1.0 if len(large) == 0 and values.max() == 2 else 0.0
    return float((large % 4 == 0).mean())


def parts(values: Floats) -> str:
    """milli or percent if these are thousandths or hundredths of cores, else ""."""
    positive = values[values > 0]
    if len(positive) < 5 or (values < 0).any() or (positive != np.round(positive)).any():
        return ""
    # Jobs ask for the same amounts again and again; what they use seldom comes twice.
    if len(np.unique(positive)) > max(10, 0.05 * len(positive)):
        return ""
    middle = float(np.median(positive))
    round_ones = (positive % 1000 == 0).mean() >= 0.25 and (positive % 100 == 0).mean() >= 0.5
    if 100 <= middle <= 512_000 and positive.min() >= 10 and positive.max() > 1000 and round_ones:
        return "" if _in_powers(positive) >= 0.05 else "milli"
    hundreds = (positive % 50 == 0).mean() >= 0.9 and (positive == 100).mean() >= 0.1
    return "percent" if hundreds and positive.max() <= 10_000 else ""


def _in_powers(values: Floats) -> float:
    """Share of multiples of 1024: amounts of memory."""
    return float((values % 1024 == 0).mean())


def _is_memory(values: Floats) -> bool:
    positive = values[values > 0]
    if not len(positive) or np.median(positive) < MEMORY_FROM:
        return False
    return bool((positive % MEMORY_STEP == 0).mean() >= 0.6)


def _is_memory_of_cores(content: ColumnContent, others: Sequence[ColumnContent]) -> bool:
    """Whether numbers are another column times 2 to 8 in all rows: GB of memory, of which each core has as much."""
    for other in others:
        both = ~(np.isnan(content.numbers) | np.isnan(other.numbers))
        ratios = content.numbers[both] / other.numbers[both]
        if len(ratios) >= FEWEST and 1.0 < ratios.min() <= MOST_GB and float(np.ptp(ratios)) < 1e-9:
            return True
    return False


def _counts_a_list(content: ColumnContent, others: Sequence[ColumnContent]) -> bool:
    """Whether numbers say how many words a text of another column has."""
    for other in others:
        if other.kind != "text" or len(other.known) < len(other.cells):
            continue
        words = np.array([len(cell.split()) for cell in other.cells], float)
        if (words > 1).mean() >= WIDE and (words == content.numbers).mean() >= ALWAYS:
            return True
    return False


def _widest(able: Mapping[int, ColumnContent]) -> int | None:
    """The one that is never less than most others and goes with them (cores beside nodes or tasks); None: unclear."""
    within = {
        at: sum(
            share_in_order(one.numbers, content.numbers) >= ALWAYS
            and rank_correlation(one.numbers, content.numbers) >= TOGETHER
            for other, one in able.items()
            if other != at
        )
        for at, content in able.items()
    }
    best = max(within, key=lambda at: within[at])
    return best if within[best] or len(able) == 1 else None


def _in_thousandths(contents: Mapping[int, ColumnContent]) -> GuessedCores:
    """Thousandths or hundredths of cores, beside a column that looks like memory."""
    memory = [
        at
        for at, one in contents.items()
        if one.kind == "number"
        and one.whole
        and len(one.values[one.values > 0])
        and _in_powers(one.values[one.values > 0]) >= 0.2
    ]
    found = {
        at: parts(one.values)
        for at, one in contents.items()
        if one.kind == "number" and not one.is_instant and not one.is_steady and at not in memory
    }
    found = {at: unit for at, unit in found.items() if unit and len(np.unique(contents[at].values)) <= 200}
    if len(found) != 1:
        return GuessedCores()
    at, unit = next(iter(found.items()))
    if unit == "milli" and not memory:
        return GuessedCores()
    beside = ", beside a column in steps of memory" if memory else ""
    return GuessedCores(at, unit, 0.55, f"{'thousands' if unit == 'milli' else 'fifties'}{beside}")

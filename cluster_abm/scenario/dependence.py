"""Rank correlations of what is drawn for a job: which pairs there are, and the normal correlations behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, Strict

# In this order they are drawn: the first one by itself, each further one given those before it.
DEPENDENT = ("cpu_ms", "memory_mb", "io_per_ms", "tasks")
Correlation = Annotated[float, Strict(), Field(gt=-1, lt=1, allow_inf_nan=False)]


def pair_of(key: str) -> tuple[str, str]:
    """The two columns that a key names, in the order of DEPENDENT. Raises ValueError for what is no pair of them."""
    names = [name.strip() for name in key.split(",")]
    if len(names) != 2 or not set(names) <= set(DEPENDENT) or names[0] == names[1]:
        raise ValueError(f'dependence {key[:80]!r}: allowed are pairs of {", ".join(DEPENDENT)}, as "cpu_ms,tasks"')
    first, second = sorted(names, key=DEPENDENT.index)
    return first, second


def normal_correlation(spearman: float) -> float:
    """The correlation of two normal variables that have that rank correlation (Pearson 1907): 2 sin(pi r/6)."""
    return 2.0 * math.sin(math.pi * spearman / 6.0)


def rank_correlation(normal: float) -> float:
    """Spearman's rank correlation of two normal variables of that correlation: 6/pi asin(r/2)."""
    return 6.0 / math.pi * math.asin(normal / 2.0)


def dependent_columns(dependence: Mapping[str, float]) -> tuple[str, ...]:
    """The columns that any pair names, in the order of DEPENDENT."""
    named = {name for key in dependence for name in pair_of(key)}
    return tuple(name for name in DEPENDENT if name in named)


def factor(dependence: Mapping[str, float]) -> list[list[float]]:
    """The lower triangle L, L L' = the normal correlations of `dependent_columns`: of independent standard normal
    numbers e it makes dependent ones, L e.

    Raises ValueError: a key that is no pair, a pair named twice, or correlations that no numbers can have together.
    """
    names = dependent_columns(dependence)
    correlations: dict[tuple[str, str], float] = {}
    for key, spearman in dependence.items():
        pair = pair_of(key)
        if pair in correlations:
            raise ValueError(f"dependence: {','.join(pair)!r} is named twice")
        correlations[pair] = normal_correlation(spearman)
    lower: list[list[float]] = []
    for row, name in enumerate(names):
        line: list[float] = []
        for column in range(row):
            left = correlations.get((names[column], name), 0.0) - math.fsum(
                a * b for a, b in zip(line, lower[column], strict=False)
            )
            line.append(left / lower[column][column])
        rest = 1.0 - math.fsum(value * value for value in line)
        if rest <= 1e-9:
            raise ValueError(
                f"dependence of {', '.join(names[: row + 1])}: no numbers have these rank correlations together (the "
                "matrix of them is not positive definite): bring some nearer to 0"
            )
        lower.append([*line, math.sqrt(rest)])
    return lower


def check_dependence(dependence: Mapping[str, float]) -> None:
    """Raise ValueError as `factor`."""
    factor(dependence)

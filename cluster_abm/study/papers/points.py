"""Numbers of a reproduction: the points of its curves, and what a paper says of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import shipped_path
from cluster_abm.study.papers.plan import Number, PaperPlan, X
from cluster_abm.study.statistics.bounds import UNBOUNDED, Bounds
from cluster_abm.study.statistics.estimates import Estimate, estimate


@dataclass(frozen=True)
class Point:
    """One number of a table: its x and series, as published (None: no curve), measured seed by seed (NaN: failed).

    `bounds` are what is possible, in the unit of the values.
    """

    x: X
    series: str
    published: float | None
    by_seed: tuple[float, ...]
    bounds: Bounds = UNBOUNDED

    @property
    def measured(self) -> Estimate:
        """The mean over seeds."""
        return estimate([value for value in self.by_seed if math.isfinite(value)], self.bounds)


@dataclass(frozen=True)
class StatedNumber:
    """A number that the paper says of its curves, beside the measured one."""

    number: Number
    published: float
    unit: str
    measured: Estimate | None

    @property
    def series(self) -> str:
        """What is compared with what."""
        old, new = self.number.old, self.number.new
        if self.number.paired:
            return " or ".join(f"{one} / {other}" for one, other in zip(old, new, strict=True))
        return f"{' or '.join(old)} / {' or '.join(new)}"

    def is_near(self, percent: float) -> bool:
        """Whether the measured number is within `percent` of the published one."""
        return self.measured is not None and percent_off(self.measured.mean, self.published) <= percent


def percent_off(measured: float, published: float) -> float:
    """By how much a measured number differs from the published one, in percent of that; of 0 by nothing or infinity."""
    if published == 0.0:
        return 0.0 if measured == 0.0 else math.inf
    return abs(measured / published - 1) * 100


def stated_number(plan: PaperPlan, number: Number, measured: Estimate | None) -> StatedNumber:
    """A number that the paper says, of the published table. Raises InputError: the table has it not once."""
    path = shipped_path("published", "claims.csv")
    table = pd.read_csv(path)
    of_paper = table["paper"].map(lambda paper: plan.name.startswith(f"{paper}-"))
    found = table[of_paper & (table["claim"] == number.claim)]
    if len(found) != 1:
        raise InputError(f"{path}: {len(found)} rows of {plan.name}'s paper claim {number.claim!r}; one is needed")
    return StatedNumber(number, float(found["value"].iloc[0]), str(found["unit"].iloc[0]), measured)

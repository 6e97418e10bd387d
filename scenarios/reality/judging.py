"""Which conclusions can be tested on a workload, and which of them hold there by more than noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from cluster_abm.scenario.base import Section
from cluster_abm.study.cells import Ratio, ratio_of
from cluster_abm.study.statistics.paired import holm

LEAST_LOAD = 0.05
"""A resource that is offered less decides nothing: conclusions about it do not apply."""
WORDS = {"yes": "holds", "not told": "not told apart", "no": "the reverse", "": "does not apply"}


class Claim(Section):
    """One sentence of a paper, or of the arena: one policy has a smaller metric than another.

    Attributes:
        paper: whose it is.
        says: the sentence.
        better, worse: the policies.
        metric: of a run's summary; less is better.
        about: it is about work that asks for one of these resources; none: about any.
        but_not: and for none of these.
        needs: it is about policies that go by what jobs ask for of these: of a log that says nothing of one, and for
            which nothing is drawn, they know nothing.
    """

    paper: str
    says: str
    better: str
    worse: str
    metric: str = "mean_slowdown"
    about: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    def applies(self, load: Mapping[str, float]) -> bool:
        """Whether it is about work that offers these loads, by resource."""
        asked = {name for name, value in load.items() if value >= LEAST_LOAD}
        told = all(load[name] > 0.0 for name in self.needs)
        return told and (not self.about or bool(asked & set(self.about))) and not asked & set(self.but_not)


@dataclass(frozen=True)
class Verdict:
    """What came of a claim on a workload.

    Attributes:
        ratio: the better policy's metric over the worse one's; None: the claim does not apply.
        p_value: of the t test that the logarithms of the ratios have the mean 0.
    """

    ratio: Ratio | None
    p_value: float

    @property
    def word(self) -> str:
        """In words (WORDS)."""
        return WORDS["" if self.ratio is None else self.ratio.word]


def verdict(claim: Claim, runs: pd.DataFrame, load: Mapping[str, float], metric: str | None = None) -> Verdict:
    """Hold a claim against runs of both its policies on the same replications.

    Args:
        claim: the claim.
        runs: rows of `run_cells` with columns policy, seed and the metrics.
        load: offered, by resource.
        metric: that is compared in place of the claim's own.
    """
    if not claim.applies(load):
        return Verdict(None, math.nan)
    metric = metric or claim.metric
    own = runs[runs["policy"].isin([claim.better, claim.worse])]
    ratio = ratio_of(own, claim.better, claim.worse, metric)
    wide = own.pivot_table(index="seed", columns="policy", values=metric)
    logs = np.log(wide[claim.better].to_numpy() / wide[claim.worse].to_numpy())
    if not logs.any():
        return Verdict(ratio, 1.0)
    spread = float(logs.std(ddof=1)) / math.sqrt(len(logs))
    t = abs(float(logs.mean())) / spread if spread > 0 else math.inf
    return Verdict(ratio, float(2.0 * stats.t.sf(t, len(logs) - 1)))


def beyond_all(p_values: Sequence[float]) -> list[bool]:
    """Which tests survive Holm's correction over all of them; those that were not made (NaN) count for nothing."""
    made = [place for place, value in enumerate(p_values) if not math.isnan(value)]
    found = [False] * len(p_values)
    for place, rejected in zip(made, holm([p_values[place] for place in made]), strict=True):
        found[place] = rejected
    return found

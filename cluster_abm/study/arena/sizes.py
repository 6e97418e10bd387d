"""What wrong sizes, and tasks that differ within a job, do to each policy: by pairs of regimes alike in all else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from cluster_abm.study.arena.regimes import PLAIN_SIZES
from cluster_abm.study.arena.verdicts import logs_of
from cluster_abm.study.statistics.estimates import estimate
from cluster_abm.study.statistics.paired import holm, paired

PLAIN = "plain"


class SizeChange(NamedTuple):
    """What is changed in a regime, and nothing else."""

    name: str
    changed: Mapping[str, float]  # factors of sizes, beside PLAIN_SIZES
    words: str  # as the beginning of a sentence

    @property
    def factors(self) -> dict[str, float]:
        """The factors of sizes of a regime with this change."""
        return {**PLAIN_SIZES, **self.changed}


CHANGES = (
    SizeChange("wrong", {"announced_error": 2.0}, "With announced sizes wrong by a factor of two"),
    SizeChange("each", {"task_cpu": 1.0}, "With tasks of a job that differ in size"),
)
VARIANTS: dict[str, Mapping[str, float]] = {PLAIN: PLAIN_SIZES, **{change.name: change.factors for change in CHANGES}}
# A policy keeps its rank if it moves by no more than this share of all ranks, and by one place in any case.
PLACES_SHARE = 0.05


def places(policies: int) -> int:
    """By how many places a rank may move and is still the same, among so many policies."""
    return max(1, round(PLACES_SHARE * policies))


def effects_of_sizes(pairs: pd.DataFrame, metric: str) -> dict[str, pd.DataFrame]:
    """What each change of sizes costs each policy, and what becomes of its rank.

    Args:
        pairs: a row a run: regime, variant (VARIANTS), policy, seed, and metrics.
        metric: the measure.

    Returns:
        of each change by its name a table, index policy in the order of ranks before; columns before, after (the rank
        by the geometric mean over regimes and seeds); cost (how much larger the measure is, less 1), low, high (its
        95 % interval over regimes); is_dearer, is_cheaper (whether that is significant at 5 %, Holm's correction over
        all policies); keeps (whether it moves by `places` at most). Empty without two regimes of all runs.
    """
    logs = {name: logs_of(own, metric).groupby(level="regime").mean() for name, own in pairs.groupby("variant")}
    if not set(VARIANTS) <= set(logs):
        return {}
    common = sorted(set.intersection(*(set(one.index) for one in logs.values())))
    if len(common) < 2:
        return {}
    return {change.name: _effect(logs[PLAIN].loc[common], logs[change.name].loc[common]) for change in CHANGES}


def _effect(plain: pd.DataFrame, changed: pd.DataFrame) -> pd.DataFrame:
    before = plain.mean().rank(method="min").astype(int).sort_values(kind="stable")
    after = changed.mean().rank(method="min").astype(int)
    names = [str(name) for name in before.index]
    tested = [paired(np.exp(changed[name]).tolist(), np.exp(plain[name]).tolist()) for name in names]
    differ = holm([one.p_value for one in tested])
    rows = []
    for name, is_sure in zip(names, differ, strict=True):
        found = estimate((changed[name] - plain[name]).tolist())
        low, high = found.ci95 or (np.nan, np.nan)
        cost, least, most = (float(np.expm1(one)) for one in (found.mean, low, high))
        moves = abs(int(after[name]) - int(before[name]))
        rows.append(
            {"policy": name, "before": int(before[name]), "after": int(after[name]), "cost": cost, "low": least,
             "high": most, "is_dearer": is_sure and cost > 0, "is_cheaper": is_sure and cost < 0,
             "keeps": moves <= places(len(names))}
        )  # fmt: skip
    return pd.DataFrame(rows).set_index("policy")

"""Which factors of a study matter: Sobol indices and Morris' elementary effects, by SALib.

Sources: Saltelli et al. 2010 (Computer Physics Communications 181, 259-270); Morris 1991 (Technometrics 33, 161-174),
Campolongo et al. 2007 (Environmental Modelling & Software 22, 1509-1518).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cluster_abm.arrays import Floats
from cluster_abm.study.design.sampling import problem_of, require_salib, seed_of
from cluster_abm.study.design.study_file import Sensitivity

# Of the bootstrap behind an interval: SALib's own 100 leave its ends uncertain by 7 %, these by 2 %.
RESAMPLES = 1000
# The indices of each method, the one that factors are ordered by first.
INDICES = {"sobol": ("total", "first_order"), "morris": ("mu_star", "sigma")}


@dataclass(frozen=True)
class Analysis:
    """What came out.

    Attributes:
        method: "sobol" or "morris".
        table: columns metric, policy, factor, index (a name of INDICES), value, low, high (95 %; NaN for sigma, which
            has no interval). Sobol indices are shares of a variance; Morris' are in the unit of the metric.
        refused: for every policy and metric that cannot be analysed a line that says why.
    """

    method: str
    table: pd.DataFrame
    refused: tuple[str, ...]


def indices(plan: Sensitivity, points: Floats, values: Floats) -> pd.DataFrame:
    """Sensitivity indices of a function of the points.

    Args:
        plan: as of unit_points.
        points: in the unit cube or scaled to the ranges, shape (plan.point_count, factors).
        values: at the points, shape (plan.point_count,); finite, and for Sobol indices not all the same.

    Returns:
        Columns factor, index, value, low, high, as of Analysis.

    Raises InputError: SALib is not there.
    """
    require_salib()
    from SALib.analyze import morris, sobol

    how: dict[str, Any] = {"num_resamples": RESAMPLES, "conf_level": 0.95, "seed": seed_of(plan)}
    if plan.method == "sobol":
        found = sobol.analyze(problem_of(plan), values, calc_second_order=False, **how)
        pairs = {"total": (found["ST"], found["ST_conf"]), "first_order": (found["S1"], found["S1_conf"])}
    else:
        # Of the points SALib uses which factor moved, and in which direction: the ranges' scale does not matter.
        found = morris.analyze(problem_of(plan), points, values, **how)
        nothing = np.full(len(plan.ranges), np.nan)
        pairs = {"mu_star": (found["mu_star"], found["mu_star_conf"]), "sigma": (found["sigma"], nothing)}
    rows = []
    for position, factor in enumerate(plan.ranges):
        for name, (found_values, halves) in pairs.items():
            value, half = float(found_values[position]), float(halves[position])
            rows.append({"factor": factor, "index": name, "value": value, "low": value - half, "high": value + half})
    return pd.DataFrame(rows)


def analyse(
    results: pd.DataFrame, plan: Sensitivity, seeds: Sequence[int], policies: Sequence[str], metrics: Sequence[str]
) -> Analysis:
    """Indices of the means over seeds, for every policy and metric of which no run is missing.

    Args:
        results: one row a run, as load_results gives them.
        plan: the study's.
        seeds: that every point must have finished.
        policies: in the order asked for.
        metrics: columns of results.
    """
    tables, refused = [], []
    for policy in policies:
        own = results[results["policy"] == policy]
        if incomplete := _incomplete(own, plan, seeds):
            refused.append(f"`{policy}`: {incomplete}")
            continue
        points = own.drop_duplicates("point").sort_values("point")[[*plan.ranges]].to_numpy(float)
        for metric in metrics:
            by_point = own.groupby("point")[metric].agg(lambda values: values.mean(skipna=False))
            means: Floats = np.asarray(by_point, np.float64)
            if unknown := int((~np.isfinite(means)).sum()):
                refused.append(f"`{policy}`, {metric}: {unknown:,} points have a run without a value")
            elif plan.method == "sobol" and np.allclose(means, means[0], rtol=1e-12, atol=0.0):
                refused.append(f"`{policy}`, {metric}: the same at every point: there is no variance to share out")
            else:
                tables.append(indices(plan, points, means).assign(metric=metric, policy=policy))
    columns = ["metric", "policy", "factor", "index", "value", "low", "high"]
    table = pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)
    return Analysis(plan.method, table, tuple(refused))


def _incomplete(runs: pd.DataFrame, plan: Sensitivity, seeds: Sequence[int]) -> str:
    """What a policy's runs lack, in words; empty if nothing."""
    failed = int((runs["status"] != "finished").sum())
    there = runs.loc[runs["seed"].isin(seeds), ["point", "seed"]].drop_duplicates()
    missing = plan.point_count * len(seeds) - len(there)
    if not failed and not missing:
        return ""
    counts = {"missing": missing, "failed": failed}
    words = " and ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    return f"of the runs of {plan.point_count:,} points and {len(seeds):,} seeds {words}: every point counts"

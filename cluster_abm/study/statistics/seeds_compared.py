"""Over which seeds the policies of a point are compared: those on which every one of them has a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

FAILED, NO_VALUE = "failed", "no value"


@dataclass(frozen=True, eq=False)
class Compared:
    """The values of a metric at one point that comparisons are made of.

    A seed on which a policy failed, or had nothing to average, is no accident of that seed alone: the others' values of
    it would be set against nothing, and means be over seeds of unlike difficulty. So it is left out for all policies. A
    policy without any value at the point is left out itself, or it would take all seeds with it.

    Attributes:
        own: index seed, a column a policy that has values; NaN where a policy was not run from a seed that others were
            (while a study is running, or where it asked for more seeds of some policies).
        common: the rows of `own` without such gaps.
        left_out: what (seed or policy), policy (on account of which), seed (NaN of a policy), why (FAILED, NO_VALUE).
    """

    own: pd.DataFrame
    common: pd.DataFrame
    left_out: list[dict[str, object]]


def compared(runs: pd.DataFrame, policies: Sequence[str], values: pd.Series) -> Compared:
    """The seeds of a point.

    Args:
        runs: the point's, one row each: policy, seed, status.
        policies: in the order asked for.
        values: of the metric, index that of runs; whatever is not finite is no value.
    """
    finished = runs["status"] == "finished"
    known = values.astype(float).where(finished & np.isfinite(values.astype(float)))
    by_run = runs.set_index(["seed", "policy"]).assign(value=known.to_numpy(), why=np.where(finished, NO_VALUE, FAILED))
    table, why = (by_run[name].unstack("policy") for name in ("value", "why"))  # noqa: PD010 - a run stands there once
    there = [name for name in policies if name in table]
    with_values = [name for name in there if table[name].notna().any()]
    left_out: list[dict[str, object]] = []
    for name in there:
        spoiled = why.loc[table[name].isna() & why[name].notna(), name]
        if name in with_values:
            left_out += [{"what": "seed", "policy": name, "seed": seed, "why": word} for seed, word in spoiled.items()]
        else:
            word = FAILED if (spoiled == FAILED).all() else NO_VALUE
            left_out.append({"what": "policy", "policy": name, "seed": np.nan, "why": word})
    gone = {row["seed"] for row in left_out if row["what"] == "seed"}
    own = table.loc[[seed not in gone for seed in table.index], with_values]
    return Compared(own, own.dropna(), left_out)

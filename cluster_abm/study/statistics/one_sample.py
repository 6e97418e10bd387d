"""Runs that are the same from every seed: one sample, of which no interval and no test can be made."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd


def of_one_sample(runs: pd.DataFrame, leaving_out: Iterable[str] = ()) -> frozenset[str]:
    """The policies of which all runs, from two seeds at least, agree to the last digit in all numbers.

    Args:
        runs: that finished, at one point, one row each: policy, seed, metrics.
        leaving_out: further columns that are none of the runs' own numbers.
    """
    numbers = runs.select_dtypes("number").drop(columns=["seed", *leaving_out], errors="ignore")
    if not len(runs) or not len(numbers.columns):
        return frozenset()
    firsts = numbers.groupby(runs["policy"]).transform("first", skipna=False)
    same = ((numbers == firsts) | (numbers.isna() & firsts.isna())).all(axis=1)
    alike = same.groupby(runs["policy"]).all()
    seeds = runs.groupby("policy")["seed"].nunique()
    return frozenset(str(name) for name in alike.index[alike & (seeds > 1)])

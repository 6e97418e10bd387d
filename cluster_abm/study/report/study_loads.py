"""Which loads over time a report shows: of one seed for all policies of a point, as far as there is one."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from cluster_abm.study.results_folder import StoredStudy, read_plan
from cluster_abm.study.store.store import Store

# Point, policy, seed, and what `load_over_time` gave.
Load = tuple[int, str, int, dict[str, Any]]


def loads_over_time(folder: str | Path) -> list[Load]:
    """A load over time of every point and policy that has any.

    Only the first seed's runs keep theirs. Where the study's `first_seed` has changed since, that is another seed: of a
    point, the one that most of its policies have, for the sake of comparison.
    """
    plan = read_plan(folder)
    first = plan.study.first_seed
    loads: dict[str, dict[int, dict[str, Any]]] = {}
    for (key, seed), load in Store(folder).loads().items():
        loads.setdefault(key, {})[seed] = load
    found = []
    for point, cells in groupby(plan.cells, lambda cell: cell.point):
        seeds = {cell: loads.get(cell.key, {}) for cell in cells}
        counts = Counter(seed for own in seeds.values() for seed in own)
        best = sorted(counts, key=lambda seed: (-counts[seed], seed < first, seed))
        for cell, own in seeds.items():
            chosen = next((seed for seed in best if seed in own), None)
            if chosen is not None:
                found.append((point, cell.policy, chosen, own[chosen]))
    return found


def remarks_on(loads: list[Load], plan: StoredStudy, results: pd.DataFrame) -> list[str]:
    """Return remarks on the pictures of loads: which policies are missing, and which are from another seed."""
    first = plan.study.first_seed
    of_first = results[(results["status"] == "finished") & (results["seed"] == first)]
    have = {(point, policy) for point, policy, *_ in loads}
    without = [cell for cell in zip(of_first["point"], of_first["policy"], strict=True) if cell not in have]
    remarks = []
    if without:
        point, policy = without[0]
        more = f", and {len(without) - 1} more" if len(without) > 1 else ""
        remarks.append(
            f"no picture of the load at point {point} under {policy}{more}: only the first seed's run keeps it, and "
            f"{first} was not the first seed when it was run"
        )
    for point, own in groupby(loads, lambda load: load[0]):
        seeds = {policy: seed for _, policy, seed, _ in own}
        if len(set(seeds.values())) > 1:
            words = ", ".join(f"{policy} {seed}" for policy, seed in seeds.items())
            remarks.append(f"the picture of the load at point {point} shows policies from different seeds: {words}")
    return remarks

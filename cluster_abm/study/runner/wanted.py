"""How many seeds a point and policy gets, by what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cluster_abm.errors import InputError
from cluster_abm.study.design.study_file import Study
from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.precision import more_seeds
from cluster_abm.study.store.store import Contents, RunName

# Seed -> the value of the metric that precision is asked of; None if the run failed.
Values = dict[int, float | None]


def known_values(study: Study, keys: Iterable[str], contents: Contents, failed: Iterable[RunName]) -> dict[str, Values]:
    """What a store knows of each key, `failed` runs included.

    Raises InputError: a run finished without the metric that precision is asked of.
    """
    column = f"metrics.{study.precision_metric}"
    known: dict[str, Values] = {key: {} for key in keys}
    for table in contents.tables:
        metric = table[column].to_pylist() if column in table.column_names else [None] * len(table)
        for key, seed, value in zip(table["key"].to_pylist(), table["seed"].to_pylist(), metric, strict=True):
            if key not in known:
                continue
            if value is None and study.precision is not None:
                raise InputError(
                    f"{study.file}: precision_metric = {study.precision_metric!r}: run {key}-{seed} has no such metric"
                )
            known[key][seed] = value
    for key, seed in failed:
        if key in known:
            known[key].setdefault(seed, None)
    return known


def seeds_wanted(study: Study, values: Mapping[int, float | None]) -> int:
    """How many seeds, from the study's first one on, a point and policy gets.

    The answer depends on the values only, not on when it is asked for: a batch that was interrupted ends as one that
    was not.
    """
    count = study.replications
    while study.precision is not None:
        seeds = range(study.first_seed, study.first_seed + count)
        if not all(seed in values for seed in seeds):
            break
        known = [value for seed in seeds if (value := values[seed]) is not None]
        # Where all fail, more of them give no information.
        cap, bounds = study.seed_limit - (count - len(known)), bounds_of(study.precision_metric)
        more = more_seeds(known, study.precision, cap, bounds=bounds) if known else 0
        if not more:
            break
        count += more
    return count


def wanted_counts(study: Study, keys: Iterable[str], contents: Contents, failed: Iterable[RunName]) -> dict[str, int]:
    """How many seeds each key gets, by what a store knows (arguments as of `known_values`)."""
    if study.precision is None:
        return dict.fromkeys(keys, study.replications)
    return {key: seeds_wanted(study, values) for key, values in known_values(study, keys, contents, failed).items()}

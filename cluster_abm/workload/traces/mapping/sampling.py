"""Which jobs a sample keeps: by a hash of their ids, so that neither blocks nor processes change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cluster_abm.arrays import Flags, Integers
from cluster_abm.errors import InputError
from cluster_abm.workload.parents import Parents, among
from cluster_abm.workload.traces.table import JOB, Trace

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLED = "not in the sample"  # why a row is left out


def kept_texts(ids: pa.Array, share: float) -> Flags:
    """Which ids a sample keeps, shape as `ids`: equal ids are kept together."""
    return _below(np.asarray(ids.to_pylist(), object), share)


def kept_numbers(numbers: Integers | range, share: float) -> Flags:
    """Which rows a sample keeps by their numbers, where they have no ids."""
    return _below(np.asarray(numbers, np.uint64), share)


def kept_workflows(parents: Parents | None, keys: Sequence[str] | None, rows: int, share: float) -> Flags:
    """Which rows a sample keeps if jobs that wait for each other, directly or not, stay together.

    Of jobs that stay together the smallest id decides, wherever it stands.

    Args:
        parents: what each row comes after.
        keys: an id for each row, "" where it has none, shape (rows,); None: none has one. Without an id a row's number
            decides.
    """
    import pandas as pd
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers = np.arange(rows)
    if keys is None and parents is None:
        return kept_numbers(numbers, share)
    texts = numbers.astype(str).astype(object)
    given = texts if keys is None else np.asarray(keys, object)
    ids = pd.Series(np.where(given == "", texts, given), dtype=object)
    if parents is not None:
        links = (np.ones(len(parents.parent), np.int8), (parents.waiting, parents.parent))
        _, component = connected_components(coo_array(links, shape=(rows, rows)), directed=False)
        ids = ids.groupby(component).transform("min")
    return _below(ids.to_numpy(object), share)


def share_in_words(share: float) -> str:
    """A share as a fraction, where it is one of 1: 1/100."""
    whole = round(1 / share)
    return f"1/{whole:,}" if abs(whole * share - 1) < 1e-9 else f"{share:g}"


def shrunk(share: float) -> str:
    """By how much a cluster is to shrink with its jobs, in words."""
    words = share_in_words(share)
    return f"{words} of the log's jobs, by a hash of their ids: {words} of the cluster's nodes have the load of the log"


def sampled(trace: Trace, share: float) -> Trace:
    """The sample of a trace that was read whole: by the ids of its jobs, or their numbers where they have none.

    Raises InputError: its rows are no jobs (GWA-T-12), or no job is left.
    """
    if share == 1:
        return trace
    if trace.samples is not None:
        raise InputError(
            f"{trace.file}: sample = {share:g} (--sample, workload.trace.sample): a {trace.format} trace has a job a "
            "file: allowed 1; workload.trace.keep_share keeps a part of them"
        )
    ids = trace.table[JOB].tolist() if JOB in trace.table else None
    kept = kept_workflows(trace.parents, ids, len(trace.table), share)
    if not kept.any():
        raise InputError(f"{trace.file}: sample = {share:g}: none of its {len(kept):,} jobs is in it")
    parents = None if trace.parents is None else among(trace.parents, kept)
    skipped = trace.skipped | {SAMPLED: int((~kept).sum())}
    table = trace.table[kept].reset_index(drop=True)
    return replace(trace, table=table, skipped=skipped, parents=parents, ran=None, sample=share)


def _below(values: np.ndarray, share: float) -> Flags:
    """Values of which the hash, as a share of all that there are, lies below `share`."""
    import pandas as pd

    hashes = pd.util.hash_array(values, categorize=False)
    # 53 bits, which a float holds exactly: the same on every machine.
    kept: Flags = (hashes >> np.uint64(11)).astype(np.float64) < share * 2.0**53
    return kept

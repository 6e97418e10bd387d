"""Which files there are, where they lie, and which of them each job needs; the policy does not affect it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.engine.tables import NS_PER_MS, Table
from cluster_abm.errors import InputError
from cluster_abm.scenario.data import Data
from cluster_abm.scenario.distributions import LARGEST
from cluster_abm.workload.drawing.draws import draw
from cluster_abm.workload.generators import generator
from cluster_abm.workload.named_files import NamedFiles

# Pairs of a file and a job: to draw the needed files of the most takes about half a minute.
MOST_FILE_JOBS = 1_000_000_000
MOST_NEEDED = 100_000_000
# Numbers of a race held at one time.
RACE = 4_000_000


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Files, their copies, and what each job needs: first the drawn files, then the placed ones."""

    size_mb: Floats  # shape (files,) [MB]
    # Nodes that hold each file, the first copy first, shape (files, copies). A file of fewer copies names its first
    # holder again.
    holders: Integers
    first_file: Integers  # where each job's files begin in `needed_files`, and the end of the last, shape (jobs + 1,)
    needed_files: Integers  # of job 0, then of job 1 ..., ascending within a job

    def files_of(self, job: int) -> tuple[int, ...]:
        """Numbers of the files that a job needs."""
        return tuple(self.needed_files[self.first_file[job] : self.first_file[job + 1]].tolist())

    def behind(self, jobs: int) -> Catalogue:
        """The same of a table with that many jobs, which need no files, before all others."""
        return replace(self, first_file=np.concatenate([np.zeros(jobs, np.int64), self.first_file]))


def catalogue_of(
    data: Data, seed: int, jobs: Table, cluster_of: Integers, placed: Sequence[Sequence[int]], named: NamedFiles | None
) -> Catalogue:
    """The files of a run and what its jobs need: what they name, else drawn files.

    What is drawn does not depend on the placed files, nor on which jobs name any.

    Raises InputError: as `draw_catalogue`.

    Args:
        data, seed, jobs, cluster_of: as of `draw_catalogue`.
        placed: nodes that hold each of `data.file`, the first copy first.
        named: files that jobs name; None: no job names any.
    """
    if data.files:
        drawn = draw_catalogue(data, seed, jobs, cluster_of)
    else:
        none = np.zeros(0, np.int64)
        drawn = Catalogue(np.zeros(0), np.zeros((0, 1), np.int64), np.zeros(len(jobs) + 1, np.int64), none)
    if not placed:
        return drawn
    size_mb = np.concatenate([drawn.size_mb, [one.size_mb for one in data.file]])
    copies = max(drawn.holders.shape[1], *map(len, placed))
    rows = [*drawn.holders.tolist(), *placed]
    holders = np.array([[*row, *[row[0]] * (copies - len(row))] for row in rows], np.int64)
    return Catalogue(size_mb, holders, *_needs(drawn, named))


def _needs(drawn: Catalogue, named: NamedFiles | None) -> tuple[Integers, Integers]:
    """What each job needs, as `Catalogue.first_file` and `Catalogue.needed_files`: the drawn files of a job that names
    none, and the named ones."""
    if named is None:
        return drawn.first_file, drawn.needed_files
    by_name, by_draw = np.diff(named.first), np.diff(drawn.first_file)
    by_draw_left = np.where(by_name > 0, 0, by_draw)
    first = np.concatenate([[0], np.cumsum(by_name + by_draw_left)])
    needed = np.empty(first[-1], np.int64)
    is_named = np.repeat(by_name > 0, by_name + by_draw_left)
    needed[is_named] = named.file
    needed[~is_named] = drawn.needed_files[np.repeat(by_name == 0, by_draw)]
    return first, needed


def draw_catalogue(data: Data, seed: int, jobs: Table, cluster_of: Integers) -> Catalogue:
    """The drawn files of a run and what jobs need of them.

    Raises InputError: more than can be drawn in reasonable time and memory.

    Args:
        data: the scenario's section, with `files` above 0.
        jobs: the job table: home and arrival say what a job is interested in.
        cluster_of: cluster of each node, 0 and up, shape (nodes,).
    """
    if data.files * len(jobs) > MOST_FILE_JOBS or data.files_per_job.maximum * len(jobs) > MOST_NEEDED:
        raise InputError(
            f"data.files = {data.files}: {len(jobs):,} jobs; allowed are {MOST_FILE_JOBS:,} pairs of a file and a job, "
            f"and {MOST_NEEDED:,} files of all jobs together"
        )
    size_mb = draw(data.size_mb, generator(seed, "file_size"), data.files)
    if not size_mb.max() <= LARGEST:
        raise InputError(f"data.size_mb: sizes reach {size_mb.max():.3g} MB: allowed is {LARGEST:g}")
    holders = _holders(data, generator(seed, "file_copies"), cluster_of)
    # Rank 0 is the most popular file.
    rank = generator(seed, "file_rank").permutation(data.files)
    popularity = np.power(rank + 1.0, -data.popularity_skew)
    first_file, needed_files = _needed_files(data, seed, jobs, cluster_of, cluster_of[holders[:, 0]], popularity)
    return Catalogue(size_mb, holders, first_file, needed_files)


def _holders(data: Data, rng: np.random.Generator, cluster_of: Integers) -> Integers:
    """Nodes in random order; of the first of each cluster, then the second of each ..., as many as there are copies."""
    holders = np.empty((data.files, data.copies), np.int64)
    ranks = np.concatenate([np.arange(members) for members in np.bincount(cluster_of)])
    rank = np.empty_like(cluster_of)
    for file in range(data.files):
        order = rng.permutation(len(cluster_of))
        rank[np.argsort(cluster_of[order], kind="stable")] = ranks
        holders[file] = order[np.argsort(rank, kind="stable")][: data.copies]
    return holders


def _needed_files(
    data: Data, seed: int, jobs: Table, cluster_of: Integers, cluster_of_file: Integers, popularity: Floats
) -> tuple[Integers, Integers]:
    """Which files each job needs, as `Catalogue.first_file` and `Catalogue.needed_files`."""
    least, most = data.files_per_job.minimum, data.files_per_job.maximum
    count = least + np.floor(generator(seed, "job_files").random(len(jobs)) * (most - least + 1)).astype(np.int64)
    interested = generator(seed, "job_interest").random((len(jobs), most)) < data.affinity
    near = (interested & (np.arange(most) < count[:, None])).sum(axis=1)
    interest = interests(data, jobs, cluster_of)
    near_rng, rng = generator(seed, "job_near_file"), generator(seed, "job_file")
    rows = max(1, RACE // data.files)
    chosen_files = []
    for first in range(0, len(jobs), rows):
        part = slice(first, first + rows)
        chosen = np.zeros((len(count[part]), data.files), bool)
        if data.affinity > 0:
            of_interest = cluster_of_file == interest[part, None]
            chosen = _winners(near_rng.standard_exponential(chosen.shape) / popularity, of_interest, near[part])
        # Where the interest has too few files the rest comes from all.
        rest = count[part] - chosen.sum(axis=1)
        chosen |= _winners(rng.standard_exponential(chosen.shape) / popularity, ~chosen, rest)
        chosen_files.append(np.nonzero(chosen)[1])
    needed_files = np.concatenate(chosen_files) if chosen_files else np.zeros(0, np.int64)
    return np.concatenate([[0], np.cumsum(count)]), needed_files


def interests(data: Data, jobs: Table, cluster_of: Integers) -> Integers:
    """Return the cluster with the files that each job's home cluster wants when it is submitted, shape (jobs,)."""
    at_first = cluster_of[jobs["home"]]
    if data.drift_period_s is None:
        return at_first
    moves = np.floor(jobs["arrival_ns"] / (data.drift_period_s * 1000.0 * NS_PER_MS)).astype(np.int64)
    return (at_first + moves) % (cluster_of.max() + 1)


def _winners(race: Floats, may: Flags, wanted: Integers) -> Flags:
    """In each row the `wanted` fastest of those that may, or all if they are fewer.

    Exponential times over popularities: the winners are a draw without replacement, each next one in proportion to
    popularity (Efraimidis and Spirakis 2006).
    """
    most = int(wanted.max(initial=0))
    if most == 0:
        return np.zeros(race.shape, bool)
    times = np.where(may, race, np.inf)
    fastest = np.sort(np.partition(times, most - 1, axis=1)[:, :most], axis=1)
    slowest_winner = np.where(wanted > 0, fastest[np.arange(len(race)), np.maximum(wanted, 1) - 1], -np.inf)
    return may & (times <= slowest_winner[:, None])

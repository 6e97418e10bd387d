"""Tasks fetch the files of their job before they start."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.clock import LONGEST_WAIT_MS, whole_ns
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.places import holders_of
from cluster_abm.policies import DataMap
from cluster_abm.scenario.data import Data
from cluster_abm.workload import RunJobs, catalogue_of


class FileFetch(NamedTuple):
    """One file that has to come from another node."""

    file: int  # its number
    holder: int  # the node it comes from
    mb: float  # its size [MB]


class Staging:
    """The files of a run, and how long tasks wait for them.

    Files are fetched one after another, each from the holder of least undisturbed time: the node itself, else one in
    its cluster, else any. What was fetched is the task's own: no other task finds it there.

    Attributes:
        catalogue: files and needs.
        names: of the files, by number.
        map: what load managers know of them.
        fetched_mb: what has come from another node so far [MB].
        fetched_between_clusters_mb: the part of it that has come from another cluster [MB].
    """

    def __init__(
        self, data: Data, seed: int, work: RunJobs, network: Network, placed: Sequence[tuple[int, ...]]
    ) -> None:
        cluster_of = np.asarray(network.cluster_of, np.int64)
        self.catalogue = catalogue_of(data, seed, work.arriving, cluster_of, placed, work.files).behind(work.initial)
        self.names = tuple(data.names)
        self.map = DataMap(self.catalogue.size_mb, self.catalogue.holders, cluster_of, network.routes_from)
        self.fetched_mb = 0.0
        self.fetched_between_clusters_mb = 0.0
        # Of jobs that need the same files once.
        self._access: dict[tuple[int, ...], tuple[float, ...]] = {}

    def files_of(self, job: int) -> tuple[int, ...]:
        """Numbers of the files that a job needs."""
        return self.catalogue.files_of(job)

    @cached_property
    def clusters(self) -> int:
        """Number of clusters."""
        return int(self.map.cluster_of.max()) + 1

    @cached_property
    def held(self) -> tuple[frozenset[int], ...]:
        """Numbers of the files of which each node has a copy in the catalogue, shape (nodes,)."""
        held: list[set[int]] = [set() for _ in range(self.map.nodes)]
        for file, holders in enumerate(self.map.holders.tolist()):
            for holder in holders:
                held[holder].add(file)
        return tuple(map(frozenset, held))

    def cluster_access_ms(self, job: int) -> tuple[float, ...]:
        """LMIP's S_T of a job: T = T_WC + T_BC in each cluster, the least over its nodes, shape (clusters,) [ms]."""
        files = self.files_of(job)
        if files not in self._access:
            least_ms = np.full(self.clusters, np.inf)
            np.minimum.at(least_ms, self.map.cluster_of, self.map.access_ms(files))
            self._access[files] = tuple(least_ms.tolist())
        return self._access[files]

    def delay_ns(self, job: int, node: int) -> int:
        """How long a task of a job waits on a node until its files are there [ns].

        Raises InputError: for ever, or longer than 31 years.
        """
        wait_ms = self.map.access_ms_on(self.files_of(job), node)
        if not wait_ms <= LONGEST_WAIT_MS:
            raise InputError(
                f"data: job {job} would wait {wait_ms:g} ms for its files on node {node}: allowed is "
                f"{LONGEST_WAIT_MS:g} (infinite: no way leads there from any copy)"
            )
        return whole_ns(wait_ms)

    def legs(self, job: int, node: int) -> list[FileFetch]:
        """The transfers that a task of a job needs on a node, in the order of its files."""
        files = self.files_of(job)
        legs = [FileFetch(file, self.map.source(file, node), float(self.map.size_mb[file])) for file in files]
        return [leg for leg in legs if leg.holder != node]

    def fetch(self, job: int, node: int) -> int:
        """A task of a job begins to fetch its files to a node: how long it waits for them [ns]."""
        cluster_of = self.map.cluster_of
        for leg in self.legs(job, node):
            self.fetched_mb += leg.mb
            self.fetched_between_clusters_mb += leg.mb * (cluster_of[leg.holder] != cluster_of[node])
        return self.delay_ns(job, node)

    def tables(self) -> dict[str, Floats | Integers]:
        """What compiled code needs to fetch files (compiled.scratch.Scratch)."""
        files, nodes = len(self.map.size_mb), self.map.nodes
        fetch_ms, fetched_from = np.zeros((files, nodes)), np.zeros((files, nodes), np.int64)
        for file in range(files):
            fetch_ms[file], fetched_from[file] = self.map.fetch(file)
        return {
            "fetch_ms": fetch_ms,
            "fetched_from": fetched_from,
            "holders": np.ascontiguousarray(self.map.holders, np.int64),
            "file_mb": np.ascontiguousarray(self.map.size_mb, float),
            "needs": np.ascontiguousarray(self.catalogue.needed_files, np.int64),
            "first_need": np.ascontiguousarray(self.catalogue.first_file, np.int64),
            "cluster_of": np.ascontiguousarray(self.map.cluster_of, np.int64),
            "fetched_mb": np.array([self.fetched_mb, self.fetched_between_clusters_mb]),
        }

    def note_fetched(self, fetched_mb: Floats) -> None:
        """Note how much has been fetched, and how much of it between clusters, shape (2,) [MB]."""
        self.fetched_mb, self.fetched_between_clusters_mb = map(float, fetched_mb)

    def sent_on_ns(self, job: int, home: int, enters_home_ns: int, now_ns: int) -> int:
        """By how much a task that still fetches its files to its home departs earlier if it is sent on [ns].

        It gives up what it has fetched, and leaves now, or when it is there to be sent.
        """
        begun_ns = enters_home_ns - self.delay_ns(job, home)
        return enters_home_ns - max(now_ns, begun_ns)

    def metrics(self) -> dict[str, float]:
        """What a run's summary says of it."""
        return {"fetched_mb": self.fetched_mb, "fetched_between_clusters_mb": float(self.fetched_between_clusters_mb)}


def staging_of(data: Data, seed: int, work: RunJobs, network: Network, pooled: bool) -> Staging | None:
    """The staging of a run; None if there are no files, or if all nodes are one station, which has them all."""
    # A place that is not there is an error under every policy.
    placed = holders_of(data.file, network)
    return Staging(data, seed, work, network, placed) if data.has_files and not pooled else None
